/* `starling topology audit`: its command line. */
#include <stdlib.h>
#include <string.h>

#include "common/base/number.h"
#include "tools/topology/audit.h"
#include "tools/starling/topology.h"
#include "tools/topology/participants.h"
#include "tools/topology/weak.h"

enum { KEY_SUSPECTS = 256, KEY_TOLERANCE, KEY_QUORUM, KEY_UNCHANGED };

#define EXIT_NOT_PRIVATE 3

struct options {
	struct sl_topology_options common; /* tolerance 0: not said */
	const char *suspects;		   /* NULL: not said */
	uint32_t quorum;		   /* 0: not said */
	bool unchanged;
};

static void check(const struct options *o, struct argp_state *state)
{
	if (o->suspects != NULL && o->common.tolerance != 0)
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "--suspects names a coalition, --tolerance looks for some: one of them");
	if (o->suspects == NULL && o->unchanged)
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "--unchanged is about a coalition; name one with --suspects");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case KEY_SUSPECTS:
		o->suspects = arg;
		return 0;
	case KEY_TOLERANCE:
		o->common.tolerance =
			(uint32_t)sl_number_or_usage(state, "--tolerance", arg, 1, SL_WEAK_MOST);
		return 0;
	case KEY_QUORUM:
		o->quorum = (uint32_t)sl_number_or_usage(state, "--quorum", arg, 2, SL_LEARNERS_MAX);
		return 0;
	case KEY_UNCHANGED:
		o->unchanged = true;
		return 0;
	case ARGP_KEY_END:
		check(o, state);
		return 0;
	default:
		return sl_topology_option(key, arg, state);
	}
}

static const struct argp_option options[] = {
	{"suspects", KEY_SUSPECTS, "ID,ID...", 0, "learners that pool all they see", 0},
	{"tolerance", KEY_TOLERANCE, "C", 0, "without --suspects: try all coalitions of up to C learners (1)",
	 0},
	{"quorum", KEY_QUORUM, "Q", 0, "learners that a round takes (more than half)", 0},
	{"unchanged", KEY_UNCHANGED, NULL, 0,
	 "with --suspects: what the steps tell together, if no model changes, counts too", 0},
	{"json", SL_KEY_JSON, NULL, 0, "print the report as JSON, with all lists in full", 0},
	{0}};
static const struct argp argp = {
	options,
	parse,
	"NAME[:PARAMETER]|FILE",
	"Tell what learners who pool all they see learn about the others' models, step by step: exactly "
	"which sums, if the step is played as it is. \"-\" reads the schedule from standard input.\v"
	"Without them the others fall into groups that reach each other only through them. Of each group "
	"they learn the sum of its models, and nothing else. One group is no more than the mean, which "
	"everybody gets; a group of one is that learner's model. If no model changed between the steps, the "
	"sums of all steps could be combined; training changes them. Who is not with the majority takes no "
	"part.\n"
	"\n"
	"Examples:\n"
	"  starling topology audit walk.txt --suspects 3,5\n"
	"  starling topology audit walk.txt\n"
	"  starling topology audit grid -n 25 --tolerance 2\n"
	"\n"
	"Exit status: 0 nobody asked about learns more than the mean; 3 somebody does; 1 failed; 2 bad "
	"input.\n",
	sl_topology_source,
	sl_topology_families,
	NULL};

static int mark_suspects(const char *text, uint32_t n, bool *mark, struct sl_error *error)
{
	for (const char *at = text;; at++) {
		size_t digits = strspn(at, "0123456789");
		unsigned long id = digits > 0 ? strtoul(at, NULL, 10) : 0; /* far too large: ULONG_MAX */
		if (digits == 0 || (at[digits] != ',' && at[digits] != '\0'))
			return sl_err_set(error, SL_ERR_INVALID, "--suspects %s: ids and commas, as in 3,5",
					  text);
		if (id < 1 || id > n)
			return sl_err_set(error, SL_ERR_INVALID,
					  "--suspects %s: unknown learner %.*s (learners are 1 to %u)", text,
					  (int)digits, at, n);
		mark[id - 1] = true;
		at += digits;
		if (*at == '\0')
			return SL_OK;
	}
}

/* Reads "3,5"; the suspects come out in order. */
static int read_suspects(const char *text, uint32_t n, uint32_t *suspects, size_t *count,
			 struct sl_error *error)
{
	bool mark[SL_LEARNERS_MAX] = {false};
	int rc = mark_suspects(text, n, mark, error);
	for (uint32_t v = 0; v < n; v++)
		if (mark[v])
			suspects[(*count)++] = v;
	if (rc == SL_OK && *count == n)
		rc = sl_err_set(error, SL_ERR_INVALID,
				"--suspects %s: these are all; nobody is left to learn about", text);
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
	uint32_t suspects[SL_LEARNERS_MAX], n = schedule->learners, c = o->common.tolerance;
	struct sl_audit_request r = {.schedule = schedule,
				     .quorum = o->quorum != 0 ? o->quorum : sl_participants_majority(n),
				     .suspects = suspects,
				     .tolerance = c != 0 ? c : 1,
				     .unchanged = o->unchanged,
				     .json = o->common.json};
	int rc = check_quorum(o->quorum, n, error);
	if (rc == SL_OK && o->suspects != NULL)
		rc = read_suspects(o->suspects, n, suspects, &r.count, error);
	if (rc != SL_OK)
		return rc;
	return (o->suspects != NULL ? sl_audit_suspects : sl_audit_weak)(&r, stdout, beyond, error);
}

int sl_topology_audit(int argc, char **argv)
{
	struct options o = {.common.request.seed = 1};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	bool beyond = false;
	sl_topology_parse_args(&argp, argc, argv, &o);
	int rc = sl_topology_schedule(&o.common.request, &schedule, &error);
	if (rc == SL_OK)
		rc = audit(&o, &schedule, &beyond, &error);
	sl_schedule_close(&schedule);
	return rc == SL_OK && beyond ? EXIT_NOT_PRIVATE : sl_topology_status(rc, &error);
}
