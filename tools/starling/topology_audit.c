/* `starling topology audit`: its command line. The report is Python: starling_topology/audit.py. */
#include <errno.h>
#include <string.h>

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

static int hand_over(const struct sl_schedule *schedule, struct sl_error *error)
{
	FILE *input = sl_python_input();
	if (input != NULL && sl_schedule_write(schedule, input) == SL_OK && sl_python_reads(input))
		return SL_OK;
	return sl_err_set(error, SL_ERR_FULL, SL_TOPOLOGY_NO_MEMORY, strerror(errno));
}

static int report(const char *name, const struct options *o)
{
	char quorum[16], tolerance[16];
	const char *words[] = {
		name, quorum, tolerance, o->unchanged ? "1" : "0", o->common.json ? "1" : "0", o->coalition};
	snprintf(quorum, sizeof quorum, "%u", o->quorum);
	snprintf(tolerance, sizeof tolerance, "%u", o->common.tolerance);
	return sl_python_run("starling_topology.audit", o->coalition != NULL ? 6 : 5, (char **)words);
}

int sl_topology_audit(int argc, char **argv)
{
	struct options o = {.common.request.seed = 1};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &o);
	int rc = sl_topology_schedule(&o.common.request, &schedule, &error);
	if (rc == SL_OK)
		rc = hand_over(&schedule, &error);
	sl_schedule_close(&schedule);
	return rc == SL_OK ? report(argv[0], &o) : sl_topology_failed("starling topology", &error);
}
