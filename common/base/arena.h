/* arena.h - one block of memory, given out in order and returned at once.
 *
 * The libraries take their memory from an arena that their caller sized and owns; they never free a piece.
 * Every piece is zeroed and 64-byte aligned.
 */
#pragma once

#include "common/base/types.h"

#define SL_ARENA_ALIGNMENT 64u /* of a piece; at most so many bytes are lost for each */

struct sl_arena {
	uint8_t *base;
	size_t size;
	size_t used;
	size_t most; /* bytes from base on that were ever given out */
	bool zeros;  /* what lies beyond `used` is zeros: it is not touched before its taker does */
	bool full;   /* since the start or a reset a piece did not fit: takers may look once, at the end */
};

/* Start an arena in the `size` bytes at `base`, which the caller owns. */
void sl_arena_init(struct sl_arena *arena, void *base, size_t size);

/* Start an arena in memory that is all zeros, as that of calloc: pages that are not written to take no
 * memory. */
void sl_arena_init_zeros(struct sl_arena *arena, void *base, size_t size);

/* Return count * bytes zeroed bytes, or NULL if the arena is too small or the product overflows. */
void *sl_arena_take(struct sl_arena *arena, size_t count, size_t bytes);

/* Return a mark; sl_arena_reset to it returns all that was taken after it. */
size_t sl_arena_mark(const struct sl_arena *arena);
void sl_arena_reset(struct sl_arena *arena, size_t mark);

#define SL_ARENA_TAKE(arena, count, type) ((type *)sl_arena_take((arena), (count), sizeof(type)))
