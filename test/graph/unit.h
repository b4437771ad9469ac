/* unit.h - what the tests of arithmetic and graphs include: cmocka, memory, and numbers that a seed repeats.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/random.h"
#include "common/field/field.h"
#include "test/lib/test.h"

/* A test that fails fails the same way again: each begins with a seed of its own. */
static inline uint64_t any64(uint64_t *state)
{
	return sl_random_next(state);
}

static inline struct sl_arena arena_of(size_t bytes)
{
	struct sl_arena arena;
	void *memory = malloc(bytes);
	assert_non_null(memory);
	sl_arena_init(&arena, memory, bytes);
	return arena;
}

static inline void arena_free(struct sl_arena *arena)
{
	free(arena->base);
}

static inline struct sl_field field_of(uint64_t p)
{
	struct sl_field field;
	assert_int_equal(sl_field_init(&field, p), SL_OK);
	return field;
}
