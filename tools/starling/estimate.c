/* `starling plan`: its command line, and the graph that it names. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/number.h"
#include "tools/lib/command.h"
#include "tools/estimate/show.h"
#include "tools/topology/topology.h"
#include "tools/lib/schedule_graph.h"

#define LEARNERS_USUAL 10u
#define LEARNERS_MOST 1000000u
#define FLOATS_USUAL 50992u
#define MBIT 125000.0 /* bytes */

enum {
	KEY_FLOATS = 256,
	KEY_SPEED,
	KEY_DELAY,
	KEY_TOGETHER,
	KEY_MEASURE,
	KEY_BYTE,
	KEY_PROCESSORS,
	KEY_P,
	KEY_SEED,
	KEY_JSON
};

struct command {
	const char *topology;
	uint32_t learners; /* 0: not said */
	uint64_t seed;
	bool together, linked, measure, json; /* linked: --speed or --delay */
	struct sl_estimate_input input;	      /* p 0: auto */
};

static const struct argp_option options[] = {
	{"learners", 'n', "N", 0, "learners, up to 1000000 (10, or what the schedule says)", 0},
	{"floats", KEY_FLOATS, "COUNT", 0, "of a model (50992)", 0},
	{"speed", KEY_SPEED, "MBIT", 0, "what a learner's link carries each way, Mbit/s (1000)", 0},
	{"delay", KEY_DELAY, "MS", 0, "of a message to a neighbour, milliseconds (1)", 0},
	{"together", KEY_TOGETHER, NULL, 0, "all learners on one machine instead", 0},
	{"processors", KEY_PROCESSORS, "COUNT", 0, "of that machine (as many as here)", 0},
	{"measure", KEY_MEASURE, NULL, 0, "measure this machine's arithmetic and disk first, two seconds", 0},
	{"byte-ns", KEY_BYTE, "NS", 0, "CPU of both ends for a byte, from starling-bench exchange", 0},
	{"p", KEY_P, "PRIME", 0, "of the field (the smallest that fits)", 0},
	{"seed", KEY_SEED, "S", 0, "of random topologies (1)", 0},
	{"json", KEY_JSON, NULL, 0, "print JSON", 0},
	{0}};

static double real_or_usage(struct argp_state *state, const char *option, const char *text, double most)
{
	char *end = NULL;
	double value = text[strspn(text, "0123456789.")] == '\0' ? strtod(text, &end) : -1;
	if (end == NULL || end == text || *end != '\0' || !(value >= 0 && value <= most))
		argp_failure(state, SL_EXIT_USAGE, 0, "%s %s: must be a number from 0 to %g", option, text,
			     most);
	return value;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct command *c = state->input;
	switch (key) {
	case 'n':
		c->learners = (uint32_t)sl_number_or_usage(state, "-n", arg, 2, LEARNERS_MOST);
		return 0;
	case KEY_FLOATS:
		c->input.floats = sl_number_or_usage(state, "--floats", arg, 1, SL_ELEMENTS_MAX - 1);
		return 0;
	case KEY_SPEED:
		c->linked = true;
		c->input.speed = MBIT * real_or_usage(state, "--speed", arg, 1e6);
		if (!(c->input.speed > 0))
			argp_failure(state, SL_EXIT_USAGE, 0, "--speed 0: nothing would ever arrive");
		return 0;
	case KEY_DELAY:
		c->linked = true;
		c->input.delay = 1e-3 * real_or_usage(state, "--delay", arg, 1e6);
		return 0;
	case KEY_TOGETHER:
		c->together = true;
		return 0;
	case KEY_PROCESSORS:
		c->input.machine.processors =
			(uint32_t)sl_number_or_usage(state, "--processors", arg, 1, 65536);
		return 0;
	case KEY_MEASURE:
		c->measure = true;
		return 0;
	case KEY_BYTE:
		c->input.machine.byte_ns = real_or_usage(state, "--byte-ns", arg, 1000);
		return 0;
	case KEY_P:
		c->input.p = sl_number_or_usage(state, "--p", arg, 3, (UINT64_C(1) << SL_P_BITS_MAX) - 1);
		if (!sl_field_is_prime(c->input.p))
			argp_failure(state, SL_EXIT_USAGE, 0, "--p %s is not a prime", arg);
		return 0;
	case KEY_SEED:
		c->seed = sl_number_or_usage(state, "--seed", arg, 0, INT64_MAX);
		return 0;
	case KEY_JSON:
		c->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (c->topology != NULL)
			argp_failure(state, SL_EXIT_USAGE, 0, "one topology, and there is '%s' too", arg);
		c->topology = arg;
		return 0;
	case ARGP_KEY_END:
		if (c->topology == NULL)
			argp_failure(
				state, SL_EXIT_USAGE, 0,
				"which topology? NAME[:PARAMETER] or a file; see 'starling plan --help'");
		if (c->together && c->linked)
			argp_failure(
				state, SL_EXIT_USAGE, 0,
				"--together: one machine has no links, and there is a --speed or --delay");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char doc[] =
	"What a round will cost: exchanges, bytes, seconds and memory, for each way to share and to mix. Up "
	"to 2,000 learners the "
	"graph itself is looked at; above that, formulas of its family: <= is a bound, ~ an estimate.\v"
	"Topologies are those of `starling topology`; of one that changes from step to step, the first step. "
	"A round is timed from "
	"the last trained model to the last commit; a plan counts the work, and no waiting.\n"
	"MB each and CPU s are means of one learner, MB most and MB memory are of the busiest; all MB but "
	"memory are sent, signed "
	"records included. Exchanges are with all neighbours; those of tree are steps, up and down again.\n"
	"\n"
	"Examples:\n"
	"  starling plan regular:10 -n 100 --floats 1000000\n"
	"  starling plan ring -n 10 --floats 1000000 --together --measure\n"
	"  starling plan regular:16 -n 1000000 --speed 100 --delay 20\n"
	"  starling plan walk.txt --json\n"
	"\n"
	"Exit status: 0 done; 1 failed; 2 bad usage.\n";
static const struct argp argp = {options, parse, "NAME[:PARAMETER]|FILE", doc, NULL, NULL, NULL};

/* ---- the graph ---- */

static int choose_p(struct sl_estimate_input *input, uint64_t learners, struct sl_error *error)
{
	const struct sl_encoding encoding = {.kind = SL_ENCODING_WEIGHTED,
					     .decimals = 4,
					     .clipping_range = 16,
					     .weight = 1,
					     .weight_total = learners};
	if (input->p == 0)
		input->p = sl_encoding_modulus(&encoding, learners, 1, SL_P_BITS_MAX);
	if (input->p <= learners)
		return sl_err_set(error, SL_ERR_RANGE, "p = %llu: must be above the number of learners, %llu",
				  (unsigned long long)input->p, (unsigned long long)learners);
	return SL_OK;
}

static int on_paper(struct command *c, struct sl_error *error)
{
	struct sl_family topology;
	const char *why = NULL;
	int rc = sl_family_read(c->topology, c->learners, &topology, &why);
	if (rc != SL_OK)
		return sl_err_set(error, rc, "%s: %s", c->topology, why);
	rc = sl_estimate_family_figures(&topology, c->learners, &c->input.graph, error);
	return rc == SL_OK ? choose_p(&c->input, c->learners, error) : sl_err_wrap(error, "%s", c->topology);
}

static int first_step(struct command *c, const struct sl_schedule *schedule, struct sl_error *error)
{
	struct sl_graph graph;
	struct sl_field field;
	struct sl_arena arena;
	size_t bytes = sl_schedule_graph_bytes(schedule->learners, sl_schedule_graph_edges_most(schedule));
	int rc = choose_p(&c->input, schedule->learners, error);
	if (rc != SL_OK)
		return rc;
	sl_arena_init(&arena, malloc(bytes), bytes);
	rc = arena.base == NULL ? SL_ERR_NOMEM : sl_schedule_graph(schedule, 0, &graph, &arena);
	if (rc == SL_OK)
		rc = sl_field_init(&field, c->input.p);
	if (rc == SL_OK)
		rc = sl_estimate_graph_figures(&graph, &field, &c->input.graph);
	free(arena.base);
	if (rc == SL_ERR_INVALID)
		return sl_err_set(error, rc, "%s: its first step is not connected", c->topology);
	return rc == SL_OK ? SL_OK : sl_err_set(error, rc, "%s: %s", c->topology, sl_err_text(rc));
}

static int look_at_graph(struct command *c, struct sl_error *error)
{
	struct sl_schedule schedule;
	struct sl_topology_request request = {
		.text = c->topology, .learners = c->learners, .redraws = 1, .seed = c->seed};
	bool named = sl_topology_is_name(c->topology);
	if (named && c->learners == 0)
		request.learners = c->learners = LEARNERS_USUAL;
	if (named && c->learners > SL_LEARNERS_MAX)
		return on_paper(c, error);
	int rc = sl_topology_schedule(&request, &schedule, error);
	if (rc != SL_OK)
		return rc;
	rc = first_step(c, &schedule, error);
	sl_schedule_close(&schedule);
	return rc;
}

/* ---- the plan ---- */

static int make_plan(struct command *c)
{
	struct sl_estimated planned;
	struct sl_error error = {0};
	int rc = look_at_graph(c, &error);
	if (rc != SL_OK) {
		fprintf(stderr, "starling plan: %s\n", error.text);
		return rc == SL_ERR_NOMEM ? SL_EXIT_FAILED : SL_EXIT_USAGE;
	}
	if (c->measure && (rc = sl_estimate_machine_measure(&c->input.machine)) != SL_OK) {
		fprintf(stderr, "starling plan: measuring this machine: %s\n", sl_err_text(rc));
		return SL_EXIT_FAILED;
	}
	sl_estimate_cost_all(&c->input, &planned);
	if (!c->json) {
		sl_estimate_show(&c->input, &planned, stdout);
		return 0;
	}
	json_t *json = sl_estimate_json(&c->input, &planned);
	json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(json);
	return 0;
}

int sl_cmd_estimate(int argc, char **argv)
{
	struct command c = {.seed = 1,
			    .input = {.floats = FLOATS_USUAL, .speed = 1000 * MBIT, .delay = 1e-3}};
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	c.input.machine = sl_estimate_machine_usual;
	c.input.machine.processors = processors > 0 ? (uint32_t)processors : 1;
	sl_command_parse(&argp, argc, argv, &c);
	if (c.together)
		c.input.speed = c.input.delay = 0;
	return make_plan(&c);
}
