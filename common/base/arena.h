/* arena.h - memory handed over once, given out in order, given back all at once.
 *
 * Core and math take their memory from an arena that their caller sized and owns; they never free a piece.
 * Everything given out is zeroed and 64-byte aligned.
 */
#pragma once

#include "common/base/types.h"

struct sl_arena {
	uint8_t *base;
	size_t size;
	size_t used;
};

/* Takes over `size` bytes at `base` (not owned). */
void sl_arena_init(struct sl_arena *arena, void *base, size_t size);

/* count * bytes, zeroed; NULL when the arena is too small (or the product overflows). */
void *sl_arena_take(struct sl_arena *arena, size_t count, size_t bytes);

/* A mark to go back to; what was taken after it is given back. */
size_t sl_arena_mark(const struct sl_arena *arena);
void sl_arena_reset(struct sl_arena *arena, size_t mark);

#define SL_ARENA_TAKE(arena, count, type) ((type *)sl_arena_take((arena), (count), sizeof(type)))
