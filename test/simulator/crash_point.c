/* The points at which a learner may crash: before an action of a step, or when work is done and its core does
 * not know it yet. */
#include "test/simulator/fault_kinds.h"

enum { ASKED, DONE_UNTOLD };
struct point {
	const char *name;
	int when;
	int kind; /* of the action, or of the work */
	int part; /* of the record, message, job, phase; -1: there is none */
};
#define REQUEST(r) "before it asks for " #r, ASKED, SL_ACTION_PERSIST, SL_PERSIST_##r
#define WRITTEN(r) "when " #r " is written", DONE_UNTOLD, SL_WORK_PERSIST, SL_PERSIST_##r
#define SEND(m) "before it sends " #m, ASKED, SL_ACTION_SEND, SL_MSG_##m
#define MOVE(p) "as it enters " #p, ASKED, SL_ACTION_REPORT, SL_PHASE_##p
#define JOB(j) "when " #j " has run", DONE_UNTOLD, SL_WORK_JOB, SL_JOB_##j
static const struct point points[] = {
	{REQUEST(ABORTED)},
	{REQUEST(PREPARED)},
	{REQUEST(RELEASED)},
	{REQUEST(OVER)},
	{REQUEST(COMMIT)},
	{WRITTEN(ABORTED)},
	{WRITTEN(PREPARED)},
	{WRITTEN(RELEASED)},
	{WRITTEN(OVER)},
	{WRITTEN(COMMIT)},
	{SEND(HELLO)},
	{SEND(LINK_STATE)},
	{SEND(READY)},
	{SEND(SHARE)},
	{SEND(STATE)},
	{SEND(DIGEST)},
	{SEND(ABORT)},
	{SEND(HAVE)},
	{SEND(DEPOSIT)},
	{SEND(KEY_SHARE)},
	{SEND(KEY)},
	{SEND(REQUEST)},
	{SEND(RESULT)},
	{MOVE(DISCOVER)},
	{MOVE(AGREE)},
	{MOVE(SHARE)},
	{MOVE(READY)},
	{MOVE(RELEASE)},
	{MOVE(MIX)},
	{MOVE(CONFIRM)},
	{MOVE(COMMIT)},
	{MOVE(RECOVER)},
	{MOVE(CATCHUP)},
	{MOVE(DONE)},
	{JOB(ANALYSE)},
	{JOB(ENCODE)},
	{JOB(SHARE)},
	{JOB(GATHER)},
	{JOB(EXPAND)},
	{JOB(COMMITMENT)},
	{JOB(MIX)},
	{JOB(CLOSE)},
	{JOB(ACCEPT)},
	{JOB(SECRETS)},
	{JOB(DEPOSIT)},
	{JOB(FETCH)},
	{JOB(CHECK)},
	{JOB(SUM)},
	{JOB(ABSORB)},
	{JOB(ADOPT)},
	{"before training", ASKED, SL_ACTION_TRAIN, -1},
	{"before wiping", ASKED, SL_ACTION_WIPE, -1},
};
const uint32_t sl_sim_point_count = sizeof points / sizeof *points;
static_assert(sizeof points / sizeof *points <= SL_SIM_POINTS_MOST, "a tally has room for them");

const char *sl_sim_point_name(uint32_t point)
{
	return points[point].name;
}

static int part_of_action(const struct sl_action *action)
{
	switch (action->kind) {
	case SL_ACTION_PERSIST:
		return (int)action->persist.what.kind;
	case SL_ACTION_SEND:
		return (int)action->send.message.kind;
	case SL_ACTION_REPORT:
		return action->report.kind == SL_REPORT_PHASE ? (int)action->report.phase : -2;
	default:
		return -1;
	}
}

bool sl_sim_point_met(uint32_t number, const struct sl_action *action, const struct sl_work *work)
{
	const struct point *point = &points[number];
	if ((point->when == ASKED) != (action != NULL))
		return false;
	if (action != NULL)
		return (int)action->kind == point->kind && part_of_action(action) == point->part;
	if ((int)work->kind != point->kind)
		return false;
	return point->part ==
	       (work->kind == SL_WORK_PERSIST ? (int)work->record.what.kind : (int)work->job.kind);
}
