#include <immintrin.h>

#include "common/field/kernels/plain.h"

#define INLINE static inline __attribute__((always_inline))
#define EIGHT 8u     /* elements unpacked at a time, which end at a byte */
#define TOUCHED 64u  /* bytes, at most, that are read for them */
#define PAIR_MOST 62 /* bits of two elements that lie in 16 bytes, wherever they begin; 64 as well */

/* Eight elements, or sums of some, below 2^63. */
struct eight {
	__m256i v[2];
};

/* How eight packed elements become lanes: 16 bytes hold a pair of them, each of which takes the eight bytes
 * that it begins in, shifts them down, and takes what is left of it from the ninth byte. */
struct shape {
	__m256i index[2], shift[2];	  /* of the eight bytes, and of the first bit in them */
	__m256i ninth[2], shift_ninth[2]; /* of the ninth byte */
	__m256i mask;
	size_t pair[4]; /* the first byte of each pair */
	size_t touched; /* bytes read for the eight elements */
	uint32_t bits;
	bool wide; /* a ninth byte may be needed */
};

INLINE __m256i all(uint64_t v)
{
	return _mm256_set1_epi64x((long long)v);
}

INLINE __m256i four(const uint64_t *from)
{
	return _mm256_loadu_si256((const __m256i *)from);
}

/* Elements take `bits` bits, of which the lowest `kept` are kept. */
INLINE void shape_init(struct shape *shape, uint32_t bits, uint32_t kept)
{
	static const uint64_t each = UINT64_C(0x0101010101010101), next = UINT64_C(0x0706050403020100),
			      one = UINT64_C(0x8080808080808000); /* one byte, and zeros above it */
	uint64_t index[EIGHT], ninth[EIGHT], shift[EIGHT], shift_ninth[EIGHT];
	assert(bits <= PAIR_MOST || bits == 64);
	for (uint32_t i = 0; i < EIGHT; i++) {
		uint32_t pair = i / 2 * 2 * bits / 8, first = i * bits / 8 - pair;
		shape->pair[i / 2] = pair;
		index[i] = next + first * each;
		ninth[i] = one + first + 8; /* byte 16, which is not there, is masked */
		shift[i] = i * bits % 8;
		shift_ninth[i] = 64 - shift[i]; /* a shift by 64 gives 0 */
	}
	for (uint32_t h = 0; h < 2; h++) {
		shape->index[h] = four(index + 4 * h);
		shape->ninth[h] = four(ninth + 4 * h);
		shape->shift[h] = four(shift + 4 * h);
		shape->shift_ninth[h] = four(shift_ninth + 4 * h);
	}
	shape->mask = all(UINT64_MAX >> (64 - kept));
	shape->touched = shape->pair[3] + sizeof(__m128i);
	shape->bits = bits;
	shape->wide = bits > 57;
}

INLINE __m256i half_of(const struct shape *shape, const uint8_t *packed, uint32_t h)
{
	__m256i v = _mm256_loadu2_m128i((const __m128i *)(packed + shape->pair[2 * h + 1]),
					(const __m128i *)(packed + shape->pair[2 * h]));
	__m256i lane = _mm256_srlv_epi64(_mm256_shuffle_epi8(v, shape->index[h]), shape->shift[h]);
	if (shape->wide)
		lane = _mm256_or_si256(lane, _mm256_sllv_epi64(_mm256_shuffle_epi8(v, shape->ninth[h]),
							       shape->shift_ninth[h]));
	return _mm256_and_si256(lane, shape->mask);
}

/* Return the first `left` < 4 lanes as all ones, or all four. */
INLINE __m256i lanes(size_t left)
{
	return _mm256_cmpgt_epi64(all(left), _mm256_set_epi64x(3, 2, 1, 0));
}

/* Unpack what is too close to the end to read beyond it, from a copy. Lanes beyond the end are 0. */
static __attribute__((noinline)) struct eight unpack_last(const struct shape *shape, const uint8_t *packed,
							  size_t left)
{
	uint8_t copy[TOUCHED] = {0};
	memcpy(copy, packed, sl_packed_bytes(left < EIGHT ? left : EIGHT, shape->bits));
	struct eight e = {{half_of(shape, copy, 0), half_of(shape, copy, 1)}};
	sodium_memzero(copy, sizeof copy); /* it may be a share */
	for (size_t h = 0; h < 2; h++)
		e.v[h] = _mm256_and_si256(e.v[h], lanes(left > 4 * h ? left - 4 * h : 0));
	return e;
}

/* Return the next eight of `left` elements, of `bytes` bytes. */
INLINE struct eight unpack(const struct shape *shape, const uint8_t *packed, size_t bytes, size_t left)
{
	if (__builtin_expect(bytes < shape->touched, false))
		return unpack_last(shape, packed, left);
	return (struct eight){{half_of(shape, packed, 0), half_of(shape, packed, 1)}};
}

INLINE void store(uint64_t *out, struct eight e, size_t left)
{
	for (size_t h = 0; h < 2; h++, out += 4)
		if (left >= 4 * (h + 1))
			_mm256_storeu_si256((__m256i *)out, e.v[h]);
		else if (left > 4 * h)
			_mm256_maskstore_epi64((long long *)out, lanes(left - 4 * h), e.v[h]);
}

INLINE struct eight load(const uint64_t *in, size_t left)
{
	struct eight e = {{_mm256_setzero_si256(), _mm256_setzero_si256()}};
	for (size_t h = 0; h < 2; h++, in += 4)
		if (left >= 4 * (h + 1))
			e.v[h] = _mm256_loadu_si256((const __m256i *)in);
		else if (left > 4 * h)
			e.v[h] = _mm256_maskload_epi64((const long long *)in, lanes(left - 4 * h));
	return e;
}

INLINE __m256i greater(__m256i a, __m256i b)
{
	return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(b, a));
}

INLINE void raise(struct eight *most, struct eight e)
{
	most->v[0] = greater(most->v[0], e.v[0]);
	most->v[1] = greater(most->v[1], e.v[1]);
}

INLINE uint64_t greatest_of(struct eight most)
{
	uint64_t lane[4], greatest = 0;
	_mm256_storeu_si256((__m256i *)lane, greater(most.v[0], most.v[1]));
	for (size_t k = 0; k < 4; k++)
		greatest = lane[k] > greatest ? lane[k] : greatest;
	return greatest;
}

static size_t sift_into(const struct sl_field *field, const uint8_t *packed, size_t count, uint64_t *out)
{
	struct shape shape;
	struct eight most = {{_mm256_setzero_si256(), _mm256_setzero_si256()}};
	const uint8_t *end = packed + count * field->draw_bytes;
	shape_init(&shape, 8 * field->draw_bytes, field->bits);
	for (size_t i = 0; i < count; i += EIGHT, packed += shape.bits) {
		struct eight e = unpack(&shape, packed, (size_t)(end - packed), count - i);
		raise(&most, e);
		store(out + i, e, count - i);
	}
	return greatest_of(most) < field->p ? count : sl_plain_keep(field, out, count);
}

static size_t sift(const struct sl_field *field, const uint8_t *packed, size_t count, uint64_t *out,
		   enum sl_draw how)
{
	return sl_plain_draw(sift_into, field, packed, count, out, how);
}

static void gather(const struct sl_field *field, uint64_t *total, const uint8_t *const *packed, uint32_t rows,
		   size_t at, size_t count)
{
	struct shape shape;
	size_t bytes = sl_packed_bytes(count, field->bits), from = sl_packed_bytes(at, field->bits);
	shape_init(&shape, field->bits, field->bits);
	for (size_t l = 0, b = 0; l < count; l += EIGHT, b += shape.bits) {
		struct eight sum = {{_mm256_setzero_si256(), _mm256_setzero_si256()}};
		for (uint32_t r = 0; r < rows; r++) {
			struct eight e = unpack(&shape, packed[r] + from + b, bytes - b, count - l);
			sum.v[0] = _mm256_add_epi64(sum.v[0], e.v[0]);
			sum.v[1] = _mm256_add_epi64(sum.v[1], e.v[1]);
		}
		store(total + l, sum, count - l);
	}
}

static uint64_t greatest(const struct sl_field *field, const uint8_t *packed, size_t count)
{
	struct shape shape;
	struct eight most = {{_mm256_setzero_si256(), _mm256_setzero_si256()}};
	const uint8_t *end = packed + sl_packed_bytes(count, field->bits);
	shape_init(&shape, field->bits, field->bits);
	for (size_t l = 0; l < count; l += EIGHT, packed += shape.bits)
		raise(&most, unpack(&shape, packed, (size_t)(end - packed), count - l));
	return greatest_of(most);
}

/* Return a + b mod p. */
INLINE __m256i sum_mod(__m256i a, __m256i b, __m256i p)
{
	__m256i sum = _mm256_add_epi64(a, _mm256_sub_epi64(b, p));
	return _mm256_add_epi64(sum, _mm256_and_si256(p, _mm256_cmpgt_epi64(_mm256_setzero_si256(), sum)));
}

INLINE uint64_t take_each(const struct sl_field *field, uint64_t *s, const uint8_t *packed, size_t count,
			  bool add)
{
	struct shape shape;
	struct eight most = {{_mm256_setzero_si256(), _mm256_setzero_si256()}};
	const uint8_t *end = packed + sl_packed_bytes(count, field->bits);
	__m256i p = all(field->p);
	shape_init(&shape, field->bits, field->bits);
	for (size_t l = 0; l < count; l += EIGHT, packed += shape.bits) {
		struct eight e = unpack(&shape, packed, (size_t)(end - packed), count - l);
		raise(&most, e);
		if (add) {
			struct eight old = load(s + l, count - l);
			e.v[0] = sum_mod(old.v[0], e.v[0], p);
			e.v[1] = sum_mod(old.v[1], e.v[1], p);
		}
		store(s + l, e, count - l);
	}
	return greatest_of(most);
}

static uint64_t take(const struct sl_field *field, uint64_t *s, const uint8_t *packed, size_t count, bool add)
{
	return add ? take_each(field, s, packed, count, true) : take_each(field, s, packed, count, false);
}

const struct sl_kernels sl_kernels_avx2 = {
	.name = "avx2",
	.encode = sl_plain_encode,
	.change = sl_plain_change,
	.decode = sl_plain_decode,
	.rest = sl_plain_rest,
	.magnitude = sl_plain_magnitude,
	.stream = sl_plain_stream,
	.sift = sift,
	.add = sl_plain_add,
	.subtract = sl_plain_subtract,
	.multiply = sl_plain_multiply,
	.prepare = sl_plain_prepare,
	.inner = sl_plain_inner,
	.dot = sl_plain_dot,
	.gather = gather,
	.greatest = greatest,
	.take = take,
	.strands = sl_plain_strands,
	.mix = sl_plain_mix,
};
