/* `starling topology audit`: its command line. */
#include <stdlib.h>
#include <string.h>

#include "tools/topology/audit.h"
#include "tools/starling/topology.h"
#include "tools/topology/participants.h"
#include "tools/topology/weak.h"

#define EXIT_NOT_PRIVATE 3

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
	 SL_SETS(struct options, common.tolerance), 1, SL_WEAK_MOST},
	{"quorum", 0, "Q", "learners that a round takes (more than half)", SL_SETS(struct options, quorum), 2,
	 SL_LEARNERS_MAX},
	{"unchanged", 0, NULL,
	 "with --coalition: assume that models do not change between steps, and combine what the steps "
	 "reveal",
	 SL_SETS(struct options, unchanged)},
	{"json", 0, NULL, "print the report as JSON, with all lists in full",
	 SL_SETS(struct options, common.json)},
	{0}};

static const struct sl_usage usage = {
	SL_TOPOLOGY_USAGE("NAME[:PARAMETER]|FILE"), .options = own, .check = check,
	.doc = "Report what learners that pool all they see learn about the models of the others: exactly "
	       "which sums, step by step, if each step is played as it is. \"-\" reads the schedule from "
	       "standard input.\v"
	       "Without the coalition, the other learners fall into groups that reach each other only "
	       "through it. The coalition learns the sum of the models of each group, and nothing else. One "
	       "group reveals no more than the mean, which every participant gets; a group of one learner "
	       "reveals its model. If no model changed between the steps, the sums of all steps could be "
	       "combined; training changes them. Learners that are not connected to the majority do not take "
	       "part.\n"
	       "\n"
	       "Examples:\n"
	       "  starling topology audit walk.txt --coalition 3,5\n"
	       "  starling topology audit walk.txt\n"
	       "  starling topology audit grid -n 25 --tolerance 2\n"
	       "\n"
	       "Exit status: 0 no coalition in question learns more than the mean; 3 one does; 1 failed; 2 "
	       "bad input.\n"};

static int mark_coalition(const char *text, uint32_t n, bool *mark, struct sl_error *error)
{
	for (const char *at = text;; at++) {
		size_t digits = strspn(at, "0123456789");
		unsigned long id = digits > 0 ? strtoul(at, NULL, 10) : 0; /* far too large: ULONG_MAX */
		if (digits == 0 || (at[digits] != ',' && at[digits] != '\0'))
			return sl_err_set(error, SL_ERR_INVALID,
					  "--coalition %s: must be ids and commas, as in 3,5", text);
		if (id < 1 || id > n)
			return sl_err_set(error, SL_ERR_INVALID,
					  "--coalition %s: unknown learner %.*s (learners are 1 to %u)", text,
					  (int)digits, at, n);
		mark[id - 1] = true;
		at += digits;
		if (*at == '\0')
			return SL_OK;
	}
}

/* Read "3,5" into *count ascending vertices. */
static int read_coalition(const char *text, uint32_t n, uint32_t *coalition, size_t *count,
			  struct sl_error *error)
{
	bool mark[SL_LEARNERS_MAX] = {false};
	int rc = mark_coalition(text, n, mark, error);
	for (uint32_t v = 0; v < n; v++)
		if (mark[v])
			coalition[(*count)++] = v;
	if (rc == SL_OK && *count == n)
		rc = sl_err_set(error, SL_ERR_INVALID,
				"--coalition %s: these are all learners; leave out at least one", text);
	return rc;
}

static int check_quorum(uint32_t quorum, uint32_t n, struct sl_error *error)
{
	if (quorum == 0 || (quorum >= sl_participants_majority(n) && quorum <= n))
		return SL_OK;
	return sl_err_set(error, SL_ERR_INVALID, "--quorum %u: must be %u to %u of %u learners", quorum,
			  sl_participants_majority(n), n, n);
}

static int audit(const struct options *o, const struct sl_schedule *schedule, bool *beyond,
		 struct sl_error *error)
{
	uint32_t coalition[SL_LEARNERS_MAX], n = schedule->learners, c = o->common.tolerance;
	struct sl_audit_request r = {.schedule = schedule,
				     .quorum = o->quorum != 0 ? o->quorum : sl_participants_majority(n),
				     .coalition = coalition,
				     .tolerance = c != 0 ? c : 1,
				     .unchanged = o->unchanged,
				     .json = o->common.json};
	int rc = check_quorum(o->quorum, n, error);
	if (rc == SL_OK && o->coalition != NULL)
		rc = read_coalition(o->coalition, n, coalition, &r.count, error);
	if (rc != SL_OK)
		return rc;
	return (o->coalition != NULL ? sl_audit_named : sl_audit_weak)(&r, stdout, beyond, error);
}

int sl_topology_audit(int argc, char **argv)
{
	struct options o = {.common.request.seed = 1};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	bool beyond = false;
	sl_option_parse(&usage, argc, argv, &o);
	int rc = sl_topology_schedule(&o.common.request, &schedule, &error);
	if (rc == SL_OK)
		rc = audit(&o, &schedule, &beyond, &error);
	sl_schedule_close(&schedule);
	return rc == SL_OK && beyond ? EXIT_NOT_PRIVATE : sl_topology_status(rc, &error);
}
