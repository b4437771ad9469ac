/* explore_store.h - a set of byte strings, each with a number: 0, 1, 2, .. in the order of their arrival.
 * Equal strings have one number, and strings are compared byte by byte. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sl_explore_store {
	uint32_t count;
	size_t bytes; /* of memory taken */
	const uint8_t **at;
	uint32_t *sizes, *hashes;
	uint32_t room, *table, mask;
	uint8_t *slab;
	size_t slab_left;
	uint8_t **slabs;
	uint32_t slab_count;
};

/* Return the number of the string, which is added unless it is there. A zeroed store is empty. */
uint32_t sl_explore_store_put(struct sl_explore_store *store, const void *bytes, size_t size);
/* Return the string, aligned to 8 bytes, and its size unless that is NULL. */
const void *sl_explore_store_get(const struct sl_explore_store *store, uint32_t number, size_t *size);
void sl_explore_store_free(struct sl_explore_store *store);
