#include "test/leak/map.h"

uint64_t map_predict(const struct map *map, size_t output, uint64_t base, const uint64_t *inputs)
{
	const uint64_t *row = matrix_row(&map->cells, output);
	uint64_t value = base;
	for (size_t c = 0; c < map->inputs; c++)
		value = sl_field_add(&map->field, value, sl_field_mul(&map->field, row[c], inputs[c]));
	return value;
}

uint32_t map_owner(const struct map *map, size_t input)
{
	const struct history *history = map->history;
	size_t randomness = map->random_start[history->learners];
	uint32_t i = 0;
	if (input >= randomness)
		return (uint32_t)((input - randomness) / (history->draws * history->elements));
	while (input >= map->random_start[i + 1])
		i++;
	return i;
}

bool map_sees(const struct map *map, uint32_t coalition, const struct row *row)
{
	const struct attempt *attempt = &map->history->attempts[row->attempt];
	switch (row->kind) {
	case ROW_SHARE:
		return coalition >> row->to & 1;
	case ROW_OWN:
		return map->own_sent && (attempt->graph.adjacent[row->from] & coalition) != 0;
	case ROW_DEPOSIT:
		return true; /* anybody may ask for it in recovery */
	case ROW_STATE:
		return attempt_known(attempt, coalition) >> row->from & 1;
	}
	return false;
}

struct matrix map_seen(const struct map *map, uint32_t coalition)
{
	struct matrix seen = matrix_of(&map->field, map->inputs);
	for (size_t o = 0; o < map->outputs; o++)
		if (map_sees(map, coalition, &map->rows[o]))
			memcpy(matrix_add(&seen), matrix_row(&map->cells, o),
			       seen.columns * sizeof *seen.cells);
	for (size_t c = 0; c < seen.columns; c++) {
		if (!(coalition >> map_owner(map, c) & 1))
			continue;
		for (size_t r = 0; r < seen.rows; r++)
			matrix_row(&seen, r)[c] = 0;
	}
	return seen;
}

struct matrix map_learned(const struct map *map, uint32_t coalition)
{
	struct matrix seen = map_seen(map, coalition);
	matrix_reduce(&seen);
	struct matrix learned = matrix_beyond(&seen, map->random_start[map->history->learners]);
	matrix_free(&seen);
	return learned;
}

static bool learns(const struct map *map, uint32_t coalition, struct matrix sums)
{
	struct matrix learned = map_learned(map, coalition);
	bool equal = matrix_equal(&learned, &sums);
	matrix_free(&learned);
	matrix_free(&sums);
	return equal;
}

bool map_as_allowed(const struct map *map, uint32_t coalition)
{
	return learns(map, coalition, history_allowed(map->history, &map->field, coalition));
}

bool map_only_results(const struct map *map, uint32_t coalition)
{
	return history_exposed_once(map->history, coalition) &&
	       learns(map, coalition, history_results(map->history, &map->field, coalition));
}

struct matrix map_merged(const struct history *history, const struct matrix *learned)
{
	struct matrix merged = matrix_of(&learned->field, history->learners);
	for (size_t r = 0; r < learned->rows; r++) {
		uint64_t *row = matrix_add(&merged);
		for (uint32_t i = 0; i < history->learners; i++)
			for (uint32_t d = 0; d < history->draws; d++)
				row[i] =
					sl_field_add(&merged.field, row[i],
						     matrix_row(learned, r)[history_model(history, i, d, 0)]);
	}
	matrix_reduce(&merged);
	return merged;
}
