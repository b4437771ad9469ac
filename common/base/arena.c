#include "common/base/arena.h"

#include <assert.h>
#include <string.h>

void sl_arena_init(struct sl_arena *arena, void *base, size_t size)
{
	*arena = (struct sl_arena){.base = base, .size = size};
}

void sl_arena_init_zeros(struct sl_arena *arena, void *base, size_t size)
{
	*arena = (struct sl_arena){.base = base, .size = size, .zeros = true};
}

void *sl_arena_take(struct sl_arena *arena, size_t count, size_t bytes)
{
	size_t want;
	bool overflow = __builtin_mul_overflow(count, bytes, &want);
	size_t misaligned = ((uintptr_t)arena->base + arena->used) % SL_ARENA_ALIGNMENT;
	size_t pad = misaligned == 0 ? 0 : SL_ARENA_ALIGNMENT - misaligned;
	if (overflow || pad > arena->size - arena->used || want > arena->size - arena->used - pad) {
		arena->full = true;
		return NULL;
	}
	uint8_t *piece = arena->base + arena->used + pad;
	if (!arena->zeros)
		memset(piece, 0, want);
	arena->used += pad + want;
	if (arena->used > arena->most)
		arena->most = arena->used;
	return piece;
}

size_t sl_arena_mark(const struct sl_arena *arena)
{
	return arena->used;
}

void sl_arena_reset(struct sl_arena *arena, size_t mark)
{
	assert(mark <= arena->used);
	if (arena->zeros)
		memset(arena->base + mark, 0, arena->used - mark);
	arena->used = mark;
	arena->full = false;
}
