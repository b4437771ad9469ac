/* lanes.h - what the learners did in a round, in seconds since its start: spans of phases, waits, commits;
 *and the learner that held the others up.
 *
 *	ana  |train|discover..............|agree|share|...|commit|
 *	     |     |wait: eve, to be ready|                      |
 *	eve  |train.......................|agree|share|...|commit|    slowest: eve in train
 */
#pragma once

#include "tools/timeline/rounds.h"

/* Times are seconds since the start of the run; NaN: not yet. */
struct sl_span {
	uint8_t phase;
	uint32_t attempt;
	double from, to;
};

struct sl_lane_wait {
	double from, to;
	const struct sl_round_wait *wait;
};

/* The program of the learner was started again. */
struct sl_restart {
	double at;
	uint8_t phase; /* that was interrupted; SL_PHASE_COUNT: none, the round began later */
	uint32_t attempt;
};

struct sl_lane {
	uint64_t id;
	const struct sl_part *part;
	struct sl_span *spans;
	struct sl_lane_wait *waits;
	struct sl_restart *restarts; /* since it was done with the round before */
	uint32_t span_count, wait_count, restart_count;
	double commit; /* or when it adopted the result */
};

struct sl_lanes {
	struct sl_lane *lanes; /* ascending by id */
	uint32_t count;
	double from, now; /* the first begin of a phase; the last record of the run */
	double commit;	  /* the last commit; NaN: none */
	bool committed;	  /* a learner has committed */
	uint32_t attempt; /* that committed, or the last one */
	bool over;	  /* nothing more is to come: all participants are done, or in a later round */
};

/* `s` seconds in [from, to]. */
struct sl_cause {
	uint64_t learner;
	double s, from, to;
};

struct sl_slowest {
	bool known;
	uint64_t learner;
	uint8_t phase; /* SL_PHASE_COUNT: not known */
	double s;
};

void sl_lanes_init(struct sl_lanes *lanes, const struct sl_timeline *timeline,
		   const struct sl_timeline_round *round);
void sl_lanes_close(struct sl_lanes *lanes);

/* Return the lane of a learner, or NULL. */
const struct sl_lane *sl_lanes_find(const struct sl_lanes *lanes, uint64_t id);

/* Return true if a wait was first logged so late that the learner did not wait, but stood still: it was
 * stopped, or overloaded. No other learner is the cause of that. */
bool sl_lanes_stood_still(const struct sl_lane_wait *wait);

/* Return how far an awaited learner is the cause of a wait: until it had done its part, but for its own waits
 * for others. */
struct sl_cause sl_lanes_cause(const struct sl_lanes *lanes, const struct sl_lane_wait *wait,
			       uint64_t learner);

/* Return the learner that held the others up most: the awaited one for which they waited longest in sum,
 * while it was not waiting itself; without a logged wait the last one to end the phase whose end took
 * longest. */
struct sl_slowest sl_lanes_slowest(const struct sl_lanes *lanes);
