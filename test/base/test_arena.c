/* Memory from one block: zeroed where it may have been used, and not touched where it was zeros from the
 * start. */
#include <string.h>

#include "common/base/arena.h"
#include "test/lib/test.h"

/* The sevens show that an arena of zeros writes none itself. */
TEST(zeros_are_not_touched)
{
	static _Alignas(64) uint8_t memory[256];
	struct sl_arena arena;
	memset(memory, 7, sizeof memory);
	sl_arena_init_zeros(&arena, memory, sizeof memory);
	uint8_t *piece = sl_arena_take(&arena, 100, 1);
	assert_int_equal(piece[0], 7);
	sl_arena_reset(&arena, 0);
	piece = sl_arena_take(&arena, 200, 1);
	for (int k = 0; k < 200; k++)
		assert_int_equal(piece[k], k < 100 ? 0 : 7);
}

TEST(others_are_zeroed)
{
	static _Alignas(64) uint8_t memory[256];
	struct sl_arena arena;
	memset(memory, 7, sizeof memory);
	sl_arena_init(&arena, memory, sizeof memory);
	const uint8_t *piece = sl_arena_take(&arena, 200, 1);
	for (int k = 0; k < 200; k++)
		assert_int_equal(piece[k], 0);
	assert_null(sl_arena_take(&arena, 200, 1));
	assert_true(arena.full);
}
