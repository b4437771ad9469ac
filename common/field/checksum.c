#include "common/field/checksum.h"

#include <assert.h>

#include "common/field/factor.h"
#include "common/field/kernels/table.h"

uint32_t sl_checksum_points(const struct sl_field *field, uint64_t elements)
{
	uint32_t points = 0;
	for (unsigned __int128 left = (unsigned __int128)elements << 60; left > 0; left /= field->p)
		points++;
	assert(points <= SL_CHECKSUM_POINTS_MAX);
	return points;
}

size_t sl_checksum_bytes(uint32_t points)
{
	return points * (size_t)SL_KERNEL_BLOCK * sizeof(uint64_t) + SL_ARENA_ALIGNMENT;
}

int sl_checksum_init(struct sl_checksum *checksum, const struct sl_field *field, uint32_t points,
		     const uint8_t seed[static SL_KEY_BYTES], struct sl_arena *arena)
{
	struct sl_prg stream;
	*checksum = (struct sl_checksum){.field = *field, .points = points};
	checksum->powers = SL_ARENA_TAKE(arena, (size_t)points * SL_KERNEL_BLOCK, uint64_t);
	if (checksum->powers == NULL)
		return SL_ERR_NOMEM;
	sl_prg_open(&stream, seed);
	sl_prg_fill(&stream, field, checksum->rho, points);
	for (uint32_t k = 0; k < points; k++) {
		uint64_t *row = checksum->powers + (size_t)k * SL_KERNEL_BLOCK;
		struct sl_factor rho = sl_factor_of(field, checksum->rho[k]);
		row[0] = 1;
		for (size_t l = 1; l < SL_KERNEL_BLOCK; l++)
			row[l] = sl_factor_times(&rho, row[l - 1]);
	}
	return SL_OK;
}

static uint64_t power(const struct sl_field *field, uint64_t base, size_t exponent)
{
	uint64_t result = 1;
	for (; exponent != 0; exponent >>= 1) {
		if (exponent & 1)
			result = sl_field_mul(field, result, base);
		base = sl_field_mul(field, base, base);
	}
	return result;
}

void sl_checksum_add(const struct sl_checksum *checksum, const uint64_t *v, size_t at, size_t count,
		     uint64_t *phi)
{
	const struct sl_field *field = &checksum->field;
	for (uint32_t k = 0; k < checksum->points; k++) {
		const uint64_t *row = checksum->powers + (size_t)k * SL_KERNEL_BLOCK;
		uint64_t shift = power(field, checksum->rho[k], at), step;
		step = sl_field_mul(field, row[SL_KERNEL_BLOCK - 1], checksum->rho[k]);
		for (size_t l = 0; l < count; l += SL_KERNEL_BLOCK) {
			size_t n = count - l < SL_KERNEL_BLOCK ? count - l : SL_KERNEL_BLOCK;
			uint64_t part = sl_kernels()->inner(field, v + l, row, n);
			phi[k] = sl_field_add(field, phi[k], sl_field_mul(field, part, shift));
			shift = sl_field_mul(field, shift, step);
		}
	}
}
