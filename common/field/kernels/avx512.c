#include "common/field/kernels/avx512.h"
#include "common/field/kernels/plain.h"

#define INLINE static inline __attribute__((always_inline))
#define AHEAD 4u /* vectors of a gather that are summed side by side */

/* The permutation that turns eight packed elements into lanes. */
struct shape {
	__m512i index;
	__mmask64 filled;
	uint32_t width;
};

static struct shape shape_of(const struct sl_field *field)
{
	uint8_t index[64];
	uint32_t width = field->bytes;
	for (uint32_t b = 0; b < 64; b++)
		index[b] = (uint8_t)(b / 8 * width + b % 8);
	return (struct shape){_mm512_loadu_si512(index), UINT64_C(0x0101010101010101) * ((1u << width) - 1),
			      width};
}

/* Return the next eight of `left` elements; lanes beyond them are 0, and no byte beyond them is read. */
INLINE __m512i unpack(const struct shape *shape, const uint8_t *packed, size_t left)
{
	size_t bytes = left * shape->width;
	__m512i v = bytes >= 64 ? _mm512_loadu_si512(packed)
				: _mm512_maskz_loadu_epi8((UINT64_C(1) << bytes) - 1, packed);
	return _mm512_maskz_permutexvar_epi8(shape->filled, shape->index, v);
}

/* --- randomness --- */

static size_t sift(const struct sl_field *field, const uint8_t *packed, size_t count, uint64_t *out)
{
	struct shape shape = shape_of(field);
	__m512i mask = all(UINT64_MAX >> (64 - field->bits)), p = all(field->p);
	size_t kept = 0;
	for (size_t i = 0; i < count; i += LANES, packed += LANES * shape.width) {
		__m512i v = _mm512_and_si512(unpack(&shape, packed, count - i), mask);
		__mmask8 below = _mm512_mask_cmplt_epu64_mask(lanes(count - i), v, p);
		if (below == 0xff) {
			_mm512_storeu_si512(out + kept, v);
			kept += LANES;
			continue;
		}
		uint32_t some = (uint32_t)__builtin_popcount(below);
		_mm512_mask_storeu_epi64(out + kept, lanes(some), _mm512_maskz_compress_epi64(below, v));
		kept += some;
	}
	return kept;
}

/* --- sums of products --- */

/* Products of up to 100 bits are added by halves of 52 bits, side by side. */
static uint64_t inner(const struct sl_field *field, const uint64_t *a, const uint64_t *b, size_t count)
{
	__m512i low[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()}, high[2] = {low[0], low[0]};
	if (field->bits > 50)
		return sl_plain_inner(field, a, b, count);
	for (size_t l = 0, k = 0; l < count; l += LANES, k ^= 1) {
		__mmask8 mask = lanes(count - l);
		__m512i x = _mm512_maskz_loadu_epi64(mask, a + l), y = _mm512_maskz_loadu_epi64(mask, b + l);
		low[k] = _mm512_madd52lo_epu64(low[k], x, y);
		high[k] = _mm512_madd52hi_epu64(high[k], x, y);
	}
	uint64_t sum = (uint64_t)_mm512_reduce_add_epi64(_mm512_add_epi64(low[0], low[1]));
	uint64_t above = (uint64_t)_mm512_reduce_add_epi64(_mm512_add_epi64(high[0], high[1]));
	return (uint64_t)((((unsigned __int128)above << 52) + sum) % field->p);
}

/* --- packed vectors --- */

/* Compute one vector of sums, or AHEAD of them. */
INLINE void gather_some(const struct shape *shape, uint64_t *total, const uint8_t *const *packed,
			uint32_t rows, size_t at, size_t left, uint32_t vectors)
{
	__m512i sum[AHEAD];
	for (uint32_t v = 0; v < vectors; v++)
		sum[v] = _mm512_setzero_si512();
	for (uint32_t r = 0; r < rows; r++)
		for (uint32_t v = 0; v < vectors; v++)
			sum[v] = _mm512_add_epi64(
				sum[v],
				unpack(shape, packed[r] + (at + v * LANES) * shape->width, left - v * LANES));
	for (uint32_t v = 0; v < vectors; v++)
		_mm512_mask_storeu_epi64(total + v * LANES, lanes(left - v * LANES), sum[v]);
}

static void gather(const struct sl_field *field, uint64_t *total, const uint8_t *const *packed, uint32_t rows,
		   size_t at, size_t count)
{
	struct shape shape = shape_of(field);
	size_t l = 0;
	for (; l + AHEAD * LANES <= count; l += AHEAD * LANES)
		gather_some(&shape, total + l, packed, rows, at + l, count - l, AHEAD);
	for (; l < count; l += LANES)
		gather_some(&shape, total + l, packed, rows, at + l, count - l, 1);
}

static uint64_t greatest(const struct sl_field *field, const uint8_t *packed, size_t count)
{
	struct shape shape = shape_of(field);
	__m512i most = _mm512_setzero_si512();
	for (size_t l = 0; l < count; l += LANES)
		most = _mm512_max_epu64(most, unpack(&shape, packed + l * shape.width, count - l));
	return _mm512_reduce_max_epu64(most);
}

static uint64_t take(const struct sl_field *field, uint64_t *s, const uint8_t *packed, size_t count, bool add)
{
	struct shape shape = shape_of(field);
	__m512i p = all(field->p), most = _mm512_setzero_si512(), keep = all(add ? UINT64_MAX : 0);
	for (size_t l = 0; l < count; l += LANES) {
		__mmask8 mask = lanes(count - l);
		__m512i v = unpack(&shape, packed + l * shape.width, count - l);
		__m512i old = _mm512_and_si512(_mm512_maskz_loadu_epi64(mask, s + l), keep);
		most = _mm512_max_epu64(most, v);
		_mm512_mask_storeu_epi64(s + l, mask, reduce_once(_mm512_add_epi64(old, v), p));
	}
	return _mm512_reduce_max_epu64(most);
}

const struct sl_kernels sl_kernels_avx512 = {
	.name = "avx512",
	.stream = sl_kernels_avx512_stream,
	.sift = sift,
	.add = sl_plain_add,
	.subtract = sl_plain_subtract,
	.multiply = sl_kernels_avx512_multiply,
	.prepare = sl_kernels_avx512_prepare,
	.inner = inner,
	.dot = sl_kernels_avx512_dot,
	.gather = gather,
	.greatest = greatest,
	.take = take,
	.strands = sl_plain_strands,
	.mix = sl_kernels_avx512_mix,
};
