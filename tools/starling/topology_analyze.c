/* `starling topology analyze`: its command line. */
#include <string.h>

#include "common/field/field.h"
#include "tools/lib/python.h"
#include "tools/starling/topology.h"
#include "tools/topology/analyze.h"
#include "tools/lib/help_texts.h"

struct options {
	struct sl_topology_options common;
	struct sl_analyze_request request;
};

static void take_modulus(struct argp_state *state, const char *value, void *options)
{
	((struct options *)options)->request.figures.p = sl_prime_or_usage(state, value);
}

static void take_no_exact(struct argp_state *state, const char *value, void *options)
{
	(void)state;
	(void)value;
	((struct options *)options)->request.figures.analysis.engines &= ~SL_ENGINE_SET(SL_ENGINE_EXACT);
}

static const struct sl_option own[] = {
	{"modulus", 0, "PRIME", "p of the field, on which K and exact depend (that of the defaults)",
	 .take = take_modulus},
	{"floats", 0, "N", "parameters of a model (50992)", SL_SETS(struct options, request.figures.floats),
	 1, SL_PARAMETERS_MAX},
	{"tolerance", 0, "C", "how many learners may collude (1)", SL_SETS(struct options, common.tolerance),
	 0, SL_LEARNERS_MAX - 2},
	{"seeded", 0, NULL, "bytes of sharing: seeded, where a share is a seed",
	 SL_SETS(struct options, request.figures.seeded)},
	{"no-exact", 0, NULL, "skip the exact engine, which takes longest with a thousand learners",
	 .take = take_no_exact},
	{"json", 0, NULL, "print a JSON array, with all lists in full", SL_SETS(struct options, common.json)},
	{0}};

static const struct sl_usage usage = {SL_TOPOLOGY_USAGE("NAME[:PARAMETER]|FILE"), .options = own,
				      .doc = SL_HELP_TOPOLOGY_ANALYZE};

/* Run this command with --json, and print a table of it. */
static int show_table(uint32_t tolerance, int argc, char **argv)
{
	char text[16];
	const char **words = sl_command_memory((size_t)argc + 1, sizeof *words);
	snprintf(text, sizeof text, "%u", tolerance);
	words[0] = argv[0];
	words[1] = text;
	memcpy(words + 2, argv + 1, ((size_t)argc - 1) * sizeof *words);
	return sl_python_run("starling_topology.tables", argc + 1, (char **)words);
}

int sl_topology_analyze(int argc, char **argv)
{
	struct options o = {.common = {.request.seed = 1, .tolerance = 1},
			    .request.figures = {.analysis = {.kappa_most = SL_LEARNERS_MAX,
							     .missing = true,
							     .engines = SL_ENGINE_SET_ALL},
						.floats = SL_FLOATS_USUAL}};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &o);
	if (!o.common.json)
		return show_table(o.common.tolerance, argc, argv);
	o.request.tolerance = o.common.tolerance;
	o.request.figures.analysis.tolerance = o.common.tolerance;
	int rc = sl_topology_schedule(&o.common.request, &schedule, &error);
	struct sl_figures_request *figures = &o.request.figures;
	if (rc == SL_OK && figures->p == 0)
		figures->p = sl_p_usual(schedule.learners, figures->floats);
	if (rc == SL_OK)
		rc = sl_analyze_print(&schedule, &o.request, &error);
	sl_schedule_close(&schedule);
	return sl_topology_status(rc, &error);
}
