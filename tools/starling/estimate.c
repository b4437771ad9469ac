/* `starling estimate`: its command line, and the graph that it names. The estimate is Python:
 * starling_topology/estimate.py. */
#include <jansson.h>
#include <stdlib.h>

#include "common/graph/generate.h"
#include "tools/lib/python.h"
#include "tools/starling/topology.h"
#include "tools/topology/figures.h"
#include "tools/lib/help_texts.h"

#define LEARNERS_USUAL 10u
#define LEARNERS_MOST 1000000u

struct command {
	const char *topology;
	uint32_t learners; /* 0: not given */
	uint64_t seed;
	uint32_t floats;
	uint64_t p; /* 0: auto */
	bool json;
};

static void take_modulus(struct argp_state *state, const char *value, void *options)
{
	((struct command *)options)->p = sl_prime_or_usage(state, value);
}

static const struct sl_option own[] = {
	{"learners", 'n', "N", "learners, up to 1000000 (10, or the number in the schedule)",
	 SL_SETS(struct command, learners), 2, LEARNERS_MOST},
	{"floats", 0, "COUNT", "parameters of a model (50992)", SL_SETS(struct command, floats), 1,
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

static int choose_p(struct command *c, struct sl_error *error)
{
	if (c->p == 0)
		c->p = sl_p_usual(c->learners, c->floats);
	if (c->p > c->learners)
		return SL_OK;
	return sl_err_set(error, SL_ERR_RANGE, "p = %llu: must be above the number of learners, %u",
			  (unsigned long long)c->p, c->learners);
}

/* ---- what the estimate needs to know of the graph, as JSON; NULL after an error ---- */

/* Of a family with more learners than this version runs. */
static json_t *family(struct command *c, struct sl_error *error)
{
	struct sl_family topology;
	const char *why = NULL;
	int rc = sl_family_read(c->topology, c->learners, &topology, &why);
	if (rc != SL_OK)
		sl_err_set(error, rc, "%s: %s", c->topology, why);
	else
		rc = choose_p(c, error);
	return rc == SL_OK ? json_pack("{s:s, s:f}", "topology", c->topology, "parameter", topology.parameter)
			   : NULL;
}

static json_t *graph_json(const struct sl_figures *f)
{
	const struct sl_analysis *a = &f->analysis;
	return json_pack("{s:{s:I, s:I, s:f, s:I, s:f, s:I, s:I, s:I, s:I, s:f}}", "graph", "learners",
			 (json_int_t)f->graph.n, "edges", (json_int_t)f->graph.edges, "degree_mean",
			 2.0 * f->graph.edges / f->graph.n, "degree_max",
			 (json_int_t)sl_graph_degree_max(&f->graph), "mu", a->mu, "deg_r",
			 (json_int_t)a->degree, "depth", (json_int_t)a->depth, "trees", (json_int_t)a->trees,
			 "load", (json_int_t)a->load, "bound", f->forest_bound);
}

static json_t *first_step(struct command *c, const struct sl_schedule *schedule, struct sl_error *error)
{
	struct sl_figures figures = {0};
	json_t *graph = NULL;
	c->learners = schedule->learners;
	int rc = choose_p(c, error);
	if (rc != SL_OK)
		return NULL;
	const struct sl_figures_request request = {
		.analysis.engines = SL_ENGINE_SET_ALL, .p = c->p, .floats = c->floats};
	rc = sl_figures_open(&figures, schedule, &request);
	if (rc == SL_OK)
		rc = sl_figures_step(&figures, 0);
	if (rc != SL_OK)
		sl_err_set(error, rc, "%s: %s", c->topology, sl_err_text(rc));
	else if (figures.analysis.components > 1)
		sl_err_set(error, SL_ERR_INVALID,
			   "%s: its first step is not connected; analyze it with starling topology analyze",
			   c->topology);
	else
		graph = graph_json(&figures);
	sl_figures_close(&figures);
	return graph;
}

static json_t *look_at_graph(struct command *c, struct sl_error *error)
{
	struct sl_schedule schedule;
	bool named = sl_topology_is_name(c->topology);
	if (named && c->learners == 0)
		c->learners = LEARNERS_USUAL;
	if (named && c->learners > SL_LEARNERS_MAX)
		return family(c, error);
	const struct sl_topology_request request = {
		.text = c->topology, .learners = c->learners, .redraws = 1, .seed = c->seed};
	if (sl_topology_schedule(&request, &schedule, error) != SL_OK)
		return NULL;
	json_t *graph = first_step(c, &schedule, error);
	sl_schedule_close(&schedule);
	return graph;
}

int sl_cmd_estimate(int argc, char **argv)
{
	struct command c = {.seed = 1, .floats = SL_FLOATS_USUAL};
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &c);
	json_t *known = look_at_graph(&c, &error);
	if (known == NULL) {
		fprintf(stderr, "starling estimate: %s\n", error.text);
		return error.code == SL_ERR_NOMEM ? SL_EXIT_FAILED : SL_EXIT_USAGE;
	}
	json_object_set_new(known, "learners", json_integer(c.learners));
	json_object_set_new(known, "floats", json_integer(c.floats));
	json_object_set_new(known, "p", json_integer((json_int_t)c.p));
	json_object_set_new(known, "json", json_boolean(c.json));
	char *words[] = {argv[0], json_dumps(known, 0)};
	json_decref(known);
	return sl_python_run("starling_topology.estimate", 2, words);
}
