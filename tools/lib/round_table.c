#include "tools/lib/round_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"

double sl_round_table_field_real(const json_t *record, const char *name, double otherwise)
{
	const json_t *value = json_object_get(record, name);
	return json_is_number(value) ? json_number_value(value) : otherwise;
}

uint64_t sl_round_table_field_whole(const json_t *record, const char *name, uint64_t otherwise)
{
	const json_t *value = json_object_get(record, name);
	return json_is_integer(value) && json_integer_value(value) >= 0 ? (uint64_t)json_integer_value(value)
									: otherwise;
}

const char *sl_round_table_field_text(const json_t *record, const char *name, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(record, name));
	return text != NULL ? text : otherwise;
}

void sl_round_table_init(struct sl_round_table *rounds, uint32_t learners, sl_round most)
{
	*rounds = (struct sl_round_table){.learners = learners, .most = most};
}

static void close_row(struct sl_round_row *row)
{
	for (uint32_t i = 0; i < row->attempts; i++)
		free(row->members[i].who);
	free(row->members);
	free(row->shown);
	free(row->passed);
	free(row->who);
}

void sl_round_table_close(struct sl_round_table *rounds)
{
	for (uint32_t i = 0; i < rounds->count; i++)
		close_row(&rounds->rows[i]);
	free(rounds->rows);
	*rounds = (struct sl_round_table){0};
}

static uint64_t *new_set(const struct sl_round_row *row)
{
	return calloc(sl_bit_words(row->roster), sizeof(uint64_t));
}

static int grow(struct sl_round_table *rounds, uint32_t count)
{
	if (count > rounds->room) {
		uint32_t room = count + 16;
		struct sl_round_row *rows = reallocarray(rounds->rows, room, sizeof *rows);
		if (rows == NULL)
			return SL_ERR_NOMEM;
		rounds->rows = rows;
		rounds->room = room;
	}
	while (rounds->count < count) {
		struct sl_round_row row = {
			.round = rounds->count + 1, .same = true, .roster = rounds->learners};
		row.who = new_set(&row);
		row.shown = new_set(&row);
		row.passed = new_set(&row);
		if (row.who == NULL || row.shown == NULL || row.passed == NULL) {
			close_row(&row);
			return SL_ERR_NOMEM;
		}
		rounds->rows[rounds->count++] = row;
	}
	return SL_OK;
}

struct sl_round_row *sl_round_table_at(struct sl_round_table *rounds, uint64_t t)
{
	if (t < 1 || t > rounds->most || grow(rounds, (uint32_t)t) != SL_OK)
		return NULL;
	return &rounds->rows[t - 1];
}

struct sl_round_row *sl_round_table_row(struct sl_round_table *rounds, const json_t *record)
{
	return sl_round_table_at(rounds, sl_round_table_field_whole(record, "round", 0));
}

void sl_round_table_trained(struct sl_round_row *row, const json_t *record)
{
	row->trained_ms = fmax(row->trained_ms, sl_round_table_field_real(record, "mono_ms", 0));
	row->train_s = fmax(row->train_s, sl_round_table_field_real(record, "train_s", 0));
}

void sl_round_table_view(struct sl_round_row *row, const json_t *record)
{
	if (row->committed > 0)
		return;
	row->learners = (uint32_t)sl_round_table_field_whole(record, "learners", row->learners);
	row->edges = (uint32_t)sl_round_table_field_whole(record, "edges", row->edges);
	row->mu = sl_round_table_field_real(record, "mu", NAN);
	row->steps = sl_round_table_field_whole(record, "steps", row->steps);
	snprintf(row->mixing, sizeof row->mixing, "%s", sl_round_table_field_text(record, "mixing", ""));
}

const char *const sl_round_table_part_names[SL_PARTS] = {"agree", "share", "ready", "mix", "settle"};

static void add_costs(struct sl_round_row *row, const json_t *costs)
{
	for (int i = SL_PART_SHARE; i < SL_PARTS; i++) {
		char name[16];
		snprintf(name, sizeof name, "%s_ms", sl_round_table_part_names[i]);
		row->begun_ms[i] = fmax(row->begun_ms[i], sl_round_table_field_real(costs, name, 0));
	}
	uint64_t peak = sl_round_table_field_whole(costs, "peak_bytes", 0);
	row->cpu_s += sl_round_table_field_real(costs, "round_cpu_s", 0);
	row->peak_bytes = peak > row->peak_bytes ? peak : row->peak_bytes;
}

bool sl_round_table_parts(const struct sl_round_row *row, double seconds[static SL_PARTS])
{
	double from = row->trained_ms;
	for (int i = SL_PART_AGREE; i < SL_PARTS; i++) {
		double to = i + 1 < SL_PARTS ? row->begun_ms[i + 1] : row->committed_ms;
		if (from <= 0 || to < from)
			return false;
		seconds[i] = (to - from) / 1000;
		from = to;
	}
	return true;
}

/* Adds up what is per learner; the slowest counts for times. */
static void add_commit(struct sl_round_row *row, const json_t *record)
{
	row->bytes += sl_round_table_field_whole(record, "round_bytes_sent", 0);
	row->margin = fmax(row->margin,
			   sl_round_table_field_real(record, "margin", 1)); /* without a margin: no claim */
	row->train_s = fmax(row->train_s, sl_round_table_field_real(record, "train_s", 0));
	row->committed_ms = fmax(row->committed_ms, sl_round_table_field_real(record, "mono_ms", 0));
	add_costs(row, json_object_get(record, "costs"));
	if (row->trained_ms > 0)
		row->aggregate_s = (row->committed_ms - row->trained_ms) / 1000;
	else /* the record was written before the launcher listened */
		row->aggregate_s =
			fmax(row->aggregate_s, sl_round_table_field_real(record, "aggregate_s", 0));
}

/* ---- who has the model ---- */

static const uint64_t *members_of(const struct sl_round_row *row, sl_attempt a)
{
	for (uint32_t i = 0; i < row->attempts; i++)
		if (row->members[i].a == a)
			return row->members[i].who;
	return NULL;
}

void sl_round_table_member(struct sl_round_row *row, uint32_t learner, sl_attempt a)
{
	uint64_t *who = (uint64_t *)members_of(row, a);
	if (who == NULL) {
		struct sl_round_members *more = reallocarray(row->members, row->attempts + 1, sizeof *more);
		if (more == NULL)
			return;
		row->members = more;
		who = new_set(row);
		if (who == NULL)
			return;
		row->members[row->attempts++] = (struct sl_round_members){a, who};
	}
	sl_bit_set(who, learner);
}

/* In the view that committed: as all were, or as it has said. */
static bool took_part(const struct sl_round_row *row, uint32_t learner)
{
	const uint64_t *members = members_of(row, row->attempt);
	return row->committed > 0 &&
	       (row->learners == row->roster || (members != NULL && sl_bit(members, learner)));
}

bool sl_round_table_absent(const struct sl_round_row *row, uint64_t *set)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < row->roster; i++) {
		if (!took_part(row, i) || sl_bit(row->who, i))
			continue;
		sl_bit_set(set, i);
		count++;
	}
	return count == sl_round_table_missing(row);
}

/* Whom the round was shown, and who took part: known once the attempt is. */
static void settle(struct sl_round_row *row)
{
	for (uint32_t i = 0; i < row->roster; i++) {
		if (!sl_bit(row->shown, i) || sl_bit(row->who, i) || !took_part(row, i))
			continue;
		sl_bit_set(row->who, i);
		row->committed++;
	}
}

static void compare(struct sl_round_row *row, const char *digest)
{
	if (row->digest[0] == '\0')
		snprintf(row->digest, sizeof row->digest, "%s", digest);
	row->same = row->same && *digest != '\0' && strcmp(row->digest, digest) == 0;
}

bool sl_round_table_adopted(struct sl_round_row *row, uint32_t learner, const char *digest)
{
	if (sl_bit(row->who, learner))
		return false;
	sl_bit_set(row->who, learner);
	compare(row, digest);
	bool first = row->committed++ == 0;
	settle(row);
	return first;
}

void sl_round_table_shown(struct sl_round_row *row, uint32_t learner, const char *digest)
{
	sl_bit_set(row->shown, learner);
	compare(row, digest);
	settle(row);
}

void sl_round_table_passed(struct sl_round_row *row, uint32_t learner)
{
	sl_bit_set(row->passed, learner);
	sl_bit_set(row->shown, learner);
	settle(row);
}

bool sl_round_table_committed(struct sl_round_row *row, uint32_t learner, const json_t *record)
{
	if (sl_bit(row->who, learner))
		return false;
	sl_round_table_view(row, record);
	if (row->committed == 0)
		row->attempt = (sl_attempt)sl_round_table_field_whole(record, "attempt", 0);
	add_commit(row, record);
	return sl_round_table_adopted(row, learner, sl_round_table_field_text(record, "digest", ""));
}

void sl_round_table_evaluated(struct sl_round_row *row, const json_t *record)
{
	const json_t *mse = json_object_get(record, "mse");
	if (row->mse_known || !(json_is_number(mse) || json_is_null(mse)))
		return;
	row->mse = sl_round_table_field_real(record, "mse", NAN);
	row->mse_known = true;
}

void sl_round_table_clamped(struct sl_round_row *row, uint64_t were, uint64_t are)
{
	row->clamped = row->clamped - were + are;
}
