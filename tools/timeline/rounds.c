#include "tools/timeline/rounds.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lib/command.h"
#include "tools/timeline/timeline.h"

#define ITEMS_FIRST 8u

/* The room is a power of two that follows from the number of items. */
void *sl_rounds_grow(void *items, size_t count, size_t size)
{
	size_t room = count < ITEMS_FIRST ? ITEMS_FIRST : 2 * count;
	if (items != NULL && (count < ITEMS_FIRST || (count & (count - 1)) != 0))
		return items;
	void *more = reallocarray(items, room, size);
	assert(more != NULL);
	return more;
}

size_t sl_rounds_search(const void *items, size_t count, uint64_t key,
			uint64_t (*key_at)(const void *items, size_t i))
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (key_at(items, middle) < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- learners ---- */

static uint64_t learner_at(const void *items, size_t i)
{
	const struct sl_timeline *timeline = items;
	return timeline->learners[timeline->order[i]].id;
}

static size_t learner_place(const struct sl_timeline *timeline, uint64_t id)
{
	return sl_rounds_search(timeline, timeline->learner_count, id, learner_at);
}

uint32_t sl_rounds_find_learner(const struct sl_timeline *timeline, uint64_t id)
{
	size_t at = learner_place(timeline, id);
	bool found = at < timeline->learner_count && timeline->learners[timeline->order[at]].id == id;
	return found ? timeline->order[at] : UINT32_MAX;
}

uint32_t sl_rounds_learner(struct sl_timeline *timeline, uint64_t id)
{
	uint32_t n = timeline->learner_count, found = sl_rounds_find_learner(timeline, id);
	if (found != UINT32_MAX)
		return found;
	size_t at = learner_place(timeline, id);
	timeline->learners = sl_rounds_grow(timeline->learners, n, sizeof *timeline->learners);
	timeline->order = sl_rounds_grow(timeline->order, n, sizeof *timeline->order);
	memmove(&timeline->order[at + 1], &timeline->order[at], (n - at) * sizeof *timeline->order);
	timeline->order[at] = n;
	timeline->learners[n] = (struct sl_timeline_learner){.id = id};
	timeline->learner_count++;
	return n;
}

/* ---- rounds ---- */

static uint64_t round_at(const void *items, size_t i)
{
	return ((const struct sl_timeline_round *)items)[i].t;
}

size_t sl_rounds_place(const struct sl_timeline *timeline, uint64_t t)
{
	return sl_rounds_search(timeline->rounds, timeline->count, t, round_at);
}

struct sl_timeline_round *sl_rounds_find(const struct sl_timeline *timeline, uint64_t t)
{
	size_t at = sl_rounds_place(timeline, t);
	return at < timeline->count && timeline->rounds[at].t == t ? &timeline->rounds[at] : NULL;
}

struct sl_timeline_round *sl_rounds_at(struct sl_timeline *timeline, uint64_t t)
{
	size_t at = sl_rounds_place(timeline, t);
	if (at < timeline->count && timeline->rounds[at].t == t)
		return &timeline->rounds[at];
	timeline->rounds = sl_rounds_grow(timeline->rounds, timeline->count, sizeof *timeline->rounds);
	memmove(&timeline->rounds[at + 1], &timeline->rounds[at],
		(timeline->count++ - at) * sizeof *timeline->rounds);
	timeline->rounds[at] = (struct sl_timeline_round){.t = t};
	return &timeline->rounds[at];
}

struct sl_part *sl_rounds_part(struct sl_timeline *timeline, struct sl_timeline_round *round, uint32_t place)
{
	while (round->part_count <= place) {
		round->parts = sl_rounds_grow(round->parts, round->part_count, sizeof *round->parts);
		round->parts[round->part_count++] = NULL;
	}
	if (round->parts[place] == NULL) {
		struct sl_part *part = sl_command_memory(1, sizeof *part);
		part->train_s = part->loss = part->mse = part->margin = NAN;
		round->parts[place] = part;
		timeline->parts++;
	}
	return round->parts[place];
}

struct sl_attempt_row *sl_rounds_attempt(struct sl_timeline_round *round, uint32_t attempt, const char *view)
{
	for (uint32_t i = 0; i < round->attempt_count; i++)
		if (round->attempts[i].attempt == attempt && strcmp(round->attempts[i].view, view) == 0)
			return &round->attempts[i];
	if (round->attempt_count == SL_ATTEMPTS_KEPT)
		return NULL;
	round->attempts = sl_rounds_grow(round->attempts, round->attempt_count, sizeof *round->attempts);
	struct sl_attempt_row *row = &round->attempts[round->attempt_count++];
	*row = (struct sl_attempt_row){.attempt = attempt, .tolerance = -1, .atom = -1};
	snprintf(row->view, sizeof row->view, "%s", view);
	return row;
}

struct sl_attempt_row *sl_rounds_own_attempt(const struct sl_timeline_round *round,
					     const struct sl_part *part, uint32_t attempt)
{
	for (uint32_t i = 0; i < part->view_count; i++)
		if (part->views[i].attempt == attempt)
			return &round->attempts[part->views[i].row];
	for (uint32_t i = 0; i < round->attempt_count; i++)
		if (round->attempts[i].attempt == attempt && round->attempts[i].view[0] == '\0')
			return &round->attempts[i];
	return NULL;
}

static uint64_t id_at(const void *items, size_t i)
{
	return ((const uint64_t *)items)[i];
}

uint32_t sl_rounds_position(const struct sl_attempt_row *row, uint64_t id)
{
	size_t at = sl_rounds_search(row->ids, row->count, id, id_at);
	return at < row->count && row->ids[at] == id ? (uint32_t)at : UINT32_MAX;
}

/* ---- the end ---- */

static void free_part(struct sl_part *part)
{
	if (part == NULL)
		return;
	for (uint32_t i = 0; i < part->wait_count; i++) {
		free(part->waits[i].what);
		free(part->waits[i].ids);
	}
	for (uint32_t i = 0; i < part->failure_count; i++)
		free(part->failures[i].reason);
	free(part->entries);
	free(part->waits);
	free(part->failures);
	free(part->traffic);
	free(part->views);
	json_decref(part->metrics);
	free(part);
}

static void free_round(struct sl_timeline_round *round)
{
	for (uint32_t i = 0; i < round->part_count; i++)
		free_part(round->parts[i]);
	for (uint32_t i = 0; i < round->attempt_count; i++) {
		free(round->attempts[i].ids);
		free(round->attempts[i].adjacent);
		free(round->attempts[i].recovering);
	}
	for (uint32_t i = 0; i < round->note_count; i++) {
		free(round->notes[i].level);
		free(round->notes[i].event);
		free(round->notes[i].text);
	}
	free(round->parts);
	free(round->attempts);
	free(round->spreads);
	free(round->notes);
}

/* Make room for more than one round, so that the others are not moved for each of them. */
void sl_rounds_drop(struct sl_timeline *timeline)
{
	size_t most = timeline->parts_most, n = 0;
	if (most == 0 || timeline->parts <= most)
		return;
	for (; n + 1 < timeline->count && timeline->parts > most - most / 8; n++) {
		struct sl_timeline_round *round = &timeline->rounds[n];
		for (uint32_t i = 0; i < round->part_count; i++)
			timeline->parts -= round->parts[i] != NULL;
		timeline->dropped_to = round->t;
		free_round(round);
	}
	timeline->count -= n;
	memmove(timeline->rounds, timeline->rounds + n, timeline->count * sizeof *timeline->rounds);
}

/* ---- the timeline ---- */

struct sl_timeline *sl_timeline_new(void)
{
	struct sl_timeline *timeline = sl_command_memory(1, sizeof *timeline);
	timeline->start = INFINITY;
	return timeline;
}

void sl_timeline_free(struct sl_timeline *timeline)
{
	if (timeline == NULL)
		return;
	for (size_t i = 0; i < timeline->count; i++)
		free_round(&timeline->rounds[i]);
	for (uint32_t i = 0; i < timeline->learner_count; i++)
		free(timeline->learners[i].starts);
	free(timeline->rounds);
	free(timeline->learners);
	free(timeline->order);
	free(timeline->run);
	free(timeline);
}

void sl_timeline_name(struct sl_timeline *timeline, const char *run, uint64_t rounds)
{
	free(timeline->run);
	timeline->run = strdup(run);
	timeline->rounds_most = rounds > 0 ? rounds : timeline->rounds_most;
	timeline->version++;
	for (size_t i = 0; i < timeline->count; i++)
		timeline->rounds[i].version = timeline->version;
}

void sl_timeline_bound(struct sl_timeline *timeline, size_t parts)
{
	timeline->parts_most = parts;
}

uint64_t sl_timeline_version(const struct sl_timeline *timeline)
{
	return timeline->version;
}

uint64_t sl_timeline_changed_since(const struct sl_timeline *timeline, uint64_t version, uint64_t after)
{
	for (size_t i = sl_rounds_place(timeline, after + 1); i < timeline->count; i++)
		if (timeline->rounds[i].version > version)
			return timeline->rounds[i].t;
	return 0;
}

uint64_t sl_timeline_round_before(const struct sl_timeline *timeline, uint64_t before)
{
	size_t place = sl_rounds_place(timeline, before);
	return place > 0 ? timeline->rounds[place - 1].t : 0;
}
