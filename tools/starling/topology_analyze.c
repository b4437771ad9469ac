/* `starling topology analyze`: its command line. */
#include "common/field/field.h"
#include "tools/lib/option.h"
#include "tools/starling/topology.h"
#include "tools/topology/analyze.h"

enum { KEY_MODULUS = 256, KEY_FLOATS, KEY_SEEDED, KEY_NO_EXACT };

struct options {
	struct sl_topology_options common;
	struct sl_analyze_request request;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	struct sl_figures_request *figures = &o->request.figures;
	switch (key) {
	case KEY_MODULUS:
		figures->p = sl_prime_or_usage(state, "--modulus", arg);
		return 0;
	case KEY_FLOATS:
		figures->floats =
			(uint32_t)sl_number_or_usage(state, "--floats", arg, 1, SL_ELEMENTS_MAX - 1);
		return 0;
	case KEY_SEEDED:
		figures->seeded = true;
		return 0;
	case KEY_NO_EXACT:
		figures->analysis.engines &= ~SL_ENGINE_SET(SL_ENGINE_EXACT);
		return 0;
	default:
		return sl_topology_option(key, arg, state);
	}
}

static const struct argp_option options[] = {
	{"modulus", KEY_MODULUS, "PRIME", 0, "p of the field, on which K and exact depend (2147483647)", 0},
	{"floats", KEY_FLOATS, "N", 0, "parameters of a model (50992)", 0},
	{"tolerance", SL_KEY_TOLERANCE, "C", 0, "how many learners may collude (1)", 0},
	{"seeded", KEY_SEEDED, NULL, 0, "bytes of sharing: seeded, where a share is a seed", 0},
	{"no-exact", KEY_NO_EXACT, NULL, 0,
	 "skip the exact engine, which takes longest with a thousand learners", 0},
	{"json", SL_KEY_JSON, NULL, 0, "print a JSON array, with all lists in full", 0},
	{0}};
static const struct argp argp = {
	options,
	parse,
	"NAME[:PARAMETER]|FILE",
	"Analyze each step of a schedule: how many colluding learners it tolerates, and what mixing on it "
	"costs. "
	"\"-\" reads a schedule from standard input.\v"
	"Examples:\n"
	"  starling topology analyze ring -n 10\n"
	"  starling topology analyze neighbours:20 -n 100 --modulus 1020431\n"
	"  starling topology analyze walk.txt --tolerance 2 --json\n"
	"\n"
	"kappa is the vertex connectivity: the least number of learners without which the others are not "
	"connected. "
	"c = kappa - 1 learners may collude and learn no more than the mean. mu is the largest modulus of an "
	"eigenvalue below 1 of the mixing matrix. K, exact and tree are the exchanges of the engines "
	"metropolis, "
	"exact and tree; - stands where an engine cannot run. MB to send: what a learner sends in a round of "
	"the "
	"default engine (mixing: exact), in the mean and at most.\n",
	sl_topology_source,
	sl_topology_families,
	NULL};

int sl_topology_analyze(int argc, char **argv)
{
	struct options o = {.common = {.request.seed = 1, .tolerance = 1},
			    .request.figures = {.analysis = {.kappa_most = SL_LEARNERS_MAX,
							     .missing = true,
							     .engines = SL_ENGINE_SET_ALL},
						.p = SL_P_MERSENNE31,
						.floats = SL_FLOATS_USUAL}};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	sl_topology_parse_args(&argp, argc, argv, &o);
	o.request.tolerance = o.common.tolerance;
	o.request.figures.analysis.tolerance = o.common.tolerance;
	o.request.json = o.common.json;
	int rc = sl_topology_schedule(&o.common.request, &schedule, &error);
	if (rc == SL_OK)
		rc = sl_analyze_print(&schedule, &o.request, stdout, &error);
	sl_schedule_close(&schedule);
	return sl_topology_status(rc, &error);
}
