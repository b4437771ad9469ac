/* seen.h - a set of hashes. NULL is the empty set. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Add the first 8 of uniform bytes; return false if they are in the set already. */
bool sl_sim_seen_add(void **seen, const uint8_t *uniform);
void sl_sim_seen_free(void **seen);
