/* `starling estimate`: its command line, and the graph that it names. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/number.h"
#include "common/field/encoding.h"
#include "tools/lib/option.h"
#include "tools/lib/command.h"
#include "tools/estimate/show.h"
#include "tools/lib/schedule_graph.h"
#include "tools/starling/topology.h"

#define LEARNERS_USUAL 10u
#define LEARNERS_MOST 1000000u

enum { KEY_FLOATS = 256, KEY_MODULUS, KEY_SEED, KEY_JSON };

struct command {
	const char *topology;
	uint32_t learners; /* 0: not given */
	uint64_t seed;
	bool json;
	struct sl_estimate_input input; /* p 0: auto */
};

static const struct argp_option options[] = {
	{"learners", 'n', "N", 0, "learners, up to 1000000 (10, or the number in the schedule)", 0},
	{"floats", KEY_FLOATS, "COUNT", 0, "parameters of a model (50992)", 0},
	{"modulus", KEY_MODULUS, "PRIME", 0, "p of the field (the smallest that fits)", 0},
	{"seed", KEY_SEED, "S", 0, "seed of random topologies (1)", 0},
	{"json", KEY_JSON, NULL, 0, "print JSON", 0},
	{0}};

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
	case KEY_MODULUS:
		c->input.p = sl_prime_or_usage(state, "--modulus", arg);
		return 0;
	case KEY_SEED:
		c->seed = sl_number_or_usage(state, "--seed", arg, 0, INT64_MAX);
		return 0;
	case KEY_JSON:
		c->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (c->topology != NULL)
			argp_failure(state, SL_EXIT_USAGE, 0, "'%s' is a second topology; give one", arg);
		c->topology = arg;
		return 0;
	case ARGP_KEY_END:
		if (c->topology == NULL)
			argp_failure(state, SL_EXIT_USAGE, 0,
				     "no topology given: NAME[:PARAMETER] or a file; see 'starling estimate "
				     "--help'");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char doc[] = "Estimate what a round costs: exchanges, bytes and memory, for each engine and "
			  "each way of sharing. Up to 2,000 learners "
			  "the graph itself is analyzed; above that, formulas of its family are used: <= "
			  "marks a bound, ~ an approximation.\v"
			  "Topologies are those of `starling topology`; of a topology that changes from step "
			  "to step, the first step counts.\n"
			  "MB each is the mean over learners, MB most and MB memory are of the busiest; all "
			  "MB but memory are sent, signed records "
			  "included. An exchange is with all neighbours at once; those of tree are steps up "
			  "and down the tree.\n"
			  "\n"
			  "Examples:\n"
			  "  starling estimate regular:10 -n 100 --floats 1000000\n"
			  "  starling estimate regular:16 -n 1000000\n"
			  "  starling estimate walk.txt --json\n"
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

/* Calculate the figures of a family with more learners than this version runs. */
static int calculate(struct command *c, struct sl_error *error)
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
		return sl_err_set(
			error, rc,
			"%s: its first step is not connected; analyze it with starling topology analyze",
			c->topology);
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
		return calculate(c, error);
	int rc = sl_topology_schedule(&request, &schedule, error);
	if (rc != SL_OK)
		return rc;
	rc = first_step(c, &schedule, error);
	sl_schedule_close(&schedule);
	return rc;
}

/* ---- the estimate ---- */

int sl_cmd_estimate(int argc, char **argv)
{
	struct command c = {.seed = 1, .input.floats = SL_FLOATS_USUAL};
	struct sl_estimated planned;
	struct sl_error error = {0};
	if (argp_parse(&argp, argc, argv, 0, NULL, &c) != 0)
		return SL_EXIT_USAGE;
	int rc = look_at_graph(&c, &error);
	if (rc != SL_OK) {
		fprintf(stderr, "starling estimate: %s\n", error.text);
		return rc == SL_ERR_NOMEM ? SL_EXIT_FAILED : SL_EXIT_USAGE;
	}
	sl_estimate_cost_all(&c.input, &planned);
	if (!c.json) {
		sl_estimate_show(&c.input, &planned, stdout);
		return 0;
	}
	json_t *json = sl_estimate_json(&c.input, &planned);
	json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(json);
	return 0;
}
