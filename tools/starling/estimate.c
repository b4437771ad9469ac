/* `starling estimate`: its command line, and the graph that it names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lib/option.h"
#include "tools/estimate/show.h"
#include "tools/lib/schedule_graph.h"
#include "tools/lib/python.h"
#include "tools/starling/topology.h"
#include "tools/lib/help_texts.h"

#define LEARNERS_USUAL 10u
#define LEARNERS_MOST 1000000u

struct command {
	const char *topology;
	uint32_t learners; /* 0: not given */
	uint64_t seed;
	bool json;
	struct sl_estimate_input input; /* p 0: auto */
};

static void take_modulus(struct argp_state *state, const char *value, void *options)
{
	((struct command *)options)->input.p = sl_prime_or_usage(state, value);
}

static const struct sl_option own[] = {
	{"learners", 'n', "N", "learners, up to 1000000 (10, or the number in the schedule)",
	 SL_SETS(struct command, learners), 2, LEARNERS_MOST},
	{"floats", 0, "COUNT", "parameters of a model (50992)", SL_SETS(struct command, input.floats), 1,
	 SL_PARAMETERS_MAX},
	{"modulus", 0, "PRIME", "p of the field (that of the defaults)", .take = take_modulus},
	{"seed", 0, "S", "seed of random topologies (1)", SL_SETS(struct command, seed), 0, INT64_MAX},
	{"json", 0, NULL, "print JSON", SL_SETS(struct command, json)},
	{0}};

static const struct sl_usage usage = {.options = own,
				      .arguments = "NAME[:PARAMETER]|FILE",
				      .missing = "no topology given: NAME[:PARAMETER] or a file",
				      .argument = offsetof(struct command, topology),
				      .doc = SL_HELP_ESTIMATE};

/* ---- the graph ---- */

static int choose_p(struct sl_estimate_input *input, uint64_t learners, struct sl_error *error)
{
	if (input->p == 0)
		input->p = sl_p_usual(learners, input->floats);
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
		rc = sl_estimate_graph_figures(&graph, &field, c->input.floats + 1, &c->input.graph);
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
	sl_option_parse(&usage, argc, argv, &c);
	if (!c.json)
		return sl_python_run("starling_topology.tables", argc, argv);
	int rc = look_at_graph(&c, &error);
	if (rc != SL_OK) {
		fprintf(stderr, "starling estimate: %s\n", error.text);
		return rc == SL_ERR_NOMEM ? SL_EXIT_FAILED : SL_EXIT_USAGE;
	}
	sl_estimate_cost_all(&c.input, &planned);
	json_t *json = sl_estimate_json(&c.input, &planned);
	sl_command_print_json(json, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	return 0;
}
