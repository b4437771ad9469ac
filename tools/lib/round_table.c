#include "tools/lib/round_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"

double sl_round_table_field_real(const json_t *record, const char *name)
{
	const json_t *value = json_object_get(record, name);
	return json_is_number(value) ? json_number_value(value) : 0;
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
	json_decref(row->metrics);
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
			.round = rounds->count + 1, .same = true, .roster = rounds->learners, .mu = NAN};
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

void sl_round_table_trained(struct sl_round_row *row, const struct sl_record *record)
{
	row->trained_ms = fmax(row->trained_ms, record->mono_ms);
	row->train_s = fmax(row->train_s, record->train_s);
}

/* ---- metrics ---- */

void sl_round_table_metrics(struct sl_round_row *row, const char *learner, const json_t *record)
{
	json_t *metrics = json_copy(json_object_get(record, "metrics"));
	if (!json_is_object(metrics)) {
		json_decref(metrics);
		return;
	}
	if (row->metrics == NULL)
		row->metrics = json_object();
	json_object_set_new(row->metrics, learner, metrics);
}

double sl_round_table_metric(const struct sl_round_row *row, const char *name)
{
	const char *learner;
	json_t *metrics;
	double sum = 0, total = 0;
	json_object_foreach(row->metrics, learner, metrics)
	{
		const json_t *value = json_object_get(metrics, name);
		sum += json_is_number(value) ? json_number_value(value) : 0;
		total += json_is_number(value);
	}
	return total > 0 ? sum / total : NAN;
}

void sl_round_table_view(struct sl_round_row *row, const struct sl_record *record)
{
	if (row->committed > 0)
		return;
	row->learners = (uint32_t)record->learners;
	row->edges = (uint32_t)record->edges;
	row->mu = record->mu;
	row->steps = record->steps;
	snprintf(row->mixing, sizeof row->mixing, "%s", record->mixing != NULL ? record->mixing : "");
}

const char *const sl_round_table_part_names[SL_PARTS] = {"agree", "share", "ready", "mix", "confirm"};

/* A commit ends the last phase of its attempt: from there the phases count back. A learner that recovered
 * never mixed. */
static void add_parts(struct sl_round_row *row, const struct sl_record *record)
{
	static const char *const phases[SL_PARTS][3] = {[SL_PART_SHARE] = {"share_s"},
							[SL_PART_READY] = {"ready_s", "release_s"},
							[SL_PART_MIX] = {"mix_s", "check_s"},
							[SL_PART_CONFIRM] = {"confirm_s", "commit_s"}};
	double at_ms = record->mono_ms;
	if (json_object_get(record->phases, "mix_s") == NULL)
		return;
	for (int i = SL_PART_CONFIRM; i >= SL_PART_SHARE; i--) {
		for (size_t k = 0; phases[i][k] != NULL; k++)
			at_ms -= 1000 * sl_round_table_field_real(record->phases, phases[i][k]);
		row->begun_ms[i] = fmax(row->begun_ms[i], at_ms);
	}
}

static void add_costs(struct sl_round_row *row, const struct sl_record *record)
{
	add_parts(row, record);
	row->cpu_s += isnan(record->round_cpu_s) ? 0 : record->round_cpu_s;
	row->peak_bytes = record->peak_bytes > row->peak_bytes ? record->peak_bytes : row->peak_bytes;
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

/* Add up what is per learner; of times the slowest learner's counts. */
static void add_commit(struct sl_round_row *row, const struct sl_record *record)
{
	row->bytes += record->round_bytes_sent;
	if (record->round_bytes_sent > row->bytes_most)
		row->bytes_most = record->round_bytes_sent;
	row->decimals_known = record->has[SL_FIELD_decimals];
	row->decimals = (uint32_t)record->decimals;
	const char *values = record->has[SL_FIELD_values] ? record->values : "";
	row->values = strcmp(values, "update") == 0	 ? SL_VALUES_UPDATE
		      : strcmp(values, "exact") == 0	 ? SL_VALUES_EXACT
		      : strncmp(values, "noisy", 5) == 0 ? SL_VALUES_NOISY
							 : SL_VALUES_MODEL;
	row->bits = (uint32_t)record->bits;
	row->margin = fmax(row->margin, isnan(record->margin) ? 1 : record->margin); /* unknown: no claim */
	row->train_s = fmax(row->train_s, record->train_s);
	row->committed_ms = fmax(row->committed_ms, record->mono_ms);
	add_costs(row, record);
	if (row->trained_ms > 0)
		row->aggregate_s = (row->committed_ms - row->trained_ms) / 1000;
	else /* the record was written before the launcher listened */
		row->aggregate_s = fmax(row->aggregate_s, record->aggregate_s);
}

/* ---- learners that have the model ---- */

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

/* Return true if `learner` was in the view that committed: by its own record, or because all were. */
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

/* Count the participants that adopted the result. They are known only when the attempt that committed is. */
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

bool sl_round_table_committed(struct sl_round_row *row, uint32_t learner, const struct sl_record *record)
{
	if (sl_bit(row->who, learner))
		return false;
	sl_round_table_view(row, record);
	if (row->committed == 0)
		row->attempt = (sl_attempt)record->attempt;
	add_commit(row, record);
	return sl_round_table_adopted(row, learner, record->digest != NULL ? record->digest : "");
}

void sl_round_table_evaluated(struct sl_round_row *row, const struct sl_record *record)
{
	if (row->mse_known || !record->has[SL_FIELD_mse])
		return;
	row->mse = record->mse;
	row->mse_known = true;
}

void sl_round_table_clamped(struct sl_round_row *row, struct sl_round_clamped *last, uint64_t count)
{
	row->clamped += count - (last->round == row->round ? last->count : 0);
	*last = (struct sl_round_clamped){row->round, count};
}

void sl_round_table_encoded(struct sl_round_row *row, const struct sl_record *record)
{
	if (record->has[SL_FIELD_frozen] && record->frozen > row->rounded)
		row->rounded = record->frozen;
}
