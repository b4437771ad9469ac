#include "common/dp/kernels/draw.h"

void sl_kernels_avx512_gaussian(const struct sl_gaussian *plan, const uint64_t *words, int64_t *out,
				size_t groups)
{
	draw_groups(plan, words, out, groups);
}
