#include "tools/rounds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"

double sl_field_real(const json_t *record, const char *name, double otherwise)
{
	const json_t *value = json_object_get(record, name);
	return json_is_number(value) ? json_number_value(value) : otherwise;
}

uint64_t sl_field_whole(const json_t *record, const char *name, uint64_t otherwise)
{
	const json_t *value = json_object_get(record, name);
	return json_is_integer(value) && json_integer_value(value) >= 0 ? (uint64_t)json_integer_value(value)
									: otherwise;
}

const char *sl_field_text(const json_t *record, const char *name, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(record, name));
	return text != NULL ? text : otherwise;
}

void sl_rounds_init(struct sl_rounds *rounds, uint32_t learners, sl_round most)
{
	*rounds = (struct sl_rounds){.learners = learners, .most = most};
}

void sl_rounds_close(struct sl_rounds *rounds)
{
	for (uint32_t i = 0; i < rounds->count; i++)
		free(rounds->rows[i].who);
	free(rounds->rows);
	*rounds = (struct sl_rounds){0};
}

static int grow(struct sl_rounds *rounds, uint32_t count)
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
		struct sl_round_row row = {.round = rounds->count + 1, .same = true};
		row.who = calloc(sl_bits_words(rounds->learners), sizeof *row.who);
		if (row.who == NULL)
			return SL_ERR_NOMEM;
		rounds->rows[rounds->count++] = row;
	}
	return SL_OK;
}

struct sl_round_row *sl_rounds_row(struct sl_rounds *rounds, const json_t *record)
{
	uint64_t t = sl_field_whole(record, "round", 0);
	if (t < 1 || t > rounds->most || grow(rounds, (uint32_t)t) != SL_OK)
		return NULL;
	return &rounds->rows[t - 1];
}

void sl_round_trained(struct sl_round_row *row, const json_t *record)
{
	row->trained_ms = fmax(row->trained_ms, sl_field_real(record, "mono_ms", 0));
	row->train_s = fmax(row->train_s, sl_field_real(record, "train_s", 0));
}

void sl_round_view(struct sl_round_row *row, const json_t *record)
{
	if (row->committed > 0)
		return;
	row->learners = (uint32_t)sl_field_whole(record, "learners", row->learners);
	row->edges = (uint32_t)sl_field_whole(record, "edges", row->edges);
	row->mu = sl_field_real(record, "mu", row->mu);
	row->k = sl_field_whole(record, "k", row->k);
}

/* Adds up what is per learner; the slowest counts for times. */
static void add_commit(struct sl_round_row *row, const json_t *record)
{
	row->bytes += sl_field_whole(record, "round_bytes_sent", 0);
	row->margin = fmax(row->margin, sl_field_real(record, "margin", 1)); /* without a margin: no claim */
	row->train_s = fmax(row->train_s, sl_field_real(record, "train_s", 0));
	row->committed_ms = fmax(row->committed_ms, sl_field_real(record, "mono_ms", 0));
	if (row->trained_ms > 0)
		row->aggregate_s = (row->committed_ms - row->trained_ms) / 1000;
	else /* the record was written before the launcher listened */
		row->aggregate_s = fmax(row->aggregate_s, sl_field_real(record, "aggregate_s", 0));
}

bool sl_round_committed(struct sl_round_row *row, uint32_t learner, const json_t *record)
{
	const char *digest = sl_field_text(record, "digest", "");
	if (sl_bit(row->who, learner))
		return false;
	sl_bit_set(row->who, learner);
	if (row->committed == 0) {
		sl_round_view(row, record);
		snprintf(row->digest, sizeof row->digest, "%s", digest);
	}
	row->same = row->same && *digest != '\0' && strcmp(row->digest, digest) == 0;
	add_commit(row, record);
	return row->committed++ == 0;
}

void sl_round_evaluated(struct sl_round_row *row, const json_t *record)
{
	if (row->mse_known || !json_is_number(json_object_get(record, "mse")))
		return;
	row->mse = sl_field_real(record, "mse", 0);
	row->mse_known = true;
}

void sl_round_clamped(struct sl_round_row *row, uint64_t were, uint64_t are)
{
	row->clamped = row->clamped - were + are;
}
