/* One log record into the rounds. */
#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "tools/lib/command.h"
#include "tools/lib/log_files.h"
#include "tools/timeline/rounds.h"
#include "tools/timeline/timeline.h"

#define SAME_WAIT_S 0.5 /* records of one wait agree on its begin by less than this */

struct taking {
	struct sl_timeline *timeline;
	const struct sl_record *record;
	struct sl_timeline_learner *learner;
	double when;
	struct sl_timeline_round *round;
	struct sl_part *part;
	uint32_t attempt; /* 0: none */
};

static char *copy(const char *value)
{
	char *made = strdup(value != NULL ? value : "");
	assert(made != NULL);
	return made;
}

static bool is_text(const char *text, const char *wanted)
{
	return text != NULL && strcmp(text, wanted) == 0;
}

/* The phase of a record, or SL_PHASE_COUNT if it has none that is known. */
static uint8_t phase_of(const struct sl_record *record)
{
	enum sl_phase phase = sl_phase_find(record->phase);
	return (uint8_t)(is_text(record->phase, sl_phase_name(phase)) ? phase : SL_PHASE_COUNT);
}

/* ---- phases ---- */

/* Return true if x comes after y. Times are whole milliseconds: within one, the order is that of the
 * protocol. */
static bool is_after(const struct sl_entry *x, const struct sl_entry *y)
{
	if (x->at != y->at)
		return x->at > y->at;
	return x->attempt != y->attempt ? x->attempt > y->attempt : x->phase > y->phase;
}

static void enter(struct taking *taking, uint8_t phase)
{
	struct sl_part *part = taking->part;
	struct sl_entry entry = {taking->when, taking->attempt, phase};
	for (uint32_t i = 0; i < part->entry_count; i++)
		if (part->entries[i].at == entry.at && part->entries[i].phase == phase)
			return; /* the same record again */
	if (part->entry_count == SL_ENTRIES_MOST)
		return;
	part->entries = sl_rounds_grow(part->entries, part->entry_count, sizeof entry);
	uint32_t i = part->entry_count++;
	for (; i > 0 && is_after(&part->entries[i - 1], &entry); i--)
		part->entries[i] = part->entries[i - 1];
	part->entries[i] = entry;
}

/* Return true for the phases between two rounds: they name the attempt that is over. */
static bool is_idle(const struct sl_record *record)
{
	uint8_t phase = phase_of(record);
	return phase == SL_PHASE_TRAIN || phase == SL_PHASE_DONE;
}

/* The records `training` and `trained` say when training begins and ends. */
static void take_phase(struct taking *taking)
{
	enter(taking, is_idle(taking->record) ? SL_PHASE_COUNT : phase_of(taking->record));
}

static void take_training(struct taking *taking)
{
	enter(taking, SL_PHASE_TRAIN);
}

static void take_trained(struct taking *taking)
{
	struct sl_part *part = taking->part;
	part->trained = true;
	part->trained_at = taking->when;
	part->train_s = taking->record->train_s;
	part->loss = taking->record->loss;
	if (taking->record->metrics != NULL) {
		json_decref(part->metrics);
		part->metrics = json_copy((json_t *)taking->record->metrics);
	}
	enter(taking, SL_PHASE_COUNT);
}

/* ---- the view ---- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Return the ids of a field, ascending, each once; *count may be 0. */
static uint64_t *read_ids(const struct sl_record *record, enum sl_record_field field, uint32_t *count)
{
	const json_t *array = record->has[field];
	size_t n = json_array_size(array), kept = 0;
	n = n < SL_LEARNERS_MAX ? n : SL_LEARNERS_MAX;
	uint64_t *ids = sl_command_memory(n + 1, sizeof *ids);
	for (size_t i = 0; i < n; i++)
		ids[i] = (uint64_t)json_integer_value(json_array_get(array, i));
	qsort(ids, n, sizeof *ids, by_value);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || ids[i] != ids[i - 1])
			ids[kept++] = ids[i];
	*count = (uint32_t)kept;
	return ids;
}

static void take_least(int64_t *least, uint64_t value)
{
	if (*least < 0 || (int64_t)value < *least)
		*least = (int64_t)value;
}

static void take_participants(struct taking *taking, struct sl_attempt_row *row)
{
	const struct sl_record *record = taking->record;
	if (row->ids == NULL) {
		row->ids = read_ids(record, SL_FIELD_participants, &row->count);
		row->adjacent =
			sl_command_memory(row->count * sl_bit_words(row->count) + 1, sizeof *row->adjacent);
		snprintf(row->mixing, sizeof row->mixing, "%s", record->mixing != NULL ? record->mixing : "");
		row->steps = record->steps;
		row->edges = record->edges;
	}
	if (record->has[SL_FIELD_tolerance])
		take_least(&row->tolerance, record->tolerance);
	if (record->has[SL_FIELD_atom])
		take_least(&row->atom, record->atom);
}

static void take_neighbours(struct taking *taking, struct sl_attempt_row *row)
{
	uint32_t own = sl_rounds_position(row, taking->learner->id), count;
	size_t words = sl_bit_words(row->count);
	uint64_t *ids = read_ids(taking->record, SL_FIELD_neighbours, &count);
	for (uint32_t i = 0; own != UINT32_MAX && i < count; i++) {
		uint32_t other = sl_rounds_position(row, ids[i]);
		if (other == UINT32_MAX || other == own)
			continue;
		sl_bit_set(row->adjacent + own * words, other);
		sl_bit_set(row->adjacent + other * words, own);
	}
	free(ids);
}

static void take_view(struct taking *taking)
{
	struct sl_part *part = taking->part;
	const char *name = taking->record->view != NULL ? taking->record->view : "";
	struct sl_attempt_row *row = sl_rounds_attempt(taking->round, taking->attempt, name);
	if (row == NULL)
		return;
	take_participants(taking, row);
	take_neighbours(taking, row);
	struct sl_own_view view = {taking->attempt, (uint32_t)(row - taking->round->attempts)};
	for (uint32_t i = 0; i < part->view_count; i++)
		if (part->views[i].attempt == view.attempt) {
			part->views[i] = view;
			return;
		}
	part->views = sl_rounds_grow(part->views, part->view_count, sizeof view);
	part->views[part->view_count++] = view;
}

/* ---- waits ---- */

/* Return the wait of the record: one that is known, or a new one. */
static struct sl_round_wait *find_wait(struct taking *taking, double from)
{
	struct sl_part *part = taking->part;
	uint8_t phase = phase_of(taking->record);
	const char *what = taking->record->waits_for != NULL ? taking->record->waits_for : "";
	for (uint32_t i = part->wait_count; i-- > 0;) {
		struct sl_round_wait *w = &part->waits[i];
		if (w->attempt == taking->attempt && w->phase == phase && strcmp(w->what, what) == 0 &&
		    fabs(w->from - from) < SAME_WAIT_S)
			return w;
	}
	if (part->wait_count == SL_WAITS_MOST)
		return NULL;
	part->waits = sl_rounds_grow(part->waits, part->wait_count, sizeof *part->waits);
	struct sl_round_wait *w = &part->waits[part->wait_count++];
	*w = (struct sl_round_wait){.from = from,
				    .phase = phase,
				    .attempt = taking->attempt,
				    .first_s = INFINITY,
				    .what = copy(what)};
	return w;
}

static void take_waiting(struct taking *taking)
{
	double waited_s = isnan(taking->record->waited_s) ? 0 : taking->record->waited_s;
	struct sl_round_wait *w = find_wait(taking, taking->when - waited_s);
	bool over = taking->record->kind == SL_RECORD_WAITED;
	if (w == NULL)
		return;
	w->first_s = fmin(w->first_s, waited_s);
	if (w->ids != NULL && taking->when < w->seen)
		return;
	if (!over || w->ids == NULL) {
		free(w->ids);
		w->ids = read_ids(taking->record, SL_FIELD_awaited, &w->count);
	}
	w->seen = taking->when;
	if (over) {
		w->ended = true;
		w->to = taking->when;
	}
}

/* ---- how attempts end ---- */

static uint64_t whole(const json_t *object, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(object, name));
	return value > 0 ? (uint64_t)value : 0;
}

static void take_traffic(struct sl_part *part, const json_t *links)
{
	size_t n = json_array_size(links);
	n = n < SL_LEARNERS_MAX ? n : SL_LEARNERS_MAX;
	free(part->traffic);
	part->traffic = sl_command_memory(n + 1, sizeof *part->traffic);
	part->traffic_count = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		const json_t *link = json_array_get(links, i);
		part->traffic[i] = (struct sl_traffic){whole(link, "peer"), whole(link, "sent"),
						       whole(link, "received")};
	}
}

static void take_digest(struct taking *taking, bool adopted)
{
	struct sl_part *part = taking->part;
	const char *digest = taking->record->digest;
	snprintf(part->digest, sizeof part->digest, "%.16s", digest != NULL ? digest : "");
	part->commit = taking->when;
	part->committed = true;
	part->adopted = adopted;
}

static void take_committed(struct taking *taking)
{
	struct sl_part *part = taking->part;
	take_digest(taking, false);
	part->attempt = taking->attempt;
	part->margin = taking->record->margin;
	part->sent = taking->record->round_bytes_sent;
	part->received = taking->record->round_bytes_received;
	take_traffic(part, taking->record->links);
}

/* An own commit says more. */
static void take_caught_up(struct taking *taking)
{
	if (!taking->part->committed)
		take_digest(taking, true);
}

static void take_evaluated(struct taking *taking)
{
	taking->part->mse = taking->record->mse;
}

static void take_failed(struct taking *taking)
{
	struct sl_part *part = taking->part;
	for (uint32_t i = 0; i < part->failure_count; i++)
		if (part->failures[i].attempt == taking->attempt)
			return;
	if (part->failure_count == SL_FAILURES_MOST)
		return;
	part->failures = sl_rounds_grow(part->failures, part->failure_count, sizeof *part->failures);
	part->failures[part->failure_count++] =
		(struct sl_failure){.when = taking->when,
				    .attempt = taking->attempt,
				    .elsewhere = is_text(taking->record->level, "info"),
				    .reason = copy(taking->record->reason)};
}

static void take_recovering(struct taking *taking)
{
	struct sl_attempt_row *row = sl_rounds_own_attempt(taking->round, taking->part, taking->attempt);
	if (row == NULL)
		row = sl_rounds_attempt(taking->round, taking->attempt, "");
	if (row != NULL && row->recovering == NULL)
		row->recovering = copy(taking->record->reason);
}

static void take_resumed(struct taking *taking)
{
	taking->part->resumed = true;
}

/* Keep one point of a learner: the largest spread and bound of all learners count. `at`: the place of its
 * point before; the new one is returned. */
static uint32_t take_spread(struct sl_timeline_round *round, uint32_t at, const struct sl_round_spread *point)
{
	struct sl_round_spread *spreads = round->spreads;
	while (at < round->spread_count && spreads[at].step < point->step)
		at++;
	if (at < round->spread_count && spreads[at].step == point->step) {
		spreads[at].spread = fmax(spreads[at].spread, point->spread);
		spreads[at].bound = fmax(spreads[at].bound, point->bound);
		return at;
	}
	if (round->spread_count == SL_SPREADS_MAX)
		return at;
	round->spreads = sl_rounds_grow(spreads, round->spread_count, sizeof *spreads);
	memmove(round->spreads + at + 1, round->spreads + at,
		(round->spread_count++ - at) * sizeof *round->spreads);
	round->spreads[at] = *point;
	return at;
}

static void take_mixed(struct taking *taking)
{
	struct sl_timeline_round *round = taking->round;
	const json_t *list = taking->record->has[SL_FIELD_spread];
	uint32_t at = 0;
	uint64_t before = 0;
	if (taking->attempt < round->spread_attempt)
		return;
	if (taking->attempt > round->spread_attempt)
		round->spread_count = 0;
	round->spread_attempt = taking->attempt;
	for (size_t i = 0; i < json_array_size(list) && i < SL_SPREADS_MAX; i++) {
		const json_t *point = json_array_get(list, i), *spread = json_array_get(point, 1);
		const json_t *bound = json_array_get(point, 2);
		json_int_t step = json_integer_value(json_array_get(point, 0));
		if (step < 0 || (uint64_t)step < before || !json_is_number(spread) || !json_is_number(bound))
			continue;
		before = (uint64_t)step;
		at = take_spread(round, at,
				 &(struct sl_round_spread){before, json_number_value(spread),
							   json_number_value(bound)});
	}
}

/* The round in which the learner was before may look different now. */
static void take_start(struct taking *taking)
{
	struct sl_timeline_learner *learner = taking->learner;
	struct sl_timeline_round *round = sl_rounds_find(taking->timeline, learner->last_round);
	for (uint32_t i = 0; i < learner->start_count; i++)
		if (learner->starts[i] == taking->when)
			return; /* the same record again */
	if (learner->start_count == SL_STARTS_MOST)
		return;
	learner->starts = sl_rounds_grow(learner->starts, learner->start_count, sizeof *learner->starts);
	learner->starts[learner->start_count++] = taking->when;
	if (round != NULL)
		round->version = taking->timeline->version;
}

/* ---- notes ---- */

static void take_note(struct taking *taking)
{
	const struct sl_record *record = taking->record;
	struct sl_timeline_round *round = taking->round;
	if (!is_text(record->level, "warn") && !is_text(record->level, "error"))
		return;
	for (uint32_t i = 0; i < round->note_count; i++)
		if (is_text(record->text, round->notes[i].text))
			return;
	if (round->note_count == SL_NOTES_MOST)
		return;
	round->notes = sl_rounds_grow(round->notes, round->note_count, sizeof *round->notes);
	round->notes[round->note_count++] = (struct sl_note){taking->learner->id, copy(record->level),
							     copy(record->event), copy(record->text)};
}

/* Setting privacy_check: warn has let an attempt go on. */
static void take_exposed(struct taking *taking)
{
	taking->round->exposed = true;
}

/* ---- records ---- */

static const struct {
	enum sl_record_kind kind;
	void (*take)(struct taking *taking);
	bool no_note; /* it is told otherwise */
} handlers[] = {
	{SL_RECORD_PHASE, take_phase, false},	       {SL_RECORD_TRAINING, take_training, false},
	{SL_RECORD_TRAINED, take_trained, false},      {SL_RECORD_VIEW, take_view, false},
	{SL_RECORD_WAITING, take_waiting, true},       {SL_RECORD_WAITED, take_waiting, true},
	{SL_RECORD_MIXED, take_mixed, false},	       {SL_RECORD_COMMITTED, take_committed, false},
	{SL_RECORD_CAUGHT_UP, take_caught_up, false},  {SL_RECORD_EVALUATED, take_evaluated, false},
	{SL_RECORD_ATTEMPT_FAILED, take_failed, true}, {SL_RECORD_ATTEMPT_OVER, take_failed, true},
	{SL_RECORD_RECOVERING, take_recovering, true}, {SL_RECORD_ATTEMPT_RESUMED, take_resumed, false},
	{SL_RECORD_EXPOSED, take_exposed, false},
};

static void take_of_round(struct taking *taking)
{
	bool no_note = false;
	if (taking->attempt > 0 && !is_idle(taking->record))
		sl_rounds_attempt(taking->round, taking->attempt, "");
	for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
		if (handlers[i].kind == taking->record->kind) {
			handlers[i].take(taking);
			no_note = handlers[i].no_note;
		}
	if (!no_note)
		take_note(taking);
	taking->round->version = taking->timeline->version;
}

/* The times of all documents are those since the first record of the run. */
static void see_start(struct sl_timeline *timeline, double when)
{
	if (when >= timeline->start)
		return;
	timeline->start = when;
	for (size_t i = 0; i < timeline->count; i++)
		timeline->rounds[i].version = timeline->version;
}

static void see_learner(struct taking *taking, uint64_t t)
{
	struct sl_timeline_learner *learner = taking->learner;
	if (learner->name[0] == '\0' && taking->record->name != NULL)
		snprintf(learner->name, sizeof learner->name, "%s", taking->record->name);
	if (taking->when > learner->last) {
		learner->last = taking->when;
		learner->last_round = t != 0 ? t : learner->last_round;
	}
}

bool sl_timeline_take(struct sl_timeline *timeline, const struct sl_record *record)
{
	uint64_t id = record->learner, t = record->round;
	double when = sl_log_files_time(record->time);
	if (record->v != SL_RECORDS_VERSION || id == 0 || isnan(when))
		return false;
	if (timeline->learner_count >= SL_LEARNERS_MAX && sl_rounds_find_learner(timeline, id) == UINT32_MAX)
		return false;
	timeline->version++;
	uint32_t place = sl_rounds_learner(timeline, id);
	struct taking taking = {.timeline = timeline,
				.record = record,
				.learner = &timeline->learners[place],
				.when = when,
				.attempt = (uint32_t)record->attempt};
	see_start(timeline, when);
	see_learner(&taking, t);
	if (record->kind == SL_RECORD_FINISHED && record->rounds > 0)
		timeline->rounds_most = record->rounds;
	if (record->kind == SL_RECORD_LISTENING)
		take_start(&taking);
	if (t <= timeline->dropped_to)
		return true;
	taking.round = sl_rounds_at(timeline, t);
	taking.part = sl_rounds_part(timeline, taking.round, place);
	take_of_round(&taking);
	sl_rounds_drop(timeline);
	return true;
}

void sl_timeline_take_each(void *timeline, const struct sl_record *record)
{
	sl_timeline_take(timeline, record);
}
