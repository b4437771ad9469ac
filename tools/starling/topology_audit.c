/* `starling topology audit`: its command line. The report is Python: starling_topology/audit.py. */
#include "tools/lib/python.h"
#include "tools/starling/topology.h"
#include "tools/lib/help_texts.h"

#define TOLERANCE_MOST 4

struct options {
	struct sl_topology_options common; /* tolerance 0: not given */
	const char *coalition;		   /* NULL: not given */
	uint32_t quorum;		   /* 0: not given */
	bool unchanged;
};

static void check(struct argp_state *state, const void *options)
{
	const struct options *o = options;
	if (o->coalition != NULL && o->common.tolerance != 0)
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "--coalition names learners, --tolerance searches for coalitions: give one of "
			     "the two");
	if (o->coalition == NULL && o->unchanged)
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "--unchanged needs a coalition: name one with --coalition");
}

static const struct sl_option own[] = {
	{"coalition", 0, "ID,ID...", "learners that pool all they see", SL_SETS(struct options, coalition)},
	{"tolerance", 0, "C", "without --coalition: try all coalitions of up to C learners (1)",
	 SL_SETS(struct options, common.tolerance), 1, TOLERANCE_MOST},
	{"quorum", 0, "Q", "learners that a round takes (more than half)", SL_SETS(struct options, quorum), 2,
	 SL_LEARNERS_MAX},
	{"unchanged", 0, NULL,
	 "with --coalition: assume that models do not change between steps, and combine what the steps "
	 "reveal",
	 SL_SETS(struct options, unchanged)},
	{"json", 0, NULL, "print the report as JSON, with all lists in full",
	 SL_SETS(struct options, common.json)},
	{0}};

static const struct sl_usage usage = {SL_TOPOLOGY_USAGE("NAME[:PARAMETER]|FILE"), .options = own,
				      .check = check, .doc = SL_HELP_TOPOLOGY_AUDIT};

static int report(const char *name, const struct options *o, FILE *schedule)
{
	char quorum[16], tolerance[16];
	const char *words[] = {
		name, quorum, tolerance, o->unchanged ? "1" : "0", o->common.json ? "1" : "0", o->coalition};
	snprintf(quorum, sizeof quorum, "%u", o->quorum);
	snprintf(tolerance, sizeof tolerance, "%u", o->common.tolerance);
	return sl_python_run_on("starling_topology.audit", o->coalition != NULL ? 6 : 5, words, schedule);
}

int sl_topology_audit(int argc, char **argv)
{
	struct options o = {.common.request.seed = 1};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &o);
	if (sl_topology_schedule(&o.common.request, &schedule, &error) != SL_OK)
		return sl_topology_failed("starling topology", &error);
	FILE *input = sl_python_input();
	if (input != NULL)
		sl_schedule_write(&schedule, input);
	sl_schedule_close(&schedule);
	return report(argv[0], &o, input);
}
