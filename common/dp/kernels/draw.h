/* draw.h - the inner loop of the sampler (gaussian.h), for vectors as wide as the instruction set of the
 * including file has them. Private to this room.
 *
 * Nothing here branches on a secret or takes one as an index: tables are scanned whole, and choices are
 * masks.
 */
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif
#include <string.h>

#include "common/dp/gaussian.h"

#ifdef __AVX512F__
#define DRAW_LANES 8u
#elif defined(__AVX2__)
#define DRAW_LANES 4u
#else
#define DRAW_LANES 2u
#endif
#define DRAW_UNIT 4u /* vectors side by side: a threshold is loaded once for all */

#define INLINE static inline __attribute__((always_inline))

typedef uint64_t draw_lanes __attribute__((vector_size(8 * DRAW_LANES)));

/* Return `count`, one more where v > t. Both are below 2^63, or t is -1. */
INLINE draw_lanes draw_count(draw_lanes count, draw_lanes v, uint64_t t)
{
	draw_lanes all = t - (draw_lanes){0};
#ifdef __AVX512F__
	__mmask8 above = _mm512_cmpgt_epi64_mask((__m512i)v, (__m512i)all);
	return (draw_lanes)_mm512_mask_sub_epi64((__m512i)count, above, (__m512i)count,
						 _mm512_set1_epi64(-1));
#elif defined(__AVX2__)
	return count - (draw_lanes)_mm256_cmpgt_epi64((__m256i)v, (__m256i)all);
#else
	return count + ((all - v) >> 63); /* a comparison might become a branch */
#endif
}

/* Set `count` to the numbers of the n thresholds that are below v. */
INLINE void draw_search(const uint64_t *t, uint32_t n, const draw_lanes *v, draw_lanes *count)
{
	for (uint32_t k = 0; k < DRAW_UNIT; k++)
		count[k] = (draw_lanes){0};
#pragma GCC unroll 2 /* a quarter of the instructions of a turn are those of the loop */
	for (uint32_t j = 0; j < n; j++)
		for (uint32_t k = 0; k < DRAW_UNIT; k++)
			count[k] = draw_count(count[k], v[k], t[j]);
}

/* Draw the elements of a unit: term i is made of the words at `words` + i SL_GAUSSIAN_GROUP, and of the
 * shared ones behind the last. */
INLINE void draw_unit(const struct sl_gaussian *plan, const uint64_t *words, int64_t *out)
{
	draw_lanes word[DRAW_UNIT], v[DRAW_UNIT], y[DRAW_UNIT], rare[DRAW_UNIT], sum[DRAW_UNIT];
	memcpy(word, words + (size_t)plan->terms * SL_GAUSSIAN_GROUP, sizeof word);
	for (uint32_t k = 0; k < DRAW_UNIT; k++) {
		v[k] = word[k] >> 1;
		sum[k] = (draw_lanes){0};
	}
	draw_search(plan->rare, plan->rares, v, rare);
	for (uint32_t i = 0; i < plan->terms; i++, words += SL_GAUSSIAN_GROUP) {
		memcpy(word, words, sizeof word);
		for (uint32_t k = 0; k < DRAW_UNIT; k++)
			v[k] = word[k] >> 1;
		draw_search(plan->common, plan->commons, v, y);
		for (uint32_t k = 0; k < DRAW_UNIT; k++) {
			draw_lanes beyond = -((plan->commons - 1 - y[k]) >> 63); /* above all thresholds */
			draw_lanes minus = -(word[k] & 1), size = y[k] ^ (beyond & (y[k] ^ rare[k]));
			sum[k] += ((plan->coefficient[i] * size) ^ minus) - minus;
		}
	}
	memcpy(out, sum, sizeof sum);
}

/* Draw so many groups of SL_GAUSSIAN_GROUP elements from the words of their streams. */
static inline void draw_groups(const struct sl_gaussian *plan, const uint64_t *words, int64_t *out,
			       size_t groups)
{
	for (size_t g = 0; g < groups; g++)
		for (uint32_t l = 0; l < SL_GAUSSIAN_GROUP; l += DRAW_UNIT * DRAW_LANES)
			draw_unit(plan, words + g * (plan->terms + 1) * SL_GAUSSIAN_GROUP + l,
				  out + g * SL_GAUSSIAN_GROUP + l);
}

void sl_kernels_portable_gaussian(const struct sl_gaussian *plan, const uint64_t *words, int64_t *out,
				  size_t groups);
void sl_kernels_avx2_gaussian(const struct sl_gaussian *plan, const uint64_t *words, int64_t *out,
			      size_t groups);
void sl_kernels_avx512_gaussian(const struct sl_gaussian *plan, const uint64_t *words, int64_t *out,
				size_t groups);
