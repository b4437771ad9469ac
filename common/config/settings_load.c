#include "common/config/settings.h"

#include <stdio.h>
#include <sodium.h>
#include <string.h>
#include <sys/un.h>

#include "common/base/real.h"
#include "common/base/suggest.h"
#include "common/config/settings_table.h"
#include "common/config/yaml.h"

/* decimals and clipping_range with a built-in trainer and values: model. */
#define BUILTIN_DECIMALS 4
#define BUILTIN_CLIPPING_RANGE 16

/* Origin of a value, for errors of checks that concern several settings. Zeros: the default. */
struct place {
	const char *assignment; /* "KEY=VALUE" of --set */
	int line, column;	/* in the file */
	const char *roster;	/* path of the roster */
};

struct parse {
	struct sl_settings *settings;
	const char *path;	    /* file; NULL: none */
	char folder[SL_PATH_BYTES]; /* folder of the file with its last slash, or "" */
	const struct sl_yaml *yaml;
	struct place places[SL_SETTINGS_ROWS];
};

static int take(struct parse *parse, const struct sl_setting *row, const char *value, struct sl_error *error)
{
	return sl_settings_table_take(row, parse->settings, parse->folder, value, error);
}

static int unknown_key(const char *name, struct sl_error *error)
{
	const char *best = NULL;
	size_t distance = SIZE_MAX;
	for (size_t i = 0; i < SL_SETTINGS_ROWS; i++)
		sl_suggest(name, sl_settings_table[i].key, &best, &distance);
	if (best)
		return sl_err_set(error, SL_ERR_INVALID, "unknown key '%.64s'; did you mean '%s'?", name,
				  best);
	return sl_err_set(error, SL_ERR_INVALID, "unknown key '%.64s'; `starlingd --settings` lists all keys",
			  name);
}

static int visit(void *context, const struct sl_yaml_pair *pair, struct sl_error *error)
{
	struct parse *parse = context;
	struct sl_error inner = {0};
	const struct sl_setting *row = sl_settings_table_find(pair->key);
	if (row == NULL) {
		unknown_key(pair->key, &inner);
		return sl_yaml_fail(parse->yaml, pair->key_node, error, inner.code, "%s", inner.text);
	}
	struct place *place = &parse->places[row - sl_settings_table];
	sl_yaml_place(parse->yaml, pair->value_node, &place->line, &place->column);
	if (take(parse, row, pair->value, &inner) != SL_OK)
		return sl_yaml_fail(parse->yaml, pair->value_node, error, inner.code, "%s", inner.text);
	return SL_OK;
}

static int assign(struct parse *parse, const char *assignment, struct sl_error *error)
{
	char name[64];
	const char *equals = strchr(assignment, '=');
	size_t n = equals ? (size_t)(equals - assignment) : 0;
	if (n == 0 || n >= sizeof name)
		return sl_err_set(error, SL_ERR_INVALID, "expected KEY=VALUE");
	memcpy(name, assignment, n);
	name[n] = '\0';
	const struct sl_setting *row = sl_settings_table_find(name);
	if (row == NULL)
		return unknown_key(name, error);
	if (equals[1] == '\0')
		return sl_err_set(error, SL_ERR_INVALID, "%s has no value", name);
	parse->places[row - sl_settings_table].assignment = assignment;
	return take(parse, row, equals + 1, error);
}

static int override(struct parse *parse, const char *assignment, struct sl_error *error)
{
	struct sl_error inner = {0};
	if (assign(parse, assignment, &inner) == SL_OK)
		return SL_OK;
	return sl_err_set(error, inner.code, "--set %.128s: %s", assignment, inner.text);
}

static void take_defaults(struct parse *parse)
{
	for (size_t i = 0; i < SL_SETTINGS_ROWS; i++) {
		const struct sl_setting *row = &sl_settings_table[i];
		bool taken =
			!row->usual || row->usual[0] == '\0' || take(parse, row, row->usual, NULL) == SL_OK;
		assert(taken);
		(void)taken;
	}
}

static bool given(const struct parse *parse, size_t row)
{
	const struct place *place = &parse->places[row];
	return place->assignment != NULL || place->line > 0 || place->roster != NULL;
}

/* Fail with `text` at the place that set the setting `row`. */
static int fail_at(const struct parse *parse, size_t row, struct sl_error *error, const char *text)
{
	const struct place *place = &parse->places[row];
	if (place->assignment)
		return sl_err_set(error, SL_ERR_INVALID, "--set %.128s: %s", place->assignment, text);
	if (place->line > 0)
		return sl_err_set(error, SL_ERR_INVALID, "%s:%d:%d: %s", parse->path, place->line,
				  place->column, text);
	return sl_err_set(error, SL_ERR_INVALID, "%s: %s", place->roster ? place->roster : parse->path, text);
}

static int check_required(const struct parse *parse, struct sl_error *error)
{
	for (size_t i = 0; i < SL_SETTINGS_ROWS; i++)
		if (sl_settings_table[i].usual == NULL && !given(parse, i))
			return sl_err_set(error, SL_ERR_INVALID, "%s: missing key '%s': %s", parse->path,
					  sl_settings_table[i].key, sl_settings_table[i].sentence);
	return SL_OK;
}

/* With differential privacy, each setting that would tell more than the noisy mean is refused. */
static int check_privacy(const struct parse *parse, struct sl_error *error)
{
	const struct sl_settings *s = parse->settings;
	const bool on = s->dp != SL_DP_USE_OFF, record = s->dp == SL_DP_USE_RECORD;
	const struct {
		bool wrong;
		size_t row;
		const char *text;
	} rules[] = {
		{!on && s->dp_clip > 0, SL_ROW_dp_clip, "dp_clip needs dp: record or dp: learner"},
		{!on && s->dp_noise > 0, SL_ROW_dp_noise, "dp_noise needs dp: record or dp: learner"},
		{!on && s->dp_epsilon > 0, SL_ROW_dp_epsilon, "dp_epsilon needs dp: record or dp: learner"},
		{!on && s->dp_delta > 0, SL_ROW_dp_delta, "dp_delta needs dp: record or dp: learner"},
		{!record && s->dp_sampling < 1, SL_ROW_dp_sampling, "dp_sampling needs dp: record"},
		{on && !(s->dp_clip > 0), SL_ROW_dp, "dp needs dp_clip, the largest norm of what is hidden"},
		{on && !(s->dp_delta > 0), SL_ROW_dp,
		 "dp needs dp_delta, below one in the number of records, or of learners with dp: learner"},
		{on && !(s->dp_noise > 0) && !(s->dp_epsilon > 0), SL_ROW_dp,
		 "dp needs dp_epsilon, the budget, or dp_noise; `starling dp plan` shows what each leads to"},
		{record && !sl_settings_has_application(s), SL_ROW_trainer,
		 "dp: record needs trainer: application or exec, a program that clips each record"},
		{on && s->encoding == SL_ENCODING_PAPER, SL_ROW_encoding, "dp needs encoding: weighted"},
		{on && (s->weighting == SL_WEIGHTING_SAMPLES || s->max_weight > 1), SL_ROW_weighting,
		 "dp needs weighting: equal and max_weight: 1: the number of samples would be told without "
		 "noise"},
		{on && s->metrics == SL_METRICS_AGGREGATE, SL_ROW_metrics,
		 "dp needs metrics: local: means of metrics would be told without noise"},
		{on && s->decimals != SL_DECIMALS_AUTO, SL_ROW_decimals,
		 "dp excludes decimals: the noise decides the quantization step"},
		{on && s->unsafe_dump_model, SL_ROW_unsafe_dump_model,
		 "dp excludes --verify and unsafe_dump_model: no learner knows the noise of a mean"},
		{on && s->privacy_check == SL_PRIVACY_WARN, SL_ROW_privacy_check,
		 "dp needs privacy_check: enforce: else others could see one learner with its own noise "
		 "alone"},
	};
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (rules[i].wrong)
			return fail_at(parse, rules[i].row, error, rules[i].text);
	return SL_OK;
}

static int check_together(const struct parse *parse, struct sl_error *error)
{
	const struct sl_settings *s = parse->settings;
	char text[256];
	int code = check_privacy(parse, error);
	if (code != SL_OK)
		return code;
	if (s->weighting == SL_WEIGHTING_SAMPLES && !given(parse, SL_ROW_max_weight))
		return fail_at(
			parse, SL_ROW_weighting, error,
			"weighting: samples needs max_weight, a public bound on any learner's samples");
	if (s->weighting == SL_WEIGHTING_SAMPLES && s->encoding == SL_ENCODING_PAPER)
		return fail_at(parse, SL_ROW_encoding, error,
			       "encoding: paper needs all weights beforehand, but weighting: samples keeps "
			       "them secret");
	if (s->iterations_rule == SL_ITERATIONS_EXACTLY && s->iterations == 0)
		return fail_at(parse, SL_ROW_iterations_rule, error,
			       "iterations_rule: exactly needs iterations, the number to run");
	if (s->values == SL_VALUES_UPDATE && s->encoding == SL_ENCODING_PAPER)
		return fail_at(parse, SL_ROW_values, error, "values: update needs encoding: weighted");
	if (s->values == SL_VALUES_UPDATE && s->decimals != SL_DECIMALS_AUTO)
		return fail_at(parse, SL_ROW_decimals, error,
			       "decimals are those of values: model; values: update has update_bits");
	bool noisy = s->dp != SL_DP_USE_OFF;
	if (!noisy && s->values == SL_VALUES_UPDATE && s->clipping_range != SL_CLIPPING_RANGE_AUTO)
		return fail_at(
			parse, SL_ROW_clipping_range, error,
			"clipping_range is that of values: model; with values: update, each tensor has its "
			"own range, which the learners find together");
	bool decimals = s->decimals != SL_DECIMALS_AUTO, range = s->clipping_range != SL_CLIPPING_RANGE_AUTO;
	if (sl_settings_has_application(s) && decimals && !range)
		return fail_at(
			parse, SL_ROW_decimals, error,
			"decimals needs clipping_range, the largest absolute value of a model; leave both "
			"out to average the values exactly");
	if (sl_settings_has_application(s) && range && !decimals && !noisy)
		return fail_at(parse, SL_ROW_clipping_range, error,
			       "clipping_range needs decimals; leave both out to average the values exactly");
	if (sl_settings_has_application(s) && s->encoding == SL_ENCODING_PAPER && !decimals)
		return fail_at(parse, SL_ROW_encoding, error,
			       "encoding: paper needs decimals and clipping_range with an application");
	if (s->trainer == SL_TRAINER_EXEC && s->command[strspn(s->command, " \t\n")] == '\0')
		return fail_at(parse, SL_ROW_trainer, error,
			       "trainer: exec needs `command`, the command line that starts the application");
	if (s->trainer != SL_TRAINER_EXEC && s->command[0] != '\0')
		return fail_at(parse, SL_ROW_command, error, "command is started by trainer: exec only");
	if (s->proxy[0] == '\0' && s->proxy_credentials_file[0] != '\0')
		return fail_at(parse, SL_ROW_proxy_credentials_file, error,
			       "proxy_credentials_file needs proxy");
	if (s->modulus != SL_MODULUS_AUTO && s->id >= s->modulus) {
		snprintf(text, sizeof text, "id %u must be less than modulus, which is %llu", s->id,
			 (unsigned long long)s->modulus);
		return fail_at(parse, SL_ROW_id, error, text);
	}
	return SL_OK;
}

/* Numbers for models, such as decimals, ask for models. The modulus of a number has no room for as many bits
 * as a round may need. */
static bool leaves_values_open(const struct sl_settings *s)
{
	bool numbers = s->decimals != SL_DECIMALS_AUTO || s->clipping_range != SL_CLIPPING_RANGE_AUTO ||
		       s->modulus != SL_MODULUS_AUTO;
	return s->values == SL_VALUES_AUTO && s->encoding == SL_ENCODING_WEIGHTED &&
	       (!numbers || s->dp != SL_DP_USE_OFF);
}

/* Choose what is auto and follows neither the models nor what the application says. */
static void resolve(struct sl_settings *s)
{
	if (!leaves_values_open(s))
		s->values = s->values == SL_VALUES_AUTO ? SL_VALUES_MODEL : s->values;
	else if (!sl_settings_has_application(s))
		s->values = SL_VALUES_UPDATE;
	if (sl_settings_has_application(s) || s->values == SL_VALUES_UPDATE || s->dp != SL_DP_USE_OFF)
		return;
	if (s->decimals == SL_DECIMALS_AUTO)
		s->decimals = BUILTIN_DECIMALS;
	if (s->clipping_range == SL_CLIPPING_RANGE_AUTO)
		s->clipping_range = BUILTIN_CLIPPING_RANGE;
}

/* Complete the path of the socket `row`, which is `path` (of SL_PATH_BYTES), and check its length: a Unix
 * socket address has room for 107 bytes. */
static int complete_socket(struct parse *parse, size_t row, char *path, struct sl_error *error)
{
	const char *key = sl_settings_table[row].key;
	char text[256];
	int n = (int)strlen(path);
	if (n == 0)
		n = snprintf(path, SL_PATH_BYTES, "%.1000s/%s.sock", parse->settings->state, key);
	if ((size_t)n < sizeof((struct sockaddr_un *)0)->sun_path)
		return SL_OK;
	snprintf(text, sizeof text,
		 "the path of the %s socket has %d bytes, more than the %zu possible; set `%s` to a shorter "
		 "one",
		 key, n, sizeof((struct sockaddr_un *)0)->sun_path - 1, key);
	return fail_at(parse, given(parse, row) ? row : SL_ROW_state, error, text);
}

static int read_file(struct parse *parse, struct sl_error *error)
{
	struct sl_yaml yaml;
	int code = sl_yaml_open(&yaml, parse->path, error);
	if (code != SL_OK)
		return code;
	parse->yaml = &yaml;
	code = sl_yaml_each(&yaml, yaml.root, visit, parse, error);
	parse->yaml = NULL;
	sl_yaml_close(&yaml);
	return code;
}

static int set_folder(struct parse *parse, struct sl_error *error)
{
	const char *slash = strrchr(parse->path, '/');
	size_t n = slash ? (size_t)(slash - parse->path) + 1 : 0;
	if (n >= sizeof parse->folder)
		return sl_err_set(error, SL_ERR_RANGE, "%.64s...: the path is too long", parse->path);
	memcpy(parse->folder, parse->path, n);
	parse->folder[n] = '\0';
	return SL_OK;
}

/* ---- shared settings ---- */

/* Read `list` after the defaults into `parse`. */
static int read_list(struct parse *parse, const struct sl_setting_list *list, struct sl_error *error)
{
	struct sl_error inner = {0};
	take_defaults(parse);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct sl_setting *row = sl_settings_table_find(list->items[i].key);
		int code = row ? take(parse, row, list->items[i].value, &inner)
			       : unknown_key(list->items[i].key, &inner);
		if (code != SL_OK)
			return sl_err_set(error, code, "%s: settings: %s", list->path, inner.text);
		parse->places[row - sl_settings_table].roster = list->path;
	}
	return SL_OK;
}

/* Refuse a value of the setting `i` that is not that of the roster. */
static int refuse_own(const struct parse *parse, size_t i, const struct parse *roster, struct sl_error *error)
{
	const struct sl_setting *row = &sl_settings_table[i];
	char own[SL_VALUE_TEXT_BYTES], theirs[SL_VALUE_TEXT_BYTES], text[SL_PATH_BYTES + 256];
	snprintf(text, sizeof text,
		 "%s is one for all learners and stands in the roster: %s has %s%s, not %s; leave it out "
		 "here, and change it with starling group set",
		 row->key, roster->path,
		 sl_settings_value(row->key, sl_settings_table_bits(row, roster->settings), theirs),
		 given(roster, i) ? "" : " (the default)",
		 sl_settings_value(row->key, sl_settings_table_bits(row, parse->settings), own));
	return fail_at(parse, i, error, text);
}

static int take_shared(struct parse *parse, const struct sl_setting_list *list, struct sl_error *error)
{
	struct sl_settings of = {0};
	struct parse roster = {.settings = &of, .path = list->path};
	int code = read_list(&roster, list, error);
	for (size_t i = 0; code == SL_OK && i < SL_SETTINGS_ROWS; i++) {
		const struct sl_setting *row = &sl_settings_table[i];
		if (!row->shared)
			continue;
		if (given(parse, i) &&
		    sl_settings_table_bits(row, &of) != sl_settings_table_bits(row, parse->settings))
			return refuse_own(parse, i, &roster, error);
		sl_settings_table_store(row, parse->settings, sl_settings_table_bits(row, &of));
		parse->places[i].roster = roster.places[i].roster;
	}
	return code;
}

int sl_settings_share(struct sl_settings *settings, const struct sl_setting_list *list,
		      struct sl_error *error)
{
	struct parse parse = {.settings = settings, .path = list->path};
	int code = take_shared(&parse, list, error);
	resolve(settings);
	return code;
}

/* Return the value of the setting, from which it can be read again. */
static const char *text_of(const struct sl_setting *row, const struct sl_settings *settings,
			   char text[static SL_VALUE_TEXT_BYTES])
{
	uint64_t bits = sl_settings_table_bits(row, settings);
	const char *value = sl_settings_value(row->key, bits, text);
	if (value == text && row->kind >= SL_SETTING_REAL)
		snprintf(text, SL_VALUE_TEXT_BYTES, "%.17g", sl_real_of(bits));
	return value;
}

int sl_settings_differing(const struct sl_settings *settings,
			  struct sl_setting_text items[static SL_SETTINGS_SHARED_MAX], struct sl_error *error)
{
	struct sl_settings usual = {0};
	struct parse parse = {.settings = &usual};
	int count = read_list(&parse, &(struct sl_setting_list){.count = 0}, error);
	for (size_t i = 0; count >= 0 && i < SL_SETTINGS_ROWS; i++) {
		const struct sl_setting *row = &sl_settings_table[i];
		char text[SL_VALUE_TEXT_BYTES];
		if (!row->shared ||
		    sl_settings_table_bits(row, settings) == sl_settings_table_bits(row, &usual))
			continue;
		snprintf(items[count].key, sizeof items[count].key, "%s", row->key);
		snprintf(items[count].value, sizeof items[count].value, "%s", text_of(row, settings, text));
		count++;
	}
	return count;
}

int sl_settings_hash(const struct sl_setting_list *list, uint8_t hash[static SL_HASH_BYTES],
		     struct sl_error *error)
{
	struct sl_settings of = {0};
	struct parse parse = {.settings = &of, .path = list->path};
	crypto_generichash_state state;
	int code = read_list(&parse, list, error);
	crypto_generichash_init(&state, NULL, 0, SL_HASH_BYTES);
	for (size_t i = 0; i < SL_SETTINGS_ROWS; i++) {
		const struct sl_setting *row = &sl_settings_table[i];
		char text[SL_VALUE_TEXT_BYTES], line[128];
		if (!row->shared)
			continue;
		snprintf(line, sizeof line, "%s: %s\n", row->key, text_of(row, &of, text));
		crypto_generichash_update(&state, (const uint8_t *)line, strlen(line));
	}
	crypto_generichash_final(&state, hash, SL_HASH_BYTES);
	return code;
}

static int read_roster(struct parse *parse, sl_settings_roster roster, void *context, struct sl_error *error)
{
	struct sl_setting_list list = {.path = parse->settings->roster};
	int code = roster(context, list.path, parse->settings, &list, error);
	return code == SL_OK ? take_shared(parse, &list, error) : code;
}

int sl_settings_load(const char *path, const char *const *overrides, size_t count, sl_settings_roster roster,
		     void *context, struct sl_settings *settings, struct sl_error *error)
{
	struct parse parse = {.settings = settings, .path = path};
	*settings = (struct sl_settings){0};
	int code = set_folder(&parse, error);
	take_defaults(&parse);
	if (code == SL_OK)
		code = read_file(&parse, error);
	for (size_t i = 0; code == SL_OK && i < count; i++)
		code = override(&parse, overrides[i], error);
	if (code == SL_OK)
		code = check_required(&parse, error);
	if (code == SL_OK && roster != NULL)
		code = read_roster(&parse, roster, context, error);
	if (code == SL_OK)
		code = check_together(&parse, error);
	resolve(settings);
	if (code == SL_OK)
		code = complete_socket(&parse, SL_ROW_control, settings->control, error);
	if (code == SL_OK)
		code = complete_socket(&parse, SL_ROW_application, settings->application, error);
	return code;
}

int sl_settings_assign(const char *const *overrides, size_t count, struct sl_settings *settings,
		       struct sl_error *error)
{
	struct parse parse = {.settings = settings, .path = ""};
	int code = SL_OK;
	*settings = (struct sl_settings){0};
	take_defaults(&parse);
	for (size_t i = 0; code == SL_OK && i < count; i++)
		code = override(&parse, overrides[i], error);
	resolve(settings);
	return code == SL_OK ? check_together(&parse, error) : code;
}

int sl_settings_check(const char *assignment, struct sl_error *error)
{
	struct sl_settings scratch = {0};
	struct parse parse = {.settings = &scratch};
	return override(&parse, assignment, error);
}

const char *sl_settings_value(const char *key, uint64_t value, char text[static SL_VALUE_TEXT_BYTES])
{
	const struct sl_setting *row = sl_settings_table_find(key);
	double real;
	memcpy(&real, &value, sizeof real);
	for (const struct sl_setting_choice *c = row ? row->choices : NULL; c && c->text; c++)
		if (c->value == value)
			return c->text;
	if (row && (row->kind == SL_SETTING_REAL || row->kind == SL_SETTING_POSITIVE))
		snprintf(text, SL_VALUE_TEXT_BYTES, "%.15g", real);
	else
		snprintf(text, SL_VALUE_TEXT_BYTES, "%llu", (unsigned long long)value);
	return text;
}
