/* An exchange of metropolis (ROUND.md §8.2 metropolis): X += sum over the neighbours of trunc((X_j - X) /
 * d).
 *
 * Neighbours of one d are taken together. Let C = c d >= 2^62, so that z = X_j - X + C is not negative, and
 * let z grow by d - 1 where X_j < X: then trunc((X_j - X) / d) = floor(z / d) - c. With 2^31 = a d + b, 0 < b
 * <= d, and z = 2^31 h + l,
 *
 *     floor(z / d) = a h + floor(t / d),   t = b h + l = z - a d h < 2^32 d + 2^31,
 *
 * and t may be computed mod 2^52. With m = floor(2^52 / d) + 1, floor(t / d) = floor(m t / 2^52) as long as
 * t (m d - 2^52) <= t d < 2^52, which is so up to d = 1023. Only the sums over h and over floor(t / d) are
 * kept.
 */
#include "common/field/kernels/avx512.h"
#include "common/field/kernels/group.h"
#include "common/field/kernels/plain.h"

#define INLINE static inline __attribute__((always_inline))
#define COLUMNS 4u
#define DIVISOR_MOST 1023u
#define DIGIT 31u /* bits of l */

/* Neighbours with one divisor, and its constants. */
struct run {
	uint32_t first, end;
	uint64_t a, c, d, m;
};

static struct run run_of(const struct sl_group *group, uint32_t first)
{
	uint64_t d = group->keys[first];
	return (struct run){.first = first,
			    .end = first + sl_group_run(group, first, group->count),
			    .a = ((UINT64_C(1) << DIGIT) - 1) / d,
			    .c = ((UINT64_C(1) << 62) + d - 1) / d,
			    .d = d,
			    .m = (UINT64_C(1) << LIMB) / d + 1};
}

/* Add to `sum` the changes that the neighbours of a run make to `columns` vectors of `old`. */
INLINE void mix_run(const struct sl_group *group, const struct run *run, const __m512i *old, __m512i *sum,
		    size_t at, __mmask8 mask, uint32_t columns)
{
	__m512i high[COLUMNS], quotient[COLUMNS], not_less[COLUMNS], less[COLUMNS];
	__m512i fold = all(-(run->a * run->d)), m = all(run->m);
	for (uint32_t v = 0; v < columns; v++) {
		high[v] = quotient[v] = _mm512_setzero_si512();
		not_less[v] = _mm512_sub_epi64(all(run->c * run->d), old[v]);
		less[v] = _mm512_add_epi64(not_less[v], all(run->d - 1));
	}
	for (uint32_t r = run->first; r < run->end; r++)
		for (uint32_t v = 0; v < columns; v++) {
			__m512i x = _mm512_maskz_loadu_epi64(mask, group->states[r] + 8 * (at + v * LANES));
			__mmask8 below = _mm512_cmplt_epi64_mask(x, old[v]);
			__m512i z = _mm512_add_epi64(x, _mm512_mask_blend_epi64(below, not_less[v], less[v]));
			__m512i h = _mm512_srli_epi64(z, DIGIT);
			high[v] = _mm512_add_epi64(high[v], h);
			quotient[v] =
				_mm512_madd52hi_epu64(quotient[v], _mm512_madd52lo_epu64(z, h, fold), m);
		}
	__m512i c = all(run->c * (run->end - run->first));
	for (uint32_t v = 0; v < columns; v++) {
		quotient[v] = _mm512_add_epi64(quotient[v], _mm512_mullo_epi64(high[v], all(run->a)));
		sum[v] = _mm512_add_epi64(sum[v], _mm512_sub_epi64(quotient[v], c));
	}
}

INLINE void mix_columns(int64_t *state, const struct sl_group *group, const struct run *runs, uint32_t count,
			size_t at, __mmask8 mask, uint32_t columns)
{
	__m512i old[COLUMNS], sum[COLUMNS];
	for (uint32_t v = 0; v < columns; v++)
		sum[v] = old[v] = _mm512_maskz_loadu_epi64(mask, state + at + v * LANES);
	for (uint32_t r = 0; r < count; r++)
		mix_run(group, &runs[r], old, sum, at, mask, columns);
	for (uint32_t v = 0; v < columns; v++)
		_mm512_mask_storeu_epi64(state + at + v * LANES, mask, sum[v]);
}

void sl_kernels_avx512_mix(int64_t *state, size_t count, const uint8_t *const *states,
			   const struct sl_divisor *divisors, uint32_t degree)
{
	struct run runs[SL_LEARNERS_MAX];
	struct sl_group group = {.count = degree};
	uint32_t n = 0;
	size_t at = 0;
	bool fits = degree <= SL_LEARNERS_MAX;
	for (uint32_t r = 0; fits && r < degree; r++) {
		group.states[r] = states[r];
		group.keys[r] = divisors[r].d;
		fits = divisors[r].d <= DIVISOR_MOST;
	}
	if (!fits) {
		sl_plain_mix(state, count, states, divisors, degree);
		return;
	}
	sl_group_sort(&group);
	for (uint32_t r = 0; r < degree; r = runs[n++].end)
		runs[n] = run_of(&group, r);
	for (; at + COLUMNS * LANES <= count; at += COLUMNS * LANES)
		mix_columns(state, &group, runs, n, at, 0xff, COLUMNS);
	for (; at < count; at += LANES)
		mix_columns(state, &group, runs, n, at, lanes(count - at), 1);
}
