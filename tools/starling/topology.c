/* `starling topology`: its verbs, and what they share. */
#include "tools/starling/topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/graph/generate.h"
#include "common/base/suggest.h"
#include "common/base/number.h"
#include "tools/lib/terminal.h"

/* ---- where a schedule comes from ---- */

enum { KEY_STEPS = 1000, KEY_SEED };

static const struct argp_option source_options[] = {
	{"learners", 'n', "N", 0, "number of learners", 0},
	{"steps", KEY_STEPS, "S", 0, "how many steps (10; 1 if all are the same)", 0},
	{"seed", KEY_SEED, "S", 0, "of what is drawn at random (1)", 0},
	{0}};

static error_t parse_source(int key, char *arg, struct argp_state *state)
{
	struct sl_topology_request *q = state->input;
	switch (key) {
	case 'n':
		q->learners = (uint32_t)sl_number_or_usage(state, "-n", arg, 2, SL_LEARNERS_MAX);
		return 0;
	case KEY_STEPS:
		q->steps = (uint32_t)sl_number_or_usage(state, "--steps", arg, 1, SL_TOPOLOGY_STEPS_MAX);
		return 0;
	case KEY_SEED:
		q->seed = sl_number_or_usage(state, "--seed", arg, 0, UINT64_MAX);
		return 0;
	case ARGP_KEY_ARG:
		if (q->text != NULL)
			argp_failure(state, SL_EXIT_USAGE, 0, "\"%s\": one topology at a time", arg);
		q->text = arg;
		return 0;
	case ARGP_KEY_END:
		if (q->text == NULL)
			argp_failure(state, SL_EXIT_USAGE, 0, "which topology?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp source = {source_options, parse_source, NULL, NULL, NULL, NULL, NULL};
const struct argp_child sl_topology_source[] = {{&source, 0, NULL, 0}, {0}};

error_t sl_topology_option(int key, char *arg, struct argp_state *state)
{
	struct sl_topology_options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		if (state->child_inputs != NULL)
			state->child_inputs[0] = &o->request;
		return 0;
	case SL_KEY_TOLERANCE:
		o->tolerance =
			(uint32_t)sl_number_or_usage(state, "--tolerance", arg, 0, SL_LEARNERS_MAX - 2);
		return 0;
	case SL_KEY_JSON:
		o->json = true;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case ARGP_KEY_END:
		if (o->writes && o->json && o->output == NULL)
			argp_failure(state, SL_EXIT_USAGE, 0,
				     "--json takes standard output; say with -o where the schedule goes");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

char *sl_topology_families(int key, const char *text, void *input)
{
	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC || text == NULL)
		return (char *)text;
	char *all = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&all, &size);
	if (out == NULL)
		return (char *)text;
	fputs("Topologies:\n", out);
	for (const char *const *line = sl_family_help(); *line != NULL; line++)
		fprintf(out, "  %s\n", *line);
	fprintf(out, "\n%s", text);
	fclose(out);
	return all;
}

void sl_topology_parse_args(const struct argp *argp, int argc, char **argv, void *input)
{
	sl_command_set_name(argv, "starling topology %s", argv[0]);
	sl_command_parse(argp, argc, argv, input);
}

/* ---- what comes of it ---- */

int sl_topology_status(int rc, const struct sl_error *error)
{
	if (rc == SL_OK)
		return 0;
	fprintf(stderr, "starling topology: %s\n", error->text);
	return error->code == SL_ERR_NOMEM || error->code == SL_ERR_FULL ? SL_EXIT_FAILED : SL_EXIT_USAGE;
}

FILE *sl_topology_open(const char *path, struct sl_error *error)
{
	FILE *out = path != NULL ? fopen(path, "we") : stdout;
	if (out == NULL)
		sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	return out;
}

int sl_topology_close(FILE *out, const char *path, const struct sl_schedule *schedule, struct sl_error *error)
{
	bool lost = sl_schedule_write(schedule, out) != SL_OK;
	if (path == NULL || (fclose(out) == 0 && !lost))
		return SL_OK;
	return sl_err_set(error, SL_ERR_FULL, "%s: cannot be written: %s", path, strerror(errno));
}

/* ---- verbs ---- */

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *usage;
} verbs[] = {
	{"generate", sl_topology_generate, "NAME[:PARAMETER] -n N [--steps S] [--seed S]"},
	{"import", sl_topology_import, "FILE... [--range METRES] [--every SECONDS] [-o FILE]"},
	{"show", sl_topology_show, "NAME[:PARAMETER]|FILE [-n N] [--tolerance C] [--json]"},
	{"audit", sl_topology_audit, "NAME[:PARAMETER]|FILE [-n N] [--suspects ID,ID...] [--json]"},
	{"repair", sl_topology_repair, "NAME[:PARAMETER]|FILE [-n N] [--tolerance C] [-o FILE]"},
};

#define VERBS (sizeof verbs / sizeof *verbs)

static int usage(FILE *out)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);
	if (memory == NULL)
		return SL_EXIT_FAILED;
	for (size_t i = 0; i < VERBS; i++)
		fprintf(memory, "%s starling topology %s %s\n", i == 0 ? "Usage:" : "      ", verbs[i].name,
			verbs[i].usage);
	fputs("\nWho is in range of whom, step by step. Topologies:\n", memory);
	for (const char *const *line = sl_family_help(); *line != NULL; line++)
		fprintf(memory, "  %s\n", *line);
	fputs("\nEach has its own --help with examples.\n", memory);
	if (fclose(memory) == 0)
		sl_terminal_fill(out, text, sl_terminal_width(out));
	free(text);
	return out == stdout ? 0 : SL_EXIT_USAGE;
}

static int complain_of_verb(const char *word)
{
	const char *best = NULL;
	size_t distance = SIZE_MAX;
	for (size_t i = 0; i < VERBS; i++)
		sl_suggest(word, verbs[i].name, &best, &distance);
	if (best != NULL)
		fprintf(stderr, "starling topology: unknown verb '%s'; did you mean '%s'?\n", word, best);
	else
		fprintf(stderr, "starling topology: unknown verb '%s'; see 'starling topology --help'\n",
			word);
	return SL_EXIT_USAGE;
}

int sl_cmd_topology(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	for (size_t i = 0; i < VERBS; i++)
		if (strcmp(word, verbs[i].name) == 0)
			return verbs[i].run(argc - 1, argv + 1);
	if (strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0)
		return usage(stdout);
	return *word != '\0' ? complain_of_verb(word) : usage(stderr);
}
