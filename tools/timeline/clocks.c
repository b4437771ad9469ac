#include "tools/timeline/clocks.h"

#include <math.h>

#define CUT_S 0.001 /* times are cut to milliseconds */

static const struct {
	uint8_t before, after;
} barriers[] = {{SL_PHASE_READY, SL_PHASE_RELEASE}, {SL_PHASE_CHECK, SL_PHASE_CONFIRM}};

/* Of the learners of an attempt: the last to enter the phase before a barrier, the first to pass it. */
struct passage {
	double entered, passed; /* seconds since the start of the run */
	uint64_t last, first;	/* ids */
};

/* A learner that came to the later phase through RECOVER did not need all others. */
static void see_lane(struct passage *passage, const struct sl_lane *lane, uint32_t attempt, size_t barrier)
{
	for (uint32_t i = 0; i < lane->span_count; i++) {
		const struct sl_span *span = &lane->spans[i], *next = span + 1;
		if (span->attempt != attempt || span->phase != barriers[barrier].before)
			continue;
		if (span->from > passage->entered) {
			passage->entered = span->from;
			passage->last = lane->id;
		}
		bool passes = i + 1 < lane->span_count && next->attempt == attempt &&
			      next->phase == barriers[barrier].after;
		if (passes && next->from < passage->passed) {
			passage->passed = next->from;
			passage->first = lane->id;
		}
	}
}

/* Learners that were restarted in the attempt have entered its phases twice. */
static struct passage passage_of(const struct sl_timeline_round *round, const struct sl_lanes *lanes,
				 const struct sl_attempt_row *row, size_t barrier)
{
	struct passage passage = {.entered = -INFINITY, .passed = INFINITY};
	for (uint32_t i = 0; i < lanes->count; i++) {
		const struct sl_lane *lane = &lanes->lanes[i];
		if (!lane->part->resumed && sl_rounds_own_attempt(round, lane->part, row->attempt) == row)
			see_lane(&passage, lane, row->attempt, barrier);
	}
	return passage;
}

struct sl_clock_gap sl_clocks_gap(const struct sl_timeline_round *round, const struct sl_lanes *lanes)
{
	struct sl_clock_gap gap = {0};
	for (uint32_t i = 0; i < round->attempt_count; i++)
		for (size_t b = 0; b < sizeof barriers / sizeof *barriers; b++) {
			struct passage p = passage_of(round, lanes, &round->attempts[i], b);
			double s = p.entered - p.passed;
			if (round->attempts[i].count > 0 && s > CUT_S && s > gap.s && isfinite(s))
				gap = (struct sl_clock_gap){s, p.last, p.first};
		}
	return gap;
}
