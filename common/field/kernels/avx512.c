#include "common/field/kernels/avx512.h"
#include "common/field/kernels/plain.h"

#define INLINE static inline __attribute__((always_inline))
#define NINTH UINT64_C(0x0101010101010101) /* the lowest byte of each lane */
#define AHEAD 4u			   /* vectors of a gather that are summed side by side */

/* How eight packed elements become lanes: each lane takes the eight bytes that its element begins in, shifts
 * them down, and takes what is left of the element from the ninth byte. */
struct shape {
	__m512i index, shift;	    /* of the eight bytes, and of the first bit in them */
	__m512i ninth, shift_ninth; /* of the ninth byte */
	__m512i mask;
	uint32_t bits;
	bool wide; /* a ninth byte may be needed */
};

static struct shape shape_of(uint32_t bits)
{
	uint8_t index[64], ninth[64];
	uint64_t shift[LANES], shift_ninth[LANES];
	for (uint32_t b = 0; b < 64; b++) {
		uint32_t first = b / 8 * bits / 8;
		index[b] = (uint8_t)(first + b % 8);
		ninth[b] = (uint8_t)(first + 8);
	}
	for (uint32_t i = 0; i < LANES; i++) {
		shift[i] = i * bits % 8;
		shift_ninth[i] = 64 - shift[i]; /* a shift by 64 gives 0 */
	}
	return (struct shape){.index = _mm512_loadu_si512(index),
			      .shift = _mm512_loadu_si512(shift),
			      .ninth = _mm512_loadu_si512(ninth),
			      .shift_ninth = _mm512_loadu_si512(shift_ninth),
			      .mask = all(UINT64_MAX >> (64 - bits)),
			      .bits = bits,
			      .wide = bits > 57};
}

/* Return how many of `count` elements are in vectors that can be loaded whole: no byte beyond the elements is
 * read. */
INLINE size_t whole(const struct shape *shape, size_t count)
{
	size_t bytes = sl_packed_bytes(count, shape->bits);
	return bytes < 64 ? 0 : ((bytes - 64) / shape->bits + 1) * LANES;
}

/* Make lanes of the bytes of eight elements. */
INLINE __m512i lanes_of(const struct shape *shape, __m512i v)
{
	__m512i lane = _mm512_srlv_epi64(_mm512_permutexvar_epi8(shape->index, v), shape->shift);
	if (shape->wide) {
		__m512i ninth = _mm512_maskz_permutexvar_epi8(NINTH, shape->ninth, v);
		lane = _mm512_or_si512(lane, _mm512_sllv_epi64(ninth, shape->shift_ninth));
	}
	return _mm512_and_si512(lane, shape->mask);
}

/* Return the bytes of the next eight of `left` elements; no byte beyond them is read. */
INLINE __m512i load(const struct shape *shape, const uint8_t *packed, size_t left)
{
	size_t bytes = sl_packed_bytes(left, shape->bits);
	return bytes >= 64 ? _mm512_loadu_si512(packed)
			   : _mm512_maskz_loadu_epi8((UINT64_C(1) << bytes) - 1, packed);
}

/* Return the next eight of `left` elements. Lanes beyond them are undefined. */
INLINE __m512i unpack(const struct shape *shape, const uint8_t *packed, size_t left)
{
	return lanes_of(shape, load(shape, packed, left));
}

/* --- randomness --- */

/* Store v, or its sum or difference with what is there, in the lanes of `mask`. */
INLINE void put(uint64_t *out, __mmask8 mask, __m512i v, __m512i p, enum sl_draw how)
{
	__m512i old = how == SL_DRAW ? v : _mm512_maskz_loadu_epi64(mask, out);
	if (how == SL_DRAW_ADD)
		v = reduce_once(_mm512_add_epi64(old, v), p);
	if (how == SL_DRAW_SUBTRACT)
		v = _mm512_min_epu64(_mm512_sub_epi64(old, v), _mm512_add_epi64(_mm512_sub_epi64(old, v), p));
	_mm512_mask_storeu_epi64(out, mask, v);
}

INLINE size_t sift_each(const struct sl_field *field, const uint8_t *packed, size_t count, uint64_t *out,
			enum sl_draw how)
{
	struct shape shape = shape_of(8 * field->draw_bytes);
	__m512i mask = all(UINT64_MAX >> (64 - field->bits)), p = all(field->p);
	size_t kept = 0, end = whole(&shape, count);
	for (size_t i = 0; i < count; i += LANES, packed += shape.bits) {
		__m512i bytes = i < end ? _mm512_loadu_si512(packed) : load(&shape, packed, count - i);
		__m512i v = _mm512_and_si512(lanes_of(&shape, bytes), mask);
		__mmask8 below = _mm512_mask_cmplt_epu64_mask(lanes(count - i), v, p);
		if (below == 0xff) {
			put(out + kept, 0xff, v, p, how);
			kept += LANES;
			continue;
		}
		uint32_t some = (uint32_t)__builtin_popcount(below);
		put(out + kept, lanes(some), _mm512_maskz_compress_epi64(below, v), p, how);
		kept += some;
	}
	return kept;
}

static size_t sift(const struct sl_field *field, const uint8_t *packed, size_t count, uint64_t *out,
		   enum sl_draw how)
{
	return how == SL_DRAW	    ? sift_each(field, packed, count, out, SL_DRAW)
	       : how == SL_DRAW_ADD ? sift_each(field, packed, count, out, SL_DRAW_ADD)
				    : sift_each(field, packed, count, out, SL_DRAW_SUBTRACT);
}

/* --- sums of products --- */

/* Products of up to 100 bits are added by halves of 52 bits, side by side. */
static uint64_t inner(const struct sl_field *field, const uint64_t *a, const uint64_t *b, size_t count)
{
	__m512i low = _mm512_setzero_si512(), high = low, low2 = low, high2 = low;
	if (field->bits <= SL_PLAIN_INNER || field->bits > 50)
		return sl_plain_inner(field, a, b, count);
	for (size_t l = 0; l < count; l += 2 * LANES) {
		__mmask8 mask = lanes(count - l), mask2 = lanes(count - l > LANES ? count - l - LANES : 0);
		__m512i x = _mm512_maskz_loadu_epi64(mask, a + l), y = _mm512_maskz_loadu_epi64(mask, b + l);
		__m512i x2 = _mm512_maskz_loadu_epi64(mask2, a + l + LANES),
			y2 = _mm512_maskz_loadu_epi64(mask2, b + l + LANES);
		low = _mm512_madd52lo_epu64(low, x, y);
		high = _mm512_madd52hi_epu64(high, x, y);
		low2 = _mm512_madd52lo_epu64(low2, x2, y2);
		high2 = _mm512_madd52hi_epu64(high2, x2, y2);
	}
	uint64_t sum = (uint64_t)_mm512_reduce_add_epi64(_mm512_add_epi64(low, low2));
	uint64_t above = (uint64_t)_mm512_reduce_add_epi64(_mm512_add_epi64(high, high2));
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
				unpack(shape, packed[r] + sl_packed_bytes(at + v * LANES, shape->bits),
				       left - v * LANES));
	for (uint32_t v = 0; v < vectors; v++)
		_mm512_mask_storeu_epi64(total + v * LANES, lanes(left - v * LANES), sum[v]);
}

static void gather(const struct sl_field *field, uint64_t *total, const uint8_t *const *packed, uint32_t rows,
		   size_t at, size_t count)
{
	struct shape shape = shape_of(field->bits);
	size_t l = 0;
	for (; l + AHEAD * LANES <= count; l += AHEAD * LANES)
		gather_some(&shape, total + l, packed, rows, at + l, count - l, AHEAD);
	for (; l < count; l += LANES)
		gather_some(&shape, total + l, packed, rows, at + l, count - l, 1);
}

static uint64_t greatest(const struct sl_field *field, const uint8_t *packed, size_t count)
{
	struct shape shape = shape_of(field->bits);
	__m512i most = _mm512_setzero_si512();
	size_t l = 0;
	for (size_t end = whole(&shape, count); l < end; l += LANES, packed += shape.bits)
		most = _mm512_max_epu64(most, lanes_of(&shape, _mm512_loadu_si512(packed)));
	for (; l < count; l += LANES, packed += shape.bits)
		most = _mm512_mask_max_epu64(most, lanes(count - l), most, unpack(&shape, packed, count - l));
	return _mm512_reduce_max_epu64(most);
}

/* The loop of `take` over whole vectors, for `add` and `wide` that the compiler knows. */
INLINE size_t take_whole(const struct shape *shape, uint64_t *s, const uint8_t *packed, size_t count,
			 __m512i p, bool add, __m512i *most)
{
	size_t l = 0, end = whole(shape, count);
	for (; l < end; l += LANES, packed += shape->bits) {
		__m512i v = lanes_of(shape, _mm512_loadu_si512(packed));
		*most = _mm512_max_epu64(*most, v);
		if (add)
			v = reduce_once(_mm512_add_epi64(_mm512_loadu_si512(s + l), v), p);
		_mm512_storeu_si512(s + l, v);
	}
	return l;
}

static uint64_t take(const struct sl_field *field, uint64_t *s, const uint8_t *packed, size_t count, bool add)
{
	struct shape shape = shape_of(field->bits);
	__m512i p = all(field->p), most = _mm512_setzero_si512(), keep = all(add ? UINT64_MAX : 0);
	size_t l = add ? take_whole(&shape, s, packed, count, p, true, &most)
		       : take_whole(&shape, s, packed, count, p, false, &most);
	for (; l < count; l += LANES) {
		__mmask8 mask = lanes(count - l);
		__m512i v = unpack(&shape, packed + l / LANES * shape.bits, count - l);
		__m512i old = _mm512_and_si512(_mm512_maskz_loadu_epi64(mask, s + l), keep);
		most = _mm512_mask_max_epu64(most, mask, most, v);
		_mm512_mask_storeu_epi64(s + l, mask, reduce_once(_mm512_add_epi64(old, v), p));
	}
	return _mm512_reduce_max_epu64(most);
}

const struct sl_kernels sl_kernels_avx512 = {
	.name = "avx512",
	.encode = sl_plain_encode,
	.change = sl_plain_change,
	.decode = sl_plain_decode,
	.rest = sl_plain_rest,
	.magnitude = sl_plain_magnitude,
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
