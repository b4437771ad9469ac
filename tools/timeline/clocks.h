/* clocks.h - how far the clocks of two learners differ at least, from the order of messages.
 *
 * A learner enters RELEASE when it holds the Ready of every participant, and a participant signs its Ready in
 * READY (ROUND.md §7.12 Release); it enters CONFIRM when it holds the Checksum of every participant, which
 * each sends in CHECK (§8.7 Checking what was passed on). Where the log of one learner has the second before
 * the log of another has the first, their clocks differ.
 */
#pragma once

#include "tools/timeline/lanes.h"

/* The clock of `ahead` is at least `s` seconds ahead of that of `behind`; ids. s = 0: none is known to be. */
struct sl_clock_gap {
	double s;
	uint64_t ahead, behind;
};

/* Return the largest gap that a round shows. */
struct sl_clock_gap sl_clocks_gap(const struct sl_timeline_round *round, const struct sl_lanes *lanes);
