/* secrets.h - what a learner must not lose and must not show while an attempt is open: its deposit key, its
 * challenge and the key shares that its neighbours gave it (ROUND.md §7.11 Ready).
 *
 * On disk from PREPARED to OVER or COMMIT, then erased. Whoever owns a struct sl_secrets wipes it.
 */
#pragma once

#include "common/base/limits.h"
#include "common/base/types.h"

/* A key share and its path, as in a KeyShare and an Opening. */
struct sl_held_share {
	uint32_t size; /* SL_KEY_SHARE_BYTES and the hashes of the path; 0: not here */
	uint8_t bytes[SL_KEY_SHARE_BYTES_MAX];
};

struct sl_secrets {
	uint8_t key[SL_KEY_BYTES];	 /* k_i */
	uint8_t challenge[SL_KEY_BYTES]; /* ROUND.md §8.7 */
	uint8_t root[SL_HASH_BYTES];	 /* share_root of the own Ready */
	uint32_t count;			 /* neighbours in the view */
	struct sl_held_share *shares;	 /* `count`, by neighbour number: of that neighbour's key */
};
