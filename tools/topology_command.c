/* `starling topology generate | show`. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "common/math/field.h"
#include "common/math/generate.h"
#include "tools/number.h"
#include "tools/terminal.h"
#include "tools/topology.h"

enum { KEY_STEPS = 256, KEY_SEED, KEY_P, KEY_JSON };

struct options {
	struct sl_topology_request request;
	uint64_t p;
	bool json;
};

static void take_prime(struct options *o, const char *text, struct argp_state *state)
{
	o->p = sl_number_or_usage(state, "--p", text, 3, (UINT64_C(1) << 61) - 1);
	if (!sl_is_prime(o->p))
		argp_failure(state, SL_EXIT_USAGE, 0, "--p %s: not a prime", text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case 'n':
		o->request.learners = (uint32_t)sl_number_or_usage(state, "-n", arg, 2, SL_LEARNERS_MAX);
		return 0;
	case KEY_STEPS:
		o->request.steps =
			(uint32_t)sl_number_or_usage(state, "--steps", arg, 1, SL_TOPOLOGY_STEPS_MAX);
		return 0;
	case KEY_SEED:
		o->request.seed = sl_number_or_usage(state, "--seed", arg, 0, UINT64_MAX);
		return 0;
	case KEY_P:
		take_prime(o, arg, state);
		return 0;
	case KEY_JSON:
		o->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->request.text != NULL)
			argp_failure(state, SL_EXIT_USAGE, 0, "\"%s\": one topology at a time", arg);
		o->request.text = arg;
		return 0;
	case ARGP_KEY_END:
		if (o->request.text == NULL)
			argp_failure(state, SL_EXIT_USAGE, 0, "which topology?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Puts the list of families in front of the examples that stand after the \v of a doc. */
static char *with_families(int key, const char *text, void *input)
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
	for (const char *const *line = sl_topology_help(); *line != NULL; line++)
		fprintf(out, "  %s\n", *line);
	fprintf(out, "\n%s", text);
	fclose(out);
	return all;
}

#define OPTIONS_BOTH                                                                                         \
	{"learners", 'n', "N", 0, "number of learners", 0},                                                  \
		{"steps", KEY_STEPS, "S", 0, "how many steps (10; 1 if all are the same)", 0},               \
	{                                                                                                    \
		"seed", KEY_SEED, "S", 0, "of what is drawn at random (1)", 0                                \
	}

static const struct argp_option generate_options[] = {OPTIONS_BOTH, {0}};
static const struct argp_option show_options[] = {
	OPTIONS_BOTH,
	{"p", KEY_P, "PRIME", 0, "the field, on which K depends (2147483647)", 0},
	{"json", KEY_JSON, NULL, 0, "print a JSON array", 0},
	{0}};

static const struct argp generate_argp = {
	generate_options,
	parse,
	"NAME[:PARAMETER]",
	"Write a topology schedule to standard output.\v"
	"Examples:\n"
	"  starling topology generate regular:4 -n 10 --steps 20 >moving.txt\n"
	"  starling topology generate geometric:0.5 -n 12 --seed 7 >walk.txt\n"
	"  starling launch --topology walk.txt\n",
	NULL,
	with_families,
	NULL};
static const struct argp show_argp = {
	show_options,
	parse,
	"NAME[:PARAMETER]|FILE",
	"Show edges, degrees, mu and the number of mixing iterations K of each step.\v"
	"Examples:\n"
	"  starling topology show ring -n 10\n"
	"  starling topology show neighbours:20 -n 100 --p 1020431\n"
	"  starling topology show walk.txt --json\n",
	NULL,
	with_families,
	NULL};

static int complain(const struct sl_error *error)
{
	fprintf(stderr, "starling topology: %s\n", error->text);
	return error->code == SL_ERR_NOMEM ? SL_EXIT_FAILED : SL_EXIT_USAGE;
}

static int generate(const struct options *o, struct sl_error *error)
{
	struct sl_schedule schedule;
	char name[SL_TOPOLOGY_NAME_BYTES];
	sl_topology_nearest(o->request.text, name);
	if (!sl_topology_is_name(o->request.text) && name[0] != '\0')
		return sl_fail(error, SL_ERR_INVALID, "%s: no such topology; did you mean '%s'?", o->request.text,
			       name);
	if (!sl_topology_is_name(o->request.text))
		return sl_fail(error, SL_ERR_INVALID,
			       "%s: no such topology; see starling topology generate --help",
			       o->request.text);
	int rc = sl_topology_schedule(&o->request, &schedule, error);
	if (rc != SL_OK)
		return rc;
	printf("# %s, seed %llu\n", o->request.text, (unsigned long long)o->request.seed);
	sl_schedule_write(&schedule, stdout);
	sl_schedule_close(&schedule);
	return SL_OK;
}

static int show(const struct options *o, struct sl_error *error)
{
	struct sl_schedule schedule;
	int rc = sl_topology_schedule(&o->request, &schedule, error);
	if (rc != SL_OK)
		return rc;
	rc = (o->json ? sl_topology_print_json : sl_topology_print_table)(&schedule, o->p, stdout, error);
	sl_schedule_close(&schedule);
	return rc;
}

static int run(const struct argp *argp, int (*verb)(const struct options *, struct sl_error *), int argc,
	       char **argv)
{
	struct options o = {.request.seed = 1, .p = SL_P_MERSENNE31};
	struct sl_error error = {0};
	char name[] = "starling topology generate"; /* argp's messages begin with it */
	snprintf(name, sizeof name, "starling topology %s", verb == show ? "show" : "generate");
	argv[0] = name;
	argp_parse(argp, argc, argv, 0, NULL, &o);
	if (verb(&o, &error) != SL_OK)
		return complain(&error);
	return 0; /* whether standard output took it all, main finds out */
}

static int usage(FILE *out)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);
	if (memory == NULL)
		return SL_EXIT_FAILED;
	fputs("Usage: starling topology generate NAME[:PARAMETER] -n N [--steps S] [--seed S]\n"
	      "       starling topology show NAME[:PARAMETER]|FILE [-n N] [--p PRIME] [--json]\n"
	      "\n"
	      "Who is in range of whom, step by step. Topologies:\n",
	      memory);
	for (const char *const *line = sl_topology_help(); *line != NULL; line++)
		fprintf(memory, "  %s\n", *line);
	fputs("\nEach has its own --help with examples.\n", memory);
	if (fclose(memory) == 0)
		sl_terminal_fill(out, text, sl_terminal_width(out));
	free(text);
	return out == stdout ? 0 : SL_EXIT_USAGE;
}

int sl_cmd_topology(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	if (strcmp(verb, "generate") == 0)
		return run(&generate_argp, generate, argc - 1, argv + 1);
	if (strcmp(verb, "show") == 0)
		return run(&show_argp, show, argc - 1, argv + 1);
	if (strcmp(verb, "--help") == 0 || strcmp(verb, "-?") == 0)
		return usage(stdout);
	if (*verb != '\0')
		fprintf(stderr, "starling topology: \"%s\" is neither generate nor show\n", verb);
	return usage(stderr);
}
