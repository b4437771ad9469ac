/* avx512.h - declarations shared by the files of this set. Compiled for a machine with AVX-512 F, DQ, BW, VL,
 * IFMA and VBMI.
 *
 * A field is narrow when sums of a few of its elements, and weights, fit the 52 bits that one IFMA takes.
 */
#pragma once

#include <immintrin.h>

#include "common/field/kernels/table.h"

#define LANES 8u /* elements of a vector */
#define LIMB 52u /* bits of each factor and of each half of the product in vpmadd52 */

/* The same limit as in sl_kernels_rows_lazy. */
static inline bool is_narrow(const struct sl_field *field)
{
	return field->bits <= 48;
}

static inline __m512i all(uint64_t v)
{
	return _mm512_set1_epi64((long long)v);
}

/* The first n lanes of a vector. */
static inline __mmask8 lanes(size_t n)
{
	return (__mmask8)(n >= LANES ? 0xffu : (1u << n) - 1);
}

/* Reduce a < 2 m to below m: a - m wraps around if a < m. */
static inline __m512i reduce_once(__m512i a, __m512i m)
{
	return _mm512_min_epu64(a, _mm512_sub_epi64(a, m));
}

void sl_kernels_avx512_stream(const uint8_t key[static SL_KEY_BYTES], uint64_t nonce, uint64_t first,
			      uint8_t *out, size_t blocks);
void sl_kernels_avx512_multiply(const struct sl_field *field, uint64_t *s, const uint64_t *v, size_t count,
				uint64_t w, bool add);
void sl_kernels_avx512_prepare(const struct sl_field *field, const uint64_t *weights, size_t n,
			       uint64_t *prepared);
void sl_kernels_avx512_dot(const struct sl_dot *dot, uint64_t *const *out);
void sl_kernels_avx512_mix(int64_t *state, size_t count, const uint8_t *const *states,
			   const struct sl_divisor *divisors, uint32_t degree);
