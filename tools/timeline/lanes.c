#include "tools/timeline/lanes.h"

#include <math.h>
#include <stdlib.h>

#include "tools/lib/command.h"

#define STOOD_STILL_S 5 /* a wait is first logged after a second */

struct making {
	const struct sl_timeline *timeline;
	const struct sl_timeline_round *round;
	struct sl_lane *lane;
	uint32_t place;
};

static double time_of(const struct making *m, double at)
{
	return at - m->timeline->start;
}

/* ---- spans ---- */

static int by_begin(const void *a, const void *b)
{
	const struct sl_span *x = a, *y = b;
	return (x->from > y->from) - (x->from < y->from);
}

/* Return when the learner began a later round, or NaN. */
static double next_round_s(const struct making *m)
{
	const struct sl_timeline *timeline = m->timeline;
	for (size_t i = sl_rounds_place(timeline, m->round->t + 1); i < timeline->count; i++) {
		const struct sl_timeline_round *later = &timeline->rounds[i];
		const struct sl_part *part = m->place < later->part_count ? later->parts[m->place] : NULL;
		if (part != NULL && part->entry_count > 0)
			return time_of(m, part->entries[0].at);
	}
	return NAN;
}

/* A record of the phase TRAIN may follow that of the training; it does not end it. */
static bool ends(const struct sl_span *span, const struct sl_span *next)
{
	return span->phase != SL_PHASE_TRAIN || next->phase != SL_PHASE_COUNT || next->attempt == 0;
}

/* Return when the last span of a learner ended; NaN: it has not. */
static double last_end(const struct making *m, const struct sl_span *span)
{
	if (m->lane->commit >= span->from)
		return m->lane->commit;
	double next = next_round_s(m);
	return isnan(next) ? NAN : fmax(next, span->from);
}

static void close_spans(const struct making *m, struct sl_span *all, uint32_t n)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t next = i + 1;
		while (next < n && !ends(&all[i], &all[next]))
			next++;
		struct sl_span span = all[i];
		if (span.phase == SL_PHASE_COUNT)
			continue;
		span.to = next < n ? all[next].from : last_end(m, &span);
		for (uint32_t k = next; span.attempt == 0 && k < n; k++)
			span.attempt = all[k].attempt;
		all[kept++] = span;
	}
	m->lane->spans = all;
	m->lane->span_count = kept;
}

static void make_spans(struct making *m)
{
	const struct sl_part *part = m->lane->part;
	struct sl_span *all = sl_command_memory(part->entry_count + 1u, sizeof *all);
	bool training = false;
	uint32_t n = 0;
	for (uint32_t i = 0; i < part->entry_count; i++) {
		const struct sl_entry *e = &part->entries[i];
		training |= e->phase == SL_PHASE_TRAIN;
		all[n++] =
			(struct sl_span){.phase = e->phase, .attempt = e->attempt, .from = time_of(m, e->at)};
	}
	if (part->trained && !training && !isnan(part->train_s))
		all[n++] = (struct sl_span){.phase = SL_PHASE_TRAIN,
					    .from = time_of(m, part->trained_at) - part->train_s};
	qsort(all, n, sizeof *all, by_begin);
	close_spans(m, all, n);
}

/* ---- waits ---- */

/* A wait ends with the phase in which it was last logged. */
static double wait_end(const struct making *m, const struct sl_round_wait *wait)
{
	double end = NAN, seen = time_of(m, wait->seen);
	if (wait->ended)
		return time_of(m, wait->to);
	for (uint32_t i = 0; i < m->lane->span_count && m->lane->spans[i].from <= seen; i++)
		end = m->lane->spans[i].to;
	return end;
}

static void make_waits(struct making *m)
{
	const struct sl_part *part = m->lane->part;
	m->lane->waits = sl_command_memory(part->wait_count + 1u, sizeof *m->lane->waits);
	m->lane->wait_count = part->wait_count;
	for (uint32_t i = 0; i < part->wait_count; i++) {
		double from = time_of(m, part->waits[i].from);
		m->lane->waits[i] =
			(struct sl_lane_wait){from, wait_end(m, &part->waits[i]), &part->waits[i]};
	}
}

/* ---- restarts ---- */

/* Return when the learner was done with the round before, or NaN. */
static double previous_round_s(const struct making *m)
{
	const struct sl_timeline *timeline = m->timeline;
	for (size_t i = sl_rounds_place(timeline, m->round->t); i-- > 0;) {
		const struct sl_timeline_round *earlier = &timeline->rounds[i];
		const struct sl_part *part = m->place < earlier->part_count ? earlier->parts[m->place] : NULL;
		if (part == NULL || part->entry_count == 0)
			continue;
		const struct sl_entry *last = &part->entries[part->entry_count - 1];
		return time_of(m, part->committed ? part->commit : last->at);
	}
	return NAN;
}

static struct sl_restart restart_at(const struct sl_lane *lane, double at)
{
	struct sl_restart restart = {at, SL_PHASE_COUNT, 0};
	for (uint32_t i = 0; i < lane->span_count && lane->spans[i].from <= at; i++) {
		restart.phase = lane->spans[i].phase;
		restart.attempt = restart.phase != SL_PHASE_TRAIN ? lane->spans[i].attempt : 0;
	}
	return restart;
}

/* The first start of a learner comes after no round and no phase. */
static void make_restarts(struct making *m)
{
	const struct sl_timeline_learner *learner = &m->timeline->learners[m->place];
	struct sl_lane *lane = m->lane;
	double from = previous_round_s(m), to = isnan(lane->commit) ? next_round_s(m) : lane->commit;
	if (isnan(from))
		from = lane->span_count > 0 ? lane->spans[0].from : NAN;
	lane->restarts = sl_command_memory(learner->start_count + 1u, sizeof *lane->restarts);
	for (uint32_t i = 0; i < learner->start_count; i++) {
		double at = time_of(m, learner->starts[i]);
		if (at > from && !(at >= to))
			lane->restarts[lane->restart_count++] = restart_at(lane, at);
	}
}

/* ---- the round ---- */

static void count_lane(struct sl_lanes *lanes, const struct sl_lane *lane)
{
	const struct sl_part *part = lane->part;
	if (lane->span_count > 0)
		lanes->from = fmin(lanes->from, lane->spans[0].from);
	if (!lanes->committed)
		for (uint32_t i = 0; i < part->entry_count; i++)
			if (part->entries[i].attempt > lanes->attempt)
				lanes->attempt = part->entries[i].attempt;
	if (part->committed && !part->adopted) {
		lanes->attempt = part->attempt;
		lanes->committed = true;
	}
	lanes->commit = fmax(lanes->commit, lane->commit);
}

/* Return true if the learner is done with the round, or a later one is committed. */
static bool is_done(const struct sl_timeline *timeline, uint64_t id, const struct sl_timeline_round *round)
{
	uint32_t place = sl_rounds_find_learner(timeline, id);
	const struct sl_part *part = place < round->part_count ? round->parts[place] : NULL;
	return (part != NULL && part->committed) ||
	       (place != UINT32_MAX && timeline->learners[place].last_round > round->t);
}

static bool is_over(const struct sl_lanes *lanes, const struct sl_timeline *timeline,
		    const struct sl_timeline_round *round)
{
	if (!lanes->committed)
		return false;
	for (size_t i = sl_rounds_place(timeline, round->t + 1); i < timeline->count; i++)
		for (uint32_t k = 0; k < timeline->rounds[i].part_count; k++)
			if (timeline->rounds[i].parts[k] != NULL && timeline->rounds[i].parts[k]->committed)
				return true;
	for (uint32_t i = 0; i < round->attempt_count; i++)
		for (uint32_t k = 0;
		     round->attempts[i].attempt == lanes->attempt && k < round->attempts[i].count; k++)
			if (!is_done(timeline, round->attempts[i].ids[k], round))
				return false;
	return true;
}

void sl_lanes_init(struct sl_lanes *lanes, const struct sl_timeline *timeline,
		   const struct sl_timeline_round *round)
{
	*lanes = (struct sl_lanes){.from = NAN, .commit = NAN, .now = NAN};
	lanes->lanes = sl_command_memory(timeline->learner_count + 1u, sizeof *lanes->lanes);
	for (uint32_t i = 0; i < timeline->learner_count; i++) {
		uint32_t place = timeline->order[i];
		const struct sl_timeline_learner *learner = &timeline->learners[place];
		lanes->now = fmax(lanes->now, learner->last - timeline->start);
		if (place >= round->part_count || round->parts[place] == NULL)
			continue;
		struct sl_lane *lane = &lanes->lanes[lanes->count++];
		struct making m = {timeline, round, lane, place};
		*lane = (struct sl_lane){.id = learner->id, .part = round->parts[place], .commit = NAN};
		if (lane->part->committed)
			lane->commit = time_of(&m, lane->part->commit);
		make_spans(&m);
		make_waits(&m);
		make_restarts(&m);
		count_lane(lanes, lane);
	}
	lanes->over = is_over(lanes, timeline, round);
}

void sl_lanes_close(struct sl_lanes *lanes)
{
	for (uint32_t i = 0; i < lanes->count; i++) {
		free(lanes->lanes[i].spans);
		free(lanes->lanes[i].waits);
		free(lanes->lanes[i].restarts);
	}
	free(lanes->lanes);
}

static uint64_t lane_at(const void *items, size_t i)
{
	return ((const struct sl_lane *)items)[i].id;
}

const struct sl_lane *sl_lanes_find(const struct sl_lanes *lanes, uint64_t id)
{
	size_t at = sl_rounds_search(lanes->lanes, lanes->count, id, lane_at);
	return at < lanes->count && lanes->lanes[at].id == id ? &lanes->lanes[at] : NULL;
}

/* ---- the slowest ---- */

static double end_of(double to, double now)
{
	return isnan(to) ? now : to;
}

static double overlap(double from, double to, double other_from, double other_to)
{
	return fmax(0, fmin(to, other_to) - fmax(from, other_from));
}

/* Return when a learner had done its part in a phase of an attempt: when it entered the phase, or, where data
 * go back and forth, left it. INFINITY: it has not. */
static double done_s(const struct sl_lane *lane, uint32_t attempt, uint8_t phase)
{
	bool exchange = phase == SL_PHASE_SHARE || phase == SL_PHASE_MIX || phase == SL_PHASE_RECOVER;
	for (uint32_t i = 0; i < lane->span_count; i++) {
		const struct sl_span *span = &lane->spans[i];
		bool passed = span->attempt > attempt ||
			      (span->attempt == attempt && span->phase >= phase + (exchange ? 1 : 0));
		if (passed && span->phase != SL_PHASE_TRAIN)
			return span->from;
	}
	return isnan(lane->commit) ? INFINITY : lane->commit;
}

bool sl_lanes_stood_still(const struct sl_lane_wait *wait)
{
	return wait->wait->first_s > STOOD_STILL_S;
}

/* Return true if the learner waited for others. */
static bool is_excuse(const struct sl_lane_wait *wait)
{
	return wait->wait->count > 0 && !sl_lanes_stood_still(wait);
}

struct sl_cause sl_lanes_cause(const struct sl_lanes *lanes, const struct sl_lane_wait *wait,
			       uint64_t learner)
{
	const struct sl_lane *lane = sl_lanes_find(lanes, learner);
	struct sl_cause cause = {learner, 0, wait->from, end_of(wait->to, lanes->now)};
	if (lane != NULL)
		cause.to = fmin(cause.to, done_s(lane, wait->wait->attempt, wait->wait->phase));
	cause.s = cause.to - cause.from;
	for (uint32_t i = 0; lane != NULL && i < lane->wait_count; i++)
		if (is_excuse(&lane->waits[i]))
			cause.s -= overlap(cause.from, cause.to, lane->waits[i].from,
					   end_of(lane->waits[i].to, lanes->now));
	cause.s = fmax(0, cause.s);
	return cause;
}

/* Set phase and duration: the phase in which the learner was for most of [from, to]. */
static void place_in_phase(const struct sl_lanes *lanes, struct sl_slowest *slowest, double from, double to)
{
	const struct sl_lane *lane = sl_lanes_find(lanes, slowest->learner);
	double most = 0;
	slowest->phase = SL_PHASE_COUNT;
	for (uint32_t i = 0; lane != NULL && i < lane->span_count; i++) {
		const struct sl_span *span = &lane->spans[i];
		double end = end_of(span->to, lanes->now), shared = overlap(from, to, span->from, end);
		if (shared > most) {
			most = shared;
			slowest->phase = span->phase;
			slowest->s = end - span->from;
		}
	}
}

static int by_learner(const void *a, const void *b)
{
	const struct sl_cause *x = a, *y = b;
	return (x->learner > y->learner) - (x->learner < y->learner);
}

static struct sl_cause *list_causes(const struct sl_lanes *lanes, size_t *count)
{
	struct sl_cause *all = NULL;
	size_t n = 0;
	for (uint32_t i = 0; i < lanes->count; i++)
		for (uint32_t k = 0; k < lanes->lanes[i].wait_count; k++) {
			const struct sl_lane_wait *w = &lanes->lanes[i].waits[k];
			for (uint32_t a = 0; is_excuse(w) && a < w->wait->count; a++) {
				all = sl_rounds_grow(all, n, sizeof *all);
				all[n++] = sl_lanes_cause(lanes, w, w->wait->ids[a]);
			}
		}
	if (n > 0)
		qsort(all, n, sizeof *all, by_learner);
	*count = n;
	return all;
}

/* Find the learner that cost all others most, in sum: a learner that was stopped also believes that it waited
 * for others. Its longest one says when. */
static struct sl_slowest most_awaited(const struct sl_lanes *lanes)
{
	struct sl_slowest slowest = {0};
	const struct sl_cause *chosen = NULL;
	double most = 0;
	size_t n;
	struct sl_cause *all = list_causes(lanes, &n);
	for (size_t i = 0, next; i < n; i = next) {
		const struct sl_cause *longest = &all[i];
		double sum = 0;
		for (next = i; next < n && all[next].learner == all[i].learner; next++) {
			sum += all[next].s;
			if (all[next].s > longest->s)
				longest = &all[next];
		}
		if (sum > most) {
			most = sum;
			chosen = longest;
		}
	}
	if (chosen != NULL) {
		slowest = (struct sl_slowest){true, chosen->learner, SL_PHASE_COUNT, chosen->s};
		place_in_phase(lanes, &slowest, chosen->from, chosen->to);
	}
	free(all);
	return slowest;
}

struct ended {
	const struct sl_span *span;
	uint64_t learner;
};

/* Compare by attempt and phase; the last to end comes first. */
static int by_order(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;
	if (x->span->attempt != y->span->attempt)
		return (x->span->attempt > y->span->attempt) - (x->span->attempt < y->span->attempt);
	if (x->span->phase != y->span->phase)
		return (x->span->phase > y->span->phase) - (x->span->phase < y->span->phase);
	return (x->span->to < y->span->to) - (x->span->to > y->span->to);
}

static struct ended *list_ended(const struct sl_lanes *lanes, size_t *count)
{
	struct ended *all = NULL;
	size_t n = 0;
	for (uint32_t i = 0; i < lanes->count; i++)
		for (uint32_t k = 0; k < lanes->lanes[i].span_count; k++) {
			const struct sl_span *span = &lanes->lanes[i].spans[k];
			if (isnan(span->to) || span->phase > SL_PHASE_COMMIT)
				continue;
			all = sl_rounds_grow(all, n, sizeof *all);
			all[n++] = (struct ended){span, lanes->lanes[i].id};
		}
	if (n > 0)
		qsort(all, n, sizeof *all, by_order);
	*count = n;
	return all;
}

/* Each phase of each attempt is over when the last learner ends it: find the one that took longest to be
 * over. */
static struct sl_slowest last_through(const struct sl_lanes *lanes)
{
	struct sl_slowest slowest = {0};
	double before = lanes->from, most = 0;
	size_t n;
	struct ended *all = list_ended(lanes, &n);
	for (size_t i = 0; i < n; i++) {
		const struct sl_span *span = all[i].span;
		if (i > 0 && all[i - 1].span->attempt == span->attempt &&
		    all[i - 1].span->phase == span->phase)
			continue;
		if (span->to - before > most) {
			most = span->to - before;
			slowest =
				(struct sl_slowest){true, all[i].learner, span->phase, span->to - span->from};
		}
		before = fmax(before, span->to);
	}
	free(all);
	return slowest;
}

struct sl_slowest sl_lanes_slowest(const struct sl_lanes *lanes)
{
	struct sl_slowest slowest = most_awaited(lanes);
	return slowest.known ? slowest : last_through(lanes);
}
