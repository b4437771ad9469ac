#include "tools/timeline/offsets.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* When a learner entered `before` and then `after` in an attempt. */
struct passage {
	bool known;
	double before, after; /* own clock, seconds */
	uint16_t segment;     /* of both */
};

static const struct {
	uint8_t before, after;
} barriers[] = {{SL_PHASE_READY, SL_PHASE_RELEASE}, {SL_PHASE_CHECK, SL_PHASE_CONFIRM}};
#define BARRIERS 2

/* Find the passages of an attempt. One that was interrupted by RECOVER is none: it did not need all. */
static void find_passages(const struct sl_timeline_learner *learner, const struct sl_part *part,
			  uint32_t attempt, struct passage passages[static BARRIERS])
{
	for (int b = 0; b < BARRIERS; b++) {
		const struct sl_entry *from = NULL;
		passages[b].known = false;
		for (uint32_t i = 0; i < part->entry_count; i++) {
			const struct sl_entry *e = &part->entries[i];
			if (e->attempt != attempt)
				continue;
			if (from != NULL && e->phase == barriers[b].after && e->segment == from->segment &&
			    e->at >= from->at) {
				double delta = learner->clock.segments[e->segment].delta;
				passages[b] =
					(struct passage){true, from->at + delta, e->at + delta, e->segment};
			}
			if (from == NULL || e->phase != barriers[b].before)
				from = e->phase == barriers[b].before ? e : NULL;
		}
	}
}

static bool has_reference(const struct sl_timeline *timeline, const struct sl_timeline_round *round)
{
	uint32_t r = timeline->reference;
	return r < round->part_count && round->parts[r] != NULL && !round->parts[r]->resumed;
}

/* Bound the offset of the learner at `place` by an attempt in which it had the view of the reference. */
static void bound(struct sl_timeline *timeline, const struct sl_timeline_round *round, uint32_t place,
		  uint32_t attempt, const struct passage own[static BARRIERS])
{
	struct passage theirs[BARRIERS];
	struct sl_timeline_learner *learner = &timeline->learners[place];
	find_passages(learner, round->parts[place], attempt, theirs);
	double at_least = -INFINITY, at_most = INFINITY;
	uint16_t segment = 0;
	for (int b = 0; b < BARRIERS; b++) {
		if (!own[b].known || !theirs[b].known || (isfinite(at_most) && theirs[b].segment != segment))
			continue;
		segment = theirs[b].segment;
		at_least = fmax(at_least, theirs[b].before - own[b].after);
		at_most = fmin(at_most, theirs[b].after - own[b].before);
	}
	if (isfinite(at_most))
		sl_clock_bound(&learner->clock, segment, round->t, at_least, at_most);
}

static void take_up(struct sl_timeline *timeline, const struct sl_timeline_round *round)
{
	struct passage own[BARRIERS];
	if (!has_reference(timeline, round))
		return;
	const struct sl_part *reference = round->parts[timeline->reference];
	for (uint32_t v = 0; v < reference->view_count; v++) {
		struct sl_own_view view = reference->views[v];
		find_passages(&timeline->learners[timeline->reference], reference, view.attempt, own);
		for (uint32_t i = 0; i < round->part_count; i++) {
			const struct sl_part *part = round->parts[i];
			if (part == NULL || part == reference || part->resumed)
				continue;
			if (sl_rounds_own_attempt(round, part, view.attempt) == &round->attempts[view.row])
				bound(timeline, round, i, view.attempt, own);
		}
	}
}

static void take_up_from(struct sl_timeline *timeline, uint64_t t)
{
	for (size_t i = sl_rounds_place(timeline, t); i < timeline->count; i++)
		take_up(timeline, &timeline->rounds[i]);
}

/* ---- the reference ---- */

static void take_reference(struct sl_timeline *timeline, uint32_t reference)
{
	timeline->reference = reference;
	for (uint32_t i = 0; i < timeline->learner_count; i++)
		sl_clock_forget(&timeline->learners[i].clock);
	take_up_from(timeline, 0);
}

/* A clock that was never set is better than one that was. */
static bool is_better(const struct sl_timeline_learner *a, const struct sl_timeline_learner *b)
{
	bool steady = a->clock.count == 1;
	return steady != (b->clock.count == 1) ? steady : a->releases > b->releases;
}

static uint32_t most_active(const struct sl_timeline *timeline)
{
	uint32_t best = timeline->order[0];
	for (uint32_t i = 0; i < timeline->learner_count; i++)
		if (is_better(&timeline->learners[timeline->order[i]], &timeline->learners[best]))
			best = timeline->order[i];
	return best;
}

struct offset {
	double s;
	uint32_t place;
};

static int by_offset(const void *a, const void *b)
{
	const struct offset *x = a, *y = b;
	return x->s != y->s ? (x->s > y->s) - (x->s < y->s) : (x->place > y->place) - (x->place < y->place);
}

/* Return the learner whose clock is in the middle of all that run steadily, beside the reference: the
 * reference itself unless it is the one that is wrong. */
static uint32_t middle(const struct sl_timeline *timeline)
{
	struct offset *offsets = calloc(timeline->learner_count, sizeof *offsets);
	assert(offsets != NULL);
	uint32_t n = 0;
	for (uint32_t i = 0; i < timeline->learner_count; i++) {
		const struct sl_clock *clock = &timeline->learners[i].clock;
		const struct sl_clock_interval *interval = clock->segments[0].intervals;
		if (i == timeline->reference)
			offsets[n++] = (struct offset){0, i};
		else if (clock->count == 1 && clock->segments[0].count == 1)
			offsets[n++] = (struct offset){sl_clock_interval_offset(interval), i};
	}
	qsort(offsets, n, sizeof *offsets, by_offset);
	struct offset chosen = offsets[(n - 1) / 2];
	free(offsets);
	return chosen.s == 0 ? timeline->reference : chosen.place;
}

/* ---- the run ---- */

double sl_offsets_time(const struct sl_timeline *timeline, uint32_t place, struct sl_instant instant,
		       uint64_t t)
{
	const struct sl_clock *clock = &timeline->learners[place].clock;
	return sl_clock_wall(clock, instant) - sl_clock_offset(clock, instant.segment, t);
}

static double run_start(const struct sl_timeline *timeline)
{
	double start = INFINITY;
	for (uint32_t i = 0; i < timeline->learner_count; i++)
		start = fmin(start, sl_offsets_time(timeline, i, timeline->learners[i].first, 0));
	return isfinite(start) ? start : 0;
}

/* Return a number that differs if an offset, or the start, differs by a millisecond. */
static uint64_t corrections(const struct sl_timeline *timeline)
{
	uint64_t hash = (uint64_t)llround(timeline->start * 1000);
	for (uint32_t i = 0; i < timeline->learner_count; i++) {
		const struct sl_clock *clock = &timeline->learners[i].clock;
		for (size_t s = 0; s < clock->count; s++)
			for (size_t k = 0; k < clock->segments[s].count; k++) {
				double offset = sl_clock_interval_offset(&clock->segments[s].intervals[k]);
				if (offset != 0)
					hash = (hash ^ (i + 1)) * 0x100000001b3 +
					       (uint64_t)llround(offset * 1000);
			}
	}
	return hash;
}

static void take_bounds(struct sl_timeline *timeline)
{
	uint64_t from = timeline->bounds_from;
	timeline->bounds_from = 0;
	if (from == 0)
		return;
	if (timeline->bounded_to != 0 && from >= timeline->bounded_to) {
		take_up_from(timeline, from);
	} else {
		take_reference(timeline, most_active(timeline));
		uint32_t better = middle(timeline);
		if (better != timeline->reference)
			take_reference(timeline, better);
	}
	timeline->bounded_to = timeline->rounds[timeline->count - 1].t;
}

void sl_offsets_settle(struct sl_timeline *timeline)
{
	if (timeline->learner_count == 0)
		return;
	take_bounds(timeline);
	timeline->start = run_start(timeline);
	uint64_t now = corrections(timeline);
	if (now == timeline->corrections)
		return;
	timeline->corrections = now;
	timeline->version++;
	for (size_t i = 0; i < timeline->count; i++)
		timeline->rounds[i].version = timeline->version;
}
