#include "tools/sim/seen.h"

#include <stdlib.h>
#include <string.h>

static uint64_t word_of(const uint8_t *uniform)
{
	uint64_t word;
	memcpy(&word, uniform, sizeof word);
	return word | 1;
}

static uint64_t *slot_of(const struct sl_sim_seen *seen, uint64_t word)
{
	size_t k = (size_t)(word >> 20) & (seen->room - 1);
	while (seen->table[k] != 0 && seen->table[k] != word)
		k = (k + 1) & (seen->room - 1);
	return &seen->table[k];
}

static void grow(struct sl_sim_seen *seen)
{
	struct sl_sim_seen larger = {.count = seen->count, .room = seen->room == 0 ? 256 : seen->room * 4};
	larger.table = calloc(larger.room, sizeof *larger.table);
	for (size_t k = 0; k < seen->room; k++)
		if (seen->table[k] != 0)
			*slot_of(&larger, seen->table[k]) = seen->table[k];
	free(seen->table);
	*seen = larger;
}

bool sl_sim_seen_has(const struct sl_sim_seen *seen, const uint8_t *uniform)
{
	return seen->room > 0 && *slot_of(seen, word_of(uniform)) != 0;
}

bool sl_sim_seen_add(struct sl_sim_seen *seen, const uint8_t *uniform)
{
	if (2 * seen->count >= seen->room)
		grow(seen);
	uint64_t *slot = slot_of(seen, word_of(uniform));
	if (*slot != 0)
		return false;
	*slot = word_of(uniform);
	seen->count++;
	return true;
}

void sl_sim_seen_free(struct sl_sim_seen *seen)
{
	free(seen->table);
}
