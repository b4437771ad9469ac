/* clock.h - the clock of one learner: its wall clock, and by how much that is ahead of the reference.
 *
 * The time of a record is taken from its monotonic clock, which is finer than the wall clock and never set;
 * their difference is constant until the wall clock is set or the machine restarts. Then a new segment
 * begins. Within a segment messages bound the offset from the reference: an event that must follow another
 * one did follow it (offsets.h). All bounds of a segment are intersected; where one contradicts those before,
 * because a clock drifts or the reference was set, a new interval begins with its round.
 *
 *      offset > 0: ahead        at_least   0    at_most
 *                            ------|-------+-------|------->     0 is possible: the clock is not corrected
 *                            ------+-------|---x---|------->     it is not: the middle is taken
 */
#pragma once

#include "common/base/types.h"

struct sl_clock_interval {
	uint64_t from_round;
	double at_least, at_most; /* bounds of the offset, seconds */
};

struct sl_clock_segment {
	double delta; /* wall clock minus monotonic clock, seconds; the largest seen, since wall times are cut
		       */
	struct sl_clock_interval *intervals;
	size_t count, room;
};

struct sl_clock {
	struct sl_clock_segment *segments;
	size_t count, room;
};

/* A point in time on the clock of one learner. */
struct sl_instant {
	double at; /* monotonic clock, seconds */
	uint16_t segment;
};

void sl_clock_free(struct sl_clock *clock);

/* Return the instant of a record; `wall` and `mono` in seconds. NaN as `mono`: there is none. */
struct sl_instant sl_clock_instant(struct sl_clock *clock, double wall, double mono);
/* Return its wall clock time, not corrected. */
double sl_clock_wall(const struct sl_clock *clock, struct sl_instant instant);

/* Forget all bounds. */
void sl_clock_forget(struct sl_clock *clock);
/* Take up bounds from round t, which is not below those before. */
void sl_clock_bound(struct sl_clock *clock, uint16_t segment, uint64_t t, double at_least, double at_most);

/* Return by how many seconds the clock is ahead in an interval. */
double sl_clock_interval_offset(const struct sl_clock_interval *interval);
/* Return by how many seconds it is ahead in round t; 0 where there is no bound. */
double sl_clock_offset(const struct sl_clock *clock, uint16_t segment, uint64_t t);
/* The same for a time that need not be of a record. */
double sl_clock_offset_at(const struct sl_clock *clock, double wall, double mono, uint64_t t);
