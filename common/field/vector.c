#include "common/field/vector.h"

#include <assert.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/field/kernels/group.h"
#include "common/field/kernels/table.h"

void sl_vector_update(const struct sl_field *field, uint64_t *x, uint64_t *sum, uint64_t c, size_t count,
		      const uint8_t *const *states, const uint64_t *weights, uint32_t degree)
{
	const struct sl_kernels *kernels = sl_kernels();
	uint64_t fresh[SL_KERNEL_BLOCK], total[SL_KERNEL_BLOCK];
	struct sl_group group; /* large: only its first `degree` places are set */
	assert(degree <= SL_LEARNERS_MAX);
	group.count = degree;
	memcpy(group.states, states, degree * sizeof *states);
	memcpy(group.keys, weights, degree * sizeof *weights);
	sl_group_sort(&group); /* states with one weight are added before they are multiplied */
	for (size_t at = 0; at < count; at += SL_KERNEL_BLOCK) {
		size_t n = count - at < SL_KERNEL_BLOCK ? count - at : SL_KERNEL_BLOCK;
		kernels->multiply(field, fresh, x + at, n, weights[degree], false);
		for (uint32_t r = 0, run; r < degree; r += run) {
			run = sl_group_run(&group, r, sl_kernels_rows_lazy(field));
			kernels->gather(field, total, group.states + r, run, at, n);
			kernels->multiply(field, fresh, total, n, group.keys[r], true);
		}
		memcpy(x + at, fresh, n * sizeof *fresh);
		kernels->multiply(field, sum + at, fresh, n, c, true);
	}
}

void sl_vector_scale(const struct sl_field *field, uint64_t *v, size_t count, uint64_t c)
{
	sl_kernels()->multiply(field, v, v, count, c, false);
}

void sl_vector_add(const struct sl_field *field, uint64_t *s, const uint64_t *v, size_t count)
{
	sl_kernels()->add(field, s, v, count);
}

uint64_t sl_vector_magnitude(const struct sl_field *field, const uint64_t *z, size_t count)
{
	return sl_kernels()->magnitude(field, z, count);
}

void sl_vector_unpack(const struct sl_field *field, const uint8_t *packed, size_t count, uint64_t *out)
{
	sl_kernels()->take(field, out, packed, count, false);
}

int sl_vector_take(const struct sl_field *field, uint64_t *s, const uint8_t *packed, size_t count, bool add)
{
	return sl_kernels()->take(field, s, packed, count, add) < field->p &&
			       sl_bytes_filled(packed, count, field->bits)
		       ? SL_OK
		       : SL_ERR_INVALID;
}

bool sl_vector_valid(const struct sl_field *field, const uint8_t *packed, size_t count)
{
	return sl_kernels()->greatest(field, packed, count) < field->p &&
	       sl_bytes_filled(packed, count, field->bits);
}
