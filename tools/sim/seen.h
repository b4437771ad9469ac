/* seen.h - a set of hashes: whether one was met before. Owns its table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sl_sim_seen {
	uint64_t *table; /* open addressing; 0: free */
	size_t count, room;
};

/* Adds the first 8 of uniform bytes; false if they are in it already. */
bool sl_sim_seen_add(struct sl_sim_seen *seen, const uint8_t *uniform);
bool sl_sim_seen_has(const struct sl_sim_seen *seen, const uint8_t *uniform);
void sl_sim_seen_free(struct sl_sim_seen *seen);
