#include "common/field/checksum.h"

#include <assert.h>

#include "common/field/kernels/table.h"

#define BLOCK 512u /* elements; ROUND.md §8.7 says how many */

static_assert(BLOCK <= SL_KERNEL_BLOCK, "a kernel takes a block at once");

uint32_t sl_checksum_points(const struct sl_field *field)
{
	uint32_t points = 0;
	for (unsigned __int128 x = 1u << 6; x >> 66 == 0; x = x * field->p / 2)
		points++;
	assert(points <= SL_CHECKSUM_POINTS_MAX);
	return points;
}

/* Return how many numbers are drawn. */
static size_t drawn(uint32_t points, uint64_t elements)
{
	return points * (size_t)(BLOCK + (elements + BLOCK - 1) / BLOCK);
}

size_t sl_checksum_bytes(uint32_t points, uint64_t elements)
{
	return drawn(points, elements) * sizeof(uint64_t) + SL_ARENA_ALIGNMENT;
}

int sl_checksum_init(struct sl_checksum *checksum, const struct sl_field *field, uint32_t points,
		     uint64_t elements, const uint8_t seed[static SL_KEY_BYTES], struct sl_arena *arena)
{
	struct sl_prg stream;
	uint64_t *numbers = SL_ARENA_TAKE(arena, drawn(points, elements), uint64_t);
	if (numbers == NULL)
		return SL_ERR_NOMEM;
	*checksum = (struct sl_checksum){.field = *field,
					 .points = points,
					 .places = numbers,
					 .blocks = numbers + points * (size_t)BLOCK};
	sl_prg_open(&stream, seed);
	sl_prg_fill(&stream, field, numbers, drawn(points, elements));
	sl_prg_close(&stream);
	return SL_OK;
}

void sl_checksum_add(const struct sl_checksum *checksum, const uint64_t *v, size_t at, size_t count,
		     uint64_t *phi)
{
	const struct sl_field *field = &checksum->field;
	for (size_t end = at + count, n; at < end; at += n, v += n) {
		size_t j = at % BLOCK;
		const uint64_t *a = checksum->blocks + at / BLOCK * checksum->points;
		const uint64_t *c = checksum->places + j;
		n = end - at < BLOCK - j ? end - at : BLOCK - j;
		for (uint32_t k = 0; k < checksum->points; k++) {
			uint64_t part = sl_kernels()->inner(field, v, c + (size_t)k * BLOCK, n);
			phi[k] = sl_field_add(field, phi[k], sl_field_mul(field, part, a[k]));
		}
	}
}
