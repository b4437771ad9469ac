/* Sums of products by the 52-bit multiplier: its low and high halves go into sums of their own, which hold
 * 2,000 of them without a carry, and only the sums are reduced (Montgomery, by 2^52 at a time).
 *
 * Narrow p, below 2^48: a product is one pair.
 *
 *     sum0 += lo(a w),  sum1 += hi(a w),  S = sum0 + 2^52 sum1
 *
 * Other p: a = a0 + 2^43 a1, w = w0 + 2^52 w1, u = 2^43 w mod p = u0 + 2^31 u1. Most products fit one half.
 *
 *     sum0 += lo(a0 w0) + a1 u0,  sum1 += hi(a0 w0) + a0 w1,  sum2 += a1 u1
 *     S = sum0 + 2^52 sum1 + 2^31 sum2
 */
#include "common/field/kernels/avx512.h"
#include "common/field/montgomery.h"

/* Inlined, so that sizes are constants and sums are registers. */
#define INLINE static inline __attribute__((always_inline))

#define COLUMNS 4u /* vectors of a narrow tile */
#define COLUMNS_WIDE 2u
#define SPLIT 43u /* bits of a0 */
#define HALF 31u  /* bits of u0 */
#define ONCE 41u  /* bits of p up to which one reduction is enough: 2,000 p < 2^52 */

#define LOW _mm512_madd52lo_epu64
#define HIGH _mm512_madd52hi_epu64

/* Constants of the reduction. */
struct modulus {
	__m512i p, high, minus_inverse, mask; /* high: bits of p from 52 on */
	bool twice;
};

static struct modulus modulus_of(const struct sl_field *field)
{
	return (struct modulus){all(field->p), all(field->p >> LIMB),
				all(sl_montgomery_of(field->p).minus_inverse), all((UINT64_C(1) << LIMB) - 1),
				field->bits > ONCE};
}

/* --- narrow --- */

/* Return (sum0 + 2^52 sum1) / 2^52 mod p, or the same / 2^104. */
INLINE __m512i reduce_narrow(const struct modulus *m, __m512i sum0, __m512i sum1)
{
	__m512i zero = _mm512_setzero_si512();
	__m512i t = LOW(sum0, LOW(zero, sum0, m->minus_inverse), m->p);
	__m512i s = HIGH(_mm512_add_epi64(sum1, _mm512_srli_epi64(t, LIMB)),
			 LOW(zero, sum0, m->minus_inverse), m->p);
	if (m->twice) {
		__m512i u = LOW(zero, s, m->minus_inverse);
		t = LOW(_mm512_and_si512(s, m->mask), u, m->p);
		s = HIGH(_mm512_add_epi64(_mm512_srli_epi64(s, LIMB), _mm512_srli_epi64(t, LIMB)), u, m->p);
	}
	return reduce_once(s, m->p);
}

/* Compute points x columns vectors of `out`, from element l on. */
INLINE void tile_narrow(const struct sl_dot *dot, const struct modulus *m, uint32_t points, uint32_t columns,
			size_t l, __mmask8 mask, uint64_t *const *out)
{
	__m512i sum0[SL_DOT_POINTS][COLUMNS], sum1[SL_DOT_POINTS][COLUMNS];
	const uint64_t *row = dot->first + l, *next = dot->rows + l;
	for (uint32_t r = 0; r < points; r++)
		for (uint32_t c = 0; c < columns; c++)
			sum0[r][c] = sum1[r][c] = _mm512_setzero_si512();
	for (size_t k = 0; k < dot->terms; k++, row = next, next += dot->stride) {
		__m512i a[COLUMNS];
		for (uint32_t c = 0; c < columns; c++)
			a[c] = _mm512_maskz_loadu_epi64(mask, row + LANES * c);
		for (uint32_t r = 0; r < points; r++) {
			__m512i w = all(dot->weights[r * SL_DOT_WORDS * dot->terms + k]);
			for (uint32_t c = 0; c < columns; c++) {
				sum0[r][c] = LOW(sum0[r][c], a[c], w);
				sum1[r][c] = HIGH(sum1[r][c], a[c], w);
			}
		}
	}
	for (uint32_t r = 0; r < points; r++)
		for (uint32_t c = 0; c < columns; c++)
			_mm512_mask_storeu_epi64(out[r] + l + LANES * c, mask,
						 reduce_narrow(m, sum0[r][c], sum1[r][c]));
}

/* --- any p < 2^61 --- */

struct wide {
	__m512i sum0, sum1, sum2;
};

/* Return S / 2^104 mod p. Sums of 2,000 are below 2^63. */
INLINE __m512i reduce_wide(const struct modulus *m, struct wide s)
{
	__m512i zero = _mm512_setzero_si512(), part = all((UINT64_C(1) << (LIMB - HALF)) - 1);
	__m512i low = _mm512_add_epi64(_mm512_and_si512(s.sum0, m->mask),
				       _mm512_slli_epi64(_mm512_and_si512(s.sum2, part), HALF));
	__m512i high = _mm512_add_epi64(s.sum1, _mm512_add_epi64(_mm512_srli_epi64(s.sum0, LIMB),
								 _mm512_srli_epi64(s.sum2, LIMB - HALF)));
	__m512i u =
		LOW(zero, low, m->minus_inverse); /* low may have a 53rd bit, which is part of the carry */
	__m512i t = LOW(low, u, m->p);
	high = _mm512_add_epi64(high, _mm512_srli_epi64(t, LIMB));
	high = LOW(HIGH(high, u, m->p), u, m->high);
	__m512i top = HIGH(zero, u, m->high);
	u = LOW(zero, high, m->minus_inverse);
	t = LOW(_mm512_and_si512(high, m->mask), u, m->p);
	top = _mm512_add_epi64(top,
			       _mm512_add_epi64(_mm512_srli_epi64(high, LIMB), _mm512_srli_epi64(t, LIMB)));
	top = LOW(HIGH(top, u, m->p), u, m->high);
	return reduce_once(_mm512_add_epi64(top, _mm512_slli_epi64(HIGH(zero, u, m->high), LIMB)), m->p);
}

/* A weight in its four pieces. */
struct pieces {
	__m512i w, w1, u0, u1;
};

INLINE struct wide add_product(struct wide s, __m512i a0, __m512i a1, struct pieces w)
{
	s.sum0 = LOW(LOW(s.sum0, a0, w.w), a1, w.u0);
	s.sum1 = LOW(HIGH(s.sum1, a0, w.w), a0, w.w1);
	s.sum2 = LOW(s.sum2, a1, w.u1);
	return s;
}

INLINE void tile_wide(const struct sl_dot *dot, const struct modulus *m, uint32_t points, uint32_t columns,
		      size_t l, __mmask8 mask, uint64_t *const *out)
{
	struct wide sum[SL_DOT_POINTS][COLUMNS_WIDE];
	const uint64_t *row = dot->first + l, *next = dot->rows + l;
	size_t terms = dot->terms;
	for (uint32_t r = 0; r < points; r++)
		for (uint32_t c = 0; c < columns; c++)
			sum[r][c].sum0 = sum[r][c].sum1 = sum[r][c].sum2 = _mm512_setzero_si512();
	for (size_t k = 0; k < terms; k++, row = next, next += dot->stride) {
		__m512i a0[COLUMNS_WIDE], a1[COLUMNS_WIDE];
		for (uint32_t c = 0; c < columns; c++) {
			__m512i a = _mm512_maskz_loadu_epi64(mask, row + LANES * c);
			a0[c] = _mm512_and_si512(a, all((UINT64_C(1) << SPLIT) - 1));
			a1[c] = _mm512_srli_epi64(a, SPLIT);
		}
		for (uint32_t r = 0; r < points; r++) {
			const uint64_t *w = dot->weights + r * SL_DOT_WORDS * terms + k;
			struct pieces pieces = {all(w[0]), all(w[terms]), all(w[2 * terms]),
						all(w[3 * terms])};
			for (uint32_t c = 0; c < columns; c++)
				sum[r][c] = add_product(sum[r][c], a0[c], a1[c], pieces);
		}
	}
	for (uint32_t r = 0; r < points; r++)
		for (uint32_t c = 0; c < columns; c++)
			_mm512_mask_storeu_epi64(out[r] + l + LANES * c, mask, reduce_wide(m, sum[r][c]));
}

/* --- all of a dot --- */

INLINE void dot_points(const struct sl_dot *dot, const struct modulus *m, uint32_t points,
		       uint64_t *const *out)
{
	bool narrow = is_narrow(dot->field);
	size_t l = 0, step = LANES * (narrow ? COLUMNS : COLUMNS_WIDE);
	for (; l + step <= dot->count; l += step)
		if (narrow)
			tile_narrow(dot, m, points, COLUMNS, l, 0xff, out);
		else
			tile_wide(dot, m, points, COLUMNS_WIDE, l, 0xff, out);
	for (; l < dot->count; l += LANES)
		if (narrow)
			tile_narrow(dot, m, points, 1, l, lanes(dot->count - l), out);
		else
			tile_wide(dot, m, points, 1, l, lanes(dot->count - l), out);
}

void sl_kernels_avx512_dot(const struct sl_dot *dot, uint64_t *const *out)
{
	struct modulus m = modulus_of(dot->field);
	if (dot->points == 1)
		dot_points(dot, &m, 1, out);
	else if (dot->points == 2)
		dot_points(dot, &m, 2, out);
	else
		dot_points(dot, &m, 3, out);
}

/* --- one product --- */

/* Return v w mod p or that plus p, for v < 2^52 (Shoup). */
INLINE __m512i product_narrow(const struct modulus *m, __m512i v, __m512i w, __m512i scaled)
{
	__m512i zero = _mm512_setzero_si512(), q = HIGH(zero, v, scaled);
	return _mm512_and_si512(_mm512_sub_epi64(LOW(zero, v, w), LOW(zero, q, m->p)), m->mask);
}

INLINE __m512i product_wide(const struct modulus *m, __m512i v, struct pieces w)
{
	struct wide sum = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
	__m512i a0 = _mm512_and_si512(v, all((UINT64_C(1) << SPLIT) - 1));
	return reduce_wide(m, add_product(sum, a0, _mm512_srli_epi64(v, SPLIT), w));
}

/* Return the power of two that dot divides by, mod p. */
static uint64_t scale_of(const struct sl_field *field)
{
	uint32_t bits = field->bits > ONCE ? 2 * LIMB : LIMB;
	return (uint64_t)(((unsigned __int128)1 << bits) % field->p);
}

static struct pieces pieces_of(const struct sl_field *field, uint64_t w)
{
	uint64_t u = sl_field_mul(field, w, UINT64_C(1) << SPLIT);
	return (struct pieces){all(w), all(w >> LIMB), all(u & ((UINT64_C(1) << HALF) - 1)), all(u >> HALF)};
}

INLINE void multiply(const struct sl_field *field, uint64_t *s, const uint64_t *v, size_t count, uint64_t w,
		     bool add, bool narrow)
{
	struct modulus m = modulus_of(field);
	struct pieces pieces = narrow ? (struct pieces){.w = all(w)}
				      : pieces_of(field, sl_field_mul(field, w, scale_of(field)));
	__m512i scaled = all((uint64_t)(((unsigned __int128)w << LIMB) / field->p));
	for (size_t l = 0; l < count; l += LANES) {
		__mmask8 mask = lanes(count - l);
		__m512i a = _mm512_maskz_loadu_epi64(mask, v + l);
		a = narrow ? reduce_once(product_narrow(&m, a, pieces.w, scaled), m.p)
			   : product_wide(&m, a, pieces);
		if (add)
			a = reduce_once(_mm512_add_epi64(a, _mm512_maskz_loadu_epi64(mask, s + l)), m.p);
		_mm512_mask_storeu_epi64(s + l, mask, a);
	}
}

void sl_kernels_avx512_multiply(const struct sl_field *field, uint64_t *s, const uint64_t *v, size_t count,
				uint64_t w, bool add)
{
	if (is_narrow(field))
		multiply(field, s, v, count, w, add, true);
	else
		multiply(field, s, v, count, w, add, false);
}

/* Multiply the weights by what dot divides by; for a wide p the other three pieces of each follow, n by n. */
void sl_kernels_avx512_prepare(const struct sl_field *field, const uint64_t *weights, size_t n,
			       uint64_t *prepared)
{
	uint64_t *w1 = prepared + n, *u0 = w1 + n, *u1 = u0 + n;
	sl_kernels_avx512_multiply(field, prepared, weights, n, scale_of(field), false);
	if (is_narrow(field))
		return;
	sl_kernels_avx512_multiply(field, u0, prepared, n, UINT64_C(1) << SPLIT, false);
	for (size_t k = 0; k < n; k++) {
		w1[k] = prepared[k] >> LIMB;
		u1[k] = u0[k] >> HALF;
		u0[k] &= (UINT64_C(1) << HALF) - 1;
	}
}
