#include "common/config/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "common/base/suggest.h"
#include "common/config/roster.h"
#include "common/config/settings_keys.h"
#include "common/config/yaml.h"

enum type { NAME, ADDRESS, PATH, WORD, WHOLE, PRIME, REAL, POSITIVE };

struct key {
	const char *name;
	enum type type;
	size_t offset, size;
	uint64_t least, most;
	double least_real, most_real;
	const char *fallback;
	const struct sl_word *words;
	const char *text;
};

static const struct key keys[] = {
#define X(key, type, field, least, most, fallback, words, text)                                              \
	{key,                                                                                                \
	 type,                                                                                               \
	 offsetof(struct sl_settings, field),                                                                \
	 sizeof(((struct sl_settings *)0)->field),                                                           \
	 (uint64_t)(least),                                                                                  \
	 (uint64_t)(most),                                                                                   \
	 (double)(least),                                                                                    \
	 (double)(most),                                                                                     \
	 fallback,                                                                                           \
	 words,                                                                                              \
	 text},
	SL_SETTINGS(X)
#undef X
};

#define KEYS (sizeof keys / sizeof keys[0])

/* Where a key got its value, for the checks that need more than one key. */
struct place {
	const char *assignment; /* of --set */
	int line, column;	/* in the file; 0: not there */
};

struct parse {
	struct sl_settings *settings;
	const char *path;	    /* NULL: no file */
	char folder[SL_PATH_BYTES]; /* of the file, with its last slash, or empty */
	const struct sl_yaml *yaml;
	struct place places[KEYS];
};

static const struct key *find_key(const char *name)
{
	for (size_t i = 0; i < KEYS; i++)
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

/* key->size decides between bool, an enum or 32 bits, and 64 bits: the fields keep their natural types. */
static void store(const struct key *key, struct sl_settings *settings, uint64_t value)
{
	char *field = (char *)settings + key->offset;
	uint32_t narrow = (uint32_t)value;
	bool flag = value != 0;
	if (key->size == sizeof flag)
		memcpy(field, &flag, sizeof flag);
	else if (key->size == sizeof narrow)
		memcpy(field, &narrow, sizeof narrow);
	else
		memcpy(field, &value, sizeof value);
}

static const struct sl_word *find_word(const struct key *key, const char *value)
{
	for (const struct sl_word *w = key->words; w && w->text; w++)
		if (strcmp(w->text, value) == 0)
			return w;
	return NULL;
}

static void list_words(const struct key *key, const char *between, char *out, size_t size)
{
	size_t used = 0;
	out[0] = '\0';
	for (const struct sl_word *w = key->words; w && w->text && used < size; w++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", used ? between : "", w->text);
}

/* What a key takes, for its error messages: "a whole number from 0 to 12". */
static void describe(const struct key *key, char *out, size_t size)
{
	char words[128];
	list_words(key, ", ", words, sizeof words);
	const char * or = key->words ? " or " : "";
	if (key->type == WORD)
		snprintf(out, size, "one of %s", words);
	else if (key->type == REAL)
		snprintf(out, size, "a number from %g to %g", key->least_real, key->most_real);
	else if (key->type == POSITIVE)
		snprintf(out, size, "a number greater than %g and at most %g", key->least_real,
			 key->most_real);
	else if (key->type == PRIME)
		snprintf(out, size, "%s%sa prime, 2 < p < 2^61", words, or);
	else
		snprintf(out, size, "%s%sa whole number from %llu to %llu", words, or,
			 (unsigned long long)key->least, (unsigned long long)key->most);
}

static int misfit(const struct key *key, const char *value, int code, struct sl_error *error)
{
	char wanted[256];
	describe(key, wanted, sizeof wanted);
	return sl_err_set(error, code, "%s must be %s, not '%.64s'", key->name, wanted, value);
}

static int take_whole(const struct key *key, struct sl_settings *settings, const char *value,
		      struct sl_error *error)
{
	uint64_t n = 0;
	if (value[strspn(value, "0123456789")] != '\0')
		return misfit(key, value, SL_ERR_INVALID, error);
	for (const char *c = value; *c != '\0'; c++)
		if (__builtin_mul_overflow(n, 10u, &n) || __builtin_add_overflow(n, (uint64_t)(*c - '0'), &n))
			return misfit(key, value, SL_ERR_RANGE, error);
	if (n < key->least || n > key->most)
		return misfit(key, value, SL_ERR_RANGE, error);
	if (key->type == PRIME && !sl_field_is_prime(n))
		return sl_err_set(error, SL_ERR_INVALID, "%s: %s is not a prime", key->name, value);
	store(key, settings, n);
	return SL_OK;
}

static int take_real(const struct key *key, struct sl_settings *settings, const char *value,
		     struct sl_error *error)
{
	char *end = NULL;
	if (value[strspn(value, "0123456789+-.eE")] != '\0') /* strtod also takes nan, inf and hexadecimal */
		return misfit(key, value, SL_ERR_INVALID, error);
	double v = strtod(value, &end);
	if (end == value || *end != '\0')
		return misfit(key, value, SL_ERR_INVALID, error);
	if (!(v >= key->least_real && v <= key->most_real) || (key->type == POSITIVE && v <= key->least_real))
		return misfit(key, value, SL_ERR_RANGE, error);
	memcpy((char *)settings + key->offset, &v, sizeof v);
	return SL_OK;
}

static int take_path(const struct key *key, struct parse *parse, const char *value, struct sl_error *error)
{
	char *field = (char *)parse->settings + key->offset;
	bool as_is = value[0] == '/' || parse->folder[0] == '\0' || find_word(key, value);
	int n = snprintf(field, key->size, "%s%s", as_is ? "" : parse->folder, value);
	if (n < 0 || (size_t)n >= key->size)
		return sl_err_set(error, SL_ERR_RANGE, "%s: the path is longer than %zu bytes", key->name,
				  key->size - 1);
	return SL_OK;
}

static int take_text(const struct key *key, struct sl_settings *settings, const char *value,
		     struct sl_error *error)
{
	int code = key->type == NAME ? sl_roster_name_check(value, error)
				     : sl_roster_address_check(value, error);
	if (code != SL_OK && error)
		return sl_err_wrap(error, "%s", key->name);
	if (code == SL_OK)
		strcpy((char *)settings + key->offset, value); /* the check saw that it fits */
	return code;
}

static int take(const struct key *key, struct parse *parse, const char *value, struct sl_error *error)
{
	const struct sl_word *word = find_word(key, value);
	switch (key->type) {
	case PATH:
		return take_path(key, parse, value, error);
	case NAME:
	case ADDRESS:
		return take_text(key, parse->settings, value, error);
	case REAL:
	case POSITIVE:
		return take_real(key, parse->settings, value, error);
	case WORD:
	case WHOLE:
	case PRIME:
		break;
	}
	if (word)
		store(key, parse->settings, word->value);
	else if (key->type == WORD)
		return misfit(key, value, SL_ERR_INVALID, error);
	else
		return take_whole(key, parse->settings, value, error);
	return SL_OK;
}

static int unknown_key(const char *name, struct sl_error *error)
{
	const char *best = NULL;
	size_t distance = SIZE_MAX;
	for (size_t i = 0; i < KEYS; i++)
		sl_suggest(name, keys[i].name, &best, &distance);
	if (best)
		return sl_err_set(error, SL_ERR_INVALID, "unknown key '%.64s'; did you mean '%s'?", name,
				  best);
	return sl_err_set(error, SL_ERR_INVALID, "unknown key '%.64s'", name);
}

static int visit(void *context, const struct sl_yaml_pair *pair, struct sl_error *error)
{
	struct parse *parse = context;
	struct sl_error inner = {0};
	const struct key *key = find_key(pair->key);
	if (key == NULL) {
		unknown_key(pair->key, &inner);
		return sl_yaml_fail(parse->yaml, pair->key_node, error, inner.code, "%s", inner.text);
	}
	struct place *place = &parse->places[key - keys];
	sl_yaml_place(parse->yaml, pair->value_node, &place->line, &place->column);
	if (take(key, parse, pair->value, &inner) != SL_OK)
		return sl_yaml_fail(parse->yaml, pair->value_node, error, inner.code, "%s", inner.text);
	return SL_OK;
}

static int assign(struct parse *parse, const char *assignment, struct sl_error *error)
{
	char name[64];
	const char *equals = strchr(assignment, '=');
	size_t n = equals ? (size_t)(equals - assignment) : 0;
	if (n == 0 || n >= sizeof name || equals[1] == '\0')
		return sl_err_set(error, SL_ERR_INVALID, "expected KEY=VALUE");
	memcpy(name, assignment, n);
	name[n] = '\0';
	const struct key *key = find_key(name);
	if (key == NULL)
		return unknown_key(name, error);
	parse->places[key - keys].assignment = assignment;
	return take(key, parse, equals + 1, error);
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
	for (size_t i = 0; i < KEYS; i++) {
		const char *fallback = keys[i].fallback;
		bool taken =
			!fallback || fallback[0] == '\0' || take(&keys[i], parse, fallback, NULL) == SL_OK;
		assert(taken);
		(void)taken;
	}
}

static bool given(const struct parse *parse, size_t i)
{
	return parse->places[i].assignment || parse->places[i].line > 0;
}

/* Fails at the place that gave `name` its value. */
static int fail_at(const struct parse *parse, const char *name, struct sl_error *error, const char *text)
{
	const struct place *place = &parse->places[find_key(name) - keys];
	if (place->assignment)
		return sl_err_set(error, SL_ERR_INVALID, "--set %.128s: %s", place->assignment, text);
	if (place->line > 0)
		return sl_err_set(error, SL_ERR_INVALID, "%s:%d:%d: %s", parse->path, place->line,
				  place->column, text);
	return sl_err_set(error, SL_ERR_INVALID, "%s: %s", parse->path, text);
}

static int check_required(const struct parse *parse, struct sl_error *error)
{
	for (size_t i = 0; i < KEYS; i++)
		if (keys[i].fallback == NULL && !given(parse, i))
			return sl_err_set(error, SL_ERR_INVALID, "%s: missing key '%s' (%s)", parse->path,
					  keys[i].name, keys[i].text);
	return SL_OK;
}

static int check_together(const struct parse *parse, struct sl_error *error)
{
	const struct sl_settings *s = parse->settings;
	char text[256];
	if (s->weight_samples && !given(parse, (size_t)(find_key("max_weight") - keys)))
		return fail_at(parse, "weight", error,
			       "weight: samples needs max_weight, a public bound on any learner's samples");
	if (s->weight_samples && s->encoding == SL_ENCODING_PAPER)
		return fail_at(parse, "encoding", error,
			       "encoding: literal needs every weight beforehand, and weight: samples keeps "
			       "them secret");
	if (s->sharing == SL_SHARING_SEEDED && s->randomness == SL_RANDOMNESS_OS)
		return fail_at(parse, "coins", error,
			       "sharing: seeded sends the keys that coins are drawn from, and coins: os "
			       "draws them from none");
	if (s->iterations_rule && s->k == 0)
		return fail_at(parse, "k_rule", error, "k_rule: fixed needs k, the number of iterations");
	if (s->p != 0 && s->id >= s->p) {
		snprintf(text, sizeof text, "id %u must be less than p, which is %llu", s->id,
			 (unsigned long long)s->p);
		return fail_at(parse, "id", error, text);
	}
	return SL_OK;
}

/* The socket's address has room for 107 bytes; bind would cut or refuse what is longer. */
static int complete_control(struct parse *parse, struct sl_error *error)
{
	struct sl_settings *s = parse->settings;
	char text[256];
	int n = (int)strlen(s->control);
	if (n == 0)
		n = snprintf(s->control, sizeof s->control, "%.1000s/control.sock", s->state);
	if ((size_t)n < sizeof((struct sockaddr_un *)0)->sun_path)
		return SL_OK;
	snprintf(text, sizeof text,
		 "the path of the control socket has %d bytes, and only %zu are possible; set 'control'", n,
		 sizeof((struct sockaddr_un *)0)->sun_path - 1);
	return fail_at(parse, given(parse, (size_t)(find_key("control") - keys)) ? "control" : "state", error,
		       text);
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

int sl_settings_load(const char *path, const char *const *overrides, size_t count,
		     struct sl_settings *settings, struct sl_error *error)
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
	if (code == SL_OK)
		code = check_together(&parse, error);
	if (code == SL_OK)
		code = complete_control(&parse, error);
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
	return code == SL_OK ? check_together(&parse, error) : code;
}

int sl_settings_check(const char *assignment, struct sl_error *error)
{
	struct sl_settings scratch = {0};
	struct parse parse = {.settings = &scratch};
	return override(&parse, assignment, error);
}

int sl_settings_quorum(const struct sl_settings *settings, uint32_t roster_size, uint32_t *quorum,
		       struct sl_error *error)
{
	uint32_t majority = roster_size / 2 + 1;
	if (settings->quorum == 0)
		*quorum = roster_size;
	else if (settings->quorum == UINT32_MAX)
		*quorum = majority;
	else if (settings->quorum < majority)
		return sl_err_set(
			error, SL_ERR_RANGE,
			"quorum: %u is less than a majority of the %u learners in the roster, which is %u",
			settings->quorum, roster_size, majority);
	else if (settings->quorum > roster_size)
		return sl_err_set(error, SL_ERR_RANGE,
				  "quorum: %u is more than the %u learners in the roster", settings->quorum,
				  roster_size);
	else
		*quorum = settings->quorum;
	return SL_OK;
}

/* The type column of the reference: words first, then what else is taken. */
static void type_text(const struct key *key, char *out, size_t size)
{
	static const char *const names[] = {
		[NAME] = "name",    [ADDRESS] = "host:port", [PATH] = "path",	 [WORD] = "",
		[WHOLE] = "number", [PRIME] = "prime",	     [REAL] = "decimal", [POSITIVE] = "decimal"};
	char words[128];
	list_words(key, "|", words, sizeof words);
	const char *name = names[key->type];
	snprintf(out, size, "%s%s%s", words, key->words && name[0] != '\0' ? "|" : "", name);
}

void sl_settings_reference(void *file)
{
	for (size_t i = 0; i < KEYS; i++) {
		char type[160];
		const char *fallback = keys[i].fallback;
		type_text(&keys[i], type, sizeof type);
		fprintf(file, "  %-15s %-26s %-11s %s\n", keys[i].name, type,
			fallback == NULL      ? "required"
			: fallback[0] == '\0' ? ""
					      : fallback,
			keys[i].text);
	}
}
