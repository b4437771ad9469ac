/* offsets.h - by how much the clocks of the learners differ, from the messages that they must have exchanged.
 *
 * A learner enters RELEASE when it holds the Ready of every participant, and a participant signs its Ready in
 * READY (PROTOCOL.md §7.12 Release); it goes from CHECK to CONFIRM when it holds the Checksum of every
 * participant (§8.7 Checking what was passed on). So with the clocks of the reference r and of learner i, and
 * o the offset of i:
 *
 *	i enters READY   before r enters RELEASE:     READY_i - o  <  RELEASE_r
 *	r enters READY   before i enters RELEASE:     READY_r      <  RELEASE_i - o
 *
 * The reference is, of the learners whose clock was never set, the one that released most often; if the
 * clocks of most others say that it is wrong, a learner whose clock is in the middle.
 */
#pragma once

#include "tools/timeline/rounds.h"

/* Take up the bounds of all records so far, and the start of the run. If times of documents change by this,
 * raise the versions of all rounds. */
void sl_offsets_settle(struct sl_timeline *timeline);

/* Return the time of an instant of the learner at `place` in round t: seconds since 1970 on the clock of the
 * reference. */
double sl_offsets_time(const struct sl_timeline *timeline, uint32_t place, struct sl_instant instant,
		       uint64_t t);
