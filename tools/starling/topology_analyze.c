/* `starling topology analyze`: its command line. The report is Python: starling_topology/analyze.py. */
#include "tools/lib/python.h"
#include "tools/starling/topology.h"
#include "tools/topology/analyze.h"
#include "tools/lib/help_texts.h"

struct options {
	struct sl_topology_options common;
	struct sl_figures_request figures;
	bool seeded;
};

static void take_modulus(struct argp_state *state, const char *value, void *options)
{
	((struct options *)options)->figures.p = sl_prime_or_usage(state, value);
}

static void take_no_exact(struct argp_state *state, const char *value, void *options)
{
	(void)state;
	(void)value;
	((struct options *)options)->figures.analysis.engines &= ~SL_ENGINE_SET(SL_ENGINE_EXACT);
}

static const struct sl_option own[] = {
	{"modulus", 0, "PRIME", "p of the field, on which K and exact depend (that of the defaults)",
	 .take = take_modulus},
	{"floats", 0, "N", "parameters of a model (50992)", SL_SETS(struct options, figures.floats), 1,
	 SL_PARAMETERS_MAX},
	{"tolerance", 0, "C", "how many learners may collude (1)", SL_SETS(struct options, common.tolerance),
	 0, SL_LEARNERS_MAX - 2},
	{"seeded", 0, NULL, "bytes of sharing: seeded, where a share is a seed",
	 SL_SETS(struct options, seeded)},
	{"no-exact", 0, NULL, "skip the exact engine, which takes longest with a thousand learners",
	 .take = take_no_exact},
	{"json", 0, NULL, "print a JSON array, with all lists in full", SL_SETS(struct options, common.json)},
	{0}};

static const struct sl_usage usage = {SL_TOPOLOGY_USAGE("NAME[:PARAMETER]|FILE"), .options = own,
				      .doc = SL_HELP_TOPOLOGY_ANALYZE};

int sl_topology_analyze(int argc, char **argv)
{
	struct options o = {.common = {.request.seed = 1, .tolerance = 1},
			    .figures = {.analysis = {.kappa_most = SL_LEARNERS_MAX,
						     .missing = true,
						     .engines = SL_ENGINE_SET_ALL},
					.floats = SL_FLOATS_USUAL}};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	struct sl_figures_request *figures = &o.figures;
	json_t *steps = NULL;
	sl_option_parse(&usage, argc, argv, &o);
	figures->analysis.tolerance = o.common.tolerance;
	int rc = sl_topology_schedule(&o.common.request, &schedule, &error);
	if (rc == SL_OK && figures->p == 0)
		figures->p = sl_p_usual(schedule.learners, figures->floats);
	if (rc == SL_OK)
		steps = sl_analyze(&schedule, schedule.steps, figures, &error);
	sl_schedule_close(&schedule);
	if (steps == NULL)
		return sl_topology_failed("starling topology", &error);
	return sl_python_run_json("starling_topology.analyze", 1, (const char **)argv,
				  json_pack("{s:o, s:I, s:I, s:I, s:b, s:b, s:b}", "steps", steps,
					    "tolerance", (json_int_t)o.common.tolerance, "floats",
					    (json_int_t)figures->floats, "p", (json_int_t)figures->p,
					    "seeded", o.seeded, "exact",
					    (figures->analysis.engines & SL_ENGINE_SET(SL_ENGINE_EXACT)) != 0,
					    "json", o.common.json));
}
