#include "tools/lib/option.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/suggest.h"

#define OPTIONS_MOST 32u
#define KEY_FIRST 256 /* of options without a letter: this and their index */

struct parsing {
	const struct sl_usage *usage;
	void *options;
};

/* Return row `index` of the command's options and the common ones, or NULL after the last. */
static const struct sl_option *row_at(const struct sl_usage *usage, int index)
{
	const struct sl_option *row = usage->options;
	for (; row->name != NULL && index > 0; row++)
		index--;
	if (row->name != NULL || usage->common == NULL)
		return row->name != NULL ? row : NULL;
	for (row = usage->common; row->name != NULL && index > 0; row++)
		index--;
	return row->name != NULL ? row : NULL;
}

static int key_of(const struct sl_option *row, int index)
{
	return row->letter != 0 ? row->letter : KEY_FIRST + index;
}

uint64_t sl_option_number(struct argp_state *state, const char *option, const char *text, uint64_t least,
			  uint64_t most)
{
	uint64_t value = least;
	if (!sl_number_parse(text, least, most, &value))
		argp_failure(state, SL_EXIT_USAGE, 0, "--%s %s: must be a whole number from %llu to %llu",
			     option, text, (unsigned long long)least, (unsigned long long)most);
	return value;
}

static double real_number(struct argp_state *state, const struct sl_option *row, const char *text)
{
	double value = 0;
	char *end = NULL;
	if (text[strspn(text, "0123456789.eE+-")] == '\0')
		value = strtod(text, &end);
	if (end == NULL || *end != '\0' || !(value > 0 && value <= row->real_most))
		argp_failure(state, SL_EXIT_USAGE, 0, "--%s %s: must be above 0, at most %g", row->name, text,
			     row->real_most);
	return value;
}

/* Copy a text that passes its check. */
static void copy_text(struct argp_state *state, const struct sl_option *row, const char *value, char *field)
{
	struct sl_error error;
	if (row->check(value, &error) != SL_OK)
		argp_failure(state, SL_EXIT_USAGE, 0, "--%s: %s", row->name, error.text);
	snprintf(field, row->size, "%s", value);
}

static void set(struct argp_state *state, const struct sl_option *row, const char *value, void *options)
{
	void *field = (char *)options + row->offset;
	if (row->take != NULL) {
		row->take(state, value, options);
	} else if (row->check != NULL) {
		copy_text(state, row, value, field);
	} else if (row->value == NULL) {
		*(bool *)field = true;
	} else if (row->real_most > 0) {
		*(double *)field = real_number(state, row, value);
	} else if (row->most > 0) {
		uint64_t number = sl_option_number(state, row->name, value, row->least, row->most);
		if (row->size == sizeof(uint32_t))
			*(uint32_t *)field = (uint32_t)number;
		else
			*(uint64_t *)field = number;
	} else {
		*(const char **)field = value;
	}
}

static void take_argument(struct argp_state *state, const struct parsing *p, const char *text)
{
	if (p->usage->arguments == NULL)
		argp_failure(state, SL_EXIT_USAGE, 0, "unexpected argument '%s'; see '%s --help'", text,
			     state->name);
	else if (p->usage->take != NULL)
		p->usage->take(state, text, p->options);
	else if (state->arg_num > 0)
		argp_failure(state, SL_EXIT_USAGE, 0, "'%s' is one argument too many; give one %s", text,
			     p->usage->arguments);
	else
		*(const char **)((char *)p->options + p->usage->argument) = text;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	const struct parsing *p = state->input;
	const struct sl_option *row;
	if (key == ARGP_KEY_ARG) {
		take_argument(state, p, arg);
		return 0;
	}
	if (key == ARGP_KEY_END && state->arg_num == 0 && p->usage->missing != NULL)
		argp_failure(state, SL_EXIT_USAGE, 0, "%s; see '%s --help'", p->usage->missing, state->name);
	if (key == ARGP_KEY_END && p->usage->check != NULL)
		p->usage->check(state, p->options);
	for (int i = 0; (row = row_at(p->usage, i)) != NULL; i++)
		if (key_of(row, i) == key) {
			set(state, row, arg, p->options);
			return 0;
		}
	return ARGP_ERR_UNKNOWN;
}

/* ---- unknown options ---- */

static const char *const builtin[] = {"help", "usage", "version"}; /* of argp */
#define BUILTIN (sizeof builtin / sizeof *builtin)

/* Return the row of the option that the word, without its "--", names or begins. */
static const struct sl_option *find_row(const struct sl_usage *usage, const char *word, size_t letters)
{
	const struct sl_option *row;
	for (int i = 0; (row = row_at(usage, i)) != NULL; i++)
		if (strncmp(row->name, word, letters) == 0)
			return row;
	return NULL;
}

static const struct sl_option *find_letter(const struct sl_usage *usage, int letter)
{
	const struct sl_option *row;
	for (int i = 0; (row = row_at(usage, i)) != NULL && row->letter != letter; i++)
		;
	return row;
}

/* Return true if the next argument is the value of the option `text`. */
static bool takes_next(const struct sl_usage *usage, const char *text)
{
	const struct sl_option *row;
	if (strncmp(text, "--", 2) == 0) {
		row = find_row(usage, text + 2, strlen(text + 2)); /* none with =VALUE */
		return row != NULL && row->value != NULL;
	}
	for (const char *at = text[0] == '-' ? text + 1 : ""; *at != '\0'; at++)
		if ((row = find_letter(usage, *at)) != NULL && row->value != NULL)
			return at[1] == '\0';
	return false;
}

/* Exit if `text`, a long option, is unknown and one of the known ones is near it; argp refuses the others. */
static void suggest(const struct sl_usage *usage, const char *text)
{
	char word[SL_NEAREST_BYTES];
	size_t letters = strcspn(text + 2, "="), distance = SIZE_MAX;
	const char *best = NULL;
	const struct sl_option *row;
	bool known = letters >= sizeof word || find_row(usage, text + 2, letters) != NULL;
	for (size_t i = 0; i < BUILTIN; i++)
		known |= strncmp(builtin[i], text + 2, letters) == 0;
	if (known)
		return;
	snprintf(word, sizeof word, "%.*s", (int)letters, text + 2);
	for (int i = 0; (row = row_at(usage, i)) != NULL; i++)
		sl_suggest(word, row->name, &best, &distance);
	for (size_t i = 0; i < BUILTIN; i++)
		sl_suggest(word, builtin[i], &best, &distance);
	if (best == NULL)
		return;
	fprintf(stderr, "%s: unknown option '--%s'; did you mean '--%s'?\n", program_invocation_short_name,
		word, best);
	exit(SL_EXIT_USAGE);
}

void sl_option_parse(const struct sl_usage *usage, int argc, char **argv, void *options)
{
	struct argp_option rows[OPTIONS_MOST] = {{0}};
	struct parsing p = {usage, options};
	const struct argp argp = {rows, parse, usage->arguments, usage->doc, NULL, NULL, NULL};
	const struct sl_option *row;
	for (int i = 0; (row = row_at(usage, i)) != NULL; i++) {
		assert(i + 1 < (int)OPTIONS_MOST);
		rows[i] = (struct argp_option){row->name,  key_of(row, i),
					       row->value, row->text == NULL ? OPTION_HIDDEN : 0,
					       row->text,  0};
	}
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i += takes_next(usage, argv[i]) ? 2 : 1)
		if (strncmp(argv[i], "--", 2) == 0)
			suggest(usage, argv[i]);
	argp_parse(&argp, argc, argv, 0, NULL, &p);
}
