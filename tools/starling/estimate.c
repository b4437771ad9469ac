/* `starling estimate`: its command line, and the graph that it names. The estimate is Python:
 * starling_topology/estimate.py. */
#include "common/graph/generate.h"
#include "tools/lib/python.h"
#include "tools/starling/topology.h"
#include "tools/topology/analyze.h"
#include "tools/lib/help_texts.h"

#define LEARNERS_USUAL 10u
#define LEARNERS_MOST 1000000u

struct command {
	struct sl_topology_request source;
	struct sl_figures_request figures; /* p 0: auto */
	bool json;
};

static void take_modulus(struct argp_state *state, const char *value, void *options)
{
	((struct command *)options)->figures.p = sl_prime_or_usage(state, value);
}

static const struct sl_option own[] = {
	{"learners", 'n', "N", "learners, up to 1000000 (10, or the number in the schedule)",
	 SL_SETS(struct command, source.learners), 2, LEARNERS_MOST},
	{"floats", 0, "COUNT", "parameters of a model (50992)", SL_SETS(struct command, figures.floats), 1,
	 SL_PARAMETERS_MAX},
	{"modulus", 0, "PRIME", "p of the field (that of the defaults)", .take = take_modulus},
	{"seed", 0, "S", "seed of random topologies (1)", SL_SETS(struct command, source.seed), 0, INT64_MAX},
	{"json", 0, NULL, "print JSON", SL_SETS(struct command, json)},
	{0}};

static const struct sl_usage usage = {.options = own,
				      .arguments = "NAME[:PARAMETER]|FILE",
				      .missing = "no topology given: NAME[:PARAMETER] or a file",
				      .argument = offsetof(struct command, source.text),
				      .doc = SL_HELP_ESTIMATE};

/* Return the parameter of a family that has more learners than this version runs, or NULL. */
static json_t *calculated(const struct command *c, struct sl_error *error)
{
	struct sl_family topology;
	const char *why = NULL;
	int rc = sl_family_read(c->source.text, c->source.learners, &topology, &why);
	if (rc == SL_OK)
		return json_pack("{s:f}", "family", topology.parameter);
	sl_err_set(error, rc, "%s: %s", c->source.text, why);
	return NULL;
}

/* Return the analysis of the first step, or NULL. */
static json_t *analyzed(struct command *c, struct sl_error *error)
{
	struct sl_schedule schedule;
	if (sl_topology_schedule(&c->source, &schedule, error) != SL_OK)
		return NULL;
	c->source.learners = schedule.learners;
	if (c->figures.p == 0)
		c->figures.p = sl_p_usual(schedule.learners, c->figures.floats);
	json_t *steps = sl_analyze(&schedule, 1, &c->figures, error);
	sl_schedule_close(&schedule);
	return steps == NULL ? NULL : json_pack("{s:o}", "steps", steps);
}

int sl_cmd_estimate(int argc, char **argv)
{
	struct command c = {.source = {.redraws = 1, .seed = 1},
			    .figures = {.analysis.engines = SL_ENGINE_SET_ALL, .floats = SL_FLOATS_USUAL}};
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &c);
	bool named = sl_topology_is_name(c.source.text);
	if (named && c.source.learners == 0)
		c.source.learners = LEARNERS_USUAL;
	json_t *request =
		named && c.source.learners > SL_LEARNERS_MAX ? calculated(&c, &error) : analyzed(&c, &error);
	if (request == NULL)
		return sl_topology_failed(argv[0], &error);
	if (c.figures.p == 0)
		c.figures.p = sl_p_usual(c.source.learners, c.figures.floats);
	json_object_set_new(request, "learners", json_integer(c.source.learners));
	json_object_set_new(request, "floats", json_integer(c.figures.floats));
	json_object_set_new(request, "p", json_integer((json_int_t)c.figures.p));
	json_object_set_new(request, "json", json_boolean(c.json));
	const char *words[] = {argv[0], c.source.text};
	return sl_python_run_json("starling_topology.estimate", 2, words, request);
}
