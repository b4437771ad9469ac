/* unit.h - what every math suite includes: cmocka, memory, and a source of numbers that a seed repeats. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/field/field.h"

/* splitmix64; a suite that fails prints its seed by failing the same way again. */
static inline uint64_t any64(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
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
