#include "tools/timeline/clock.h"

#include <math.h>
#include <stdlib.h>

#include "tools/lib/command.h"

#define SET_S 0.05	  /* a smaller change of wall - mono is noise: the two are read one after the other */
#define SLACK_S 0.001	  /* wall times are cut to milliseconds */
#define SEGMENTS_MOST 64u /* of a log that is sane */

void sl_clock_forget(struct sl_clock *clock)
{
	for (size_t i = 0; i < clock->count; i++)
		clock->segments[i].count = 0;
}

void sl_clock_free(struct sl_clock *clock)
{
	for (size_t i = 0; i < clock->count; i++)
		free(clock->segments[i].intervals);
	free(clock->segments);
	*clock = (struct sl_clock){0};
}

/* Return the number of the segment with this difference of the clocks, from 1; 0: there is none. */
static size_t find(const struct sl_clock *clock, double delta)
{
	size_t i = clock->count;
	while (i > 0 && fabs(clock->segments[i - 1].delta - delta) >= SET_S)
		i--;
	return i;
}

struct sl_instant sl_clock_instant(struct sl_clock *clock, double wall, double mono)
{
	double at = isnan(mono) ? wall : mono, delta = wall - at;
	size_t i = find(clock, delta);
	if (i == 0 && clock->count == SEGMENTS_MOST) {
		i = clock->count;
		at = wall - clock->segments[i - 1].delta;
	} else if (i == 0) {
		clock->segments =
			sl_command_grow(clock->segments, clock->count, &clock->room, sizeof *clock->segments);
		i = ++clock->count;
		clock->segments[i - 1] = (struct sl_clock_segment){.delta = delta};
	}
	struct sl_clock_segment *segment = &clock->segments[i - 1];
	if (delta > segment->delta && delta < segment->delta + SLACK_S)
		segment->delta = delta;
	return (struct sl_instant){at, (uint16_t)(i - 1)};
}

double sl_clock_wall(const struct sl_clock *clock, struct sl_instant instant)
{
	return instant.at + clock->segments[instant.segment].delta;
}

void sl_clock_bound(struct sl_clock *clock, uint16_t segment, uint64_t t, double at_least, double at_most)
{
	struct sl_clock_segment *s = &clock->segments[segment];
	struct sl_clock_interval *last = s->count > 0 ? &s->intervals[s->count - 1] : NULL;
	at_least -= SLACK_S;
	at_most += SLACK_S;
	if (at_least > at_most)
		return; /* the logs contradict the protocol: a wrong record, not a clock */
	if (last == NULL || at_least > last->at_most || at_most < last->at_least) {
		s->intervals = sl_command_grow(s->intervals, s->count, &s->room, sizeof *s->intervals);
		s->intervals[s->count++] = (struct sl_clock_interval){t, at_least, at_most};
		return;
	}
	last->at_least = fmax(last->at_least, at_least);
	last->at_most = fmin(last->at_most, at_most);
}

double sl_clock_interval_offset(const struct sl_clock_interval *interval)
{
	bool believed = interval->at_least <= 0 && interval->at_most >= 0;
	return believed ? 0 : (interval->at_least + interval->at_most) / 2;
}

double sl_clock_offset(const struct sl_clock *clock, uint16_t segment, uint64_t t)
{
	const struct sl_clock_segment *s = &clock->segments[segment];
	size_t i = s->count;
	if (i == 0)
		return 0;
	while (i > 1 && s->intervals[i - 1].from_round > t)
		i--;
	return sl_clock_interval_offset(&s->intervals[i - 1]);
}

double sl_clock_offset_at(const struct sl_clock *clock, double wall, double mono, uint64_t t)
{
	size_t i = find(clock, isnan(mono) ? 0 : wall - mono);
	return i > 0 ? sl_clock_offset(clock, (uint16_t)(i - 1), t) : 0;
}
