/* encode.h - a block of floats to elements (ROUND.md §4.2 Encoding), several side by side, for vectors as
 * wide as the instruction set of the including file has them.
 */
#pragma once

#include <string.h>

#include "common/field/kernels/table.h"

#ifdef __AVX512F__
#define ENCODE_LANES 8u
#elif defined(__AVX2__)
#define ENCODE_LANES 4u
#else
#define ENCODE_LANES 2u
#endif
#define ENCODE_WHOLE                                                                                         \
	0x1p52 /* between it and its double, the doubles are the integers: adding it rounds, ties to even */

typedef float encode_floats __attribute__((vector_size(4 * ENCODE_LANES)));
typedef double encode_reals __attribute__((vector_size(8 * ENCODE_LANES)));
typedef int64_t encode_masks __attribute__((vector_size(8 * ENCODE_LANES)));
typedef uint64_t encode_words __attribute__((vector_size(8 * ENCODE_LANES)));

static inline encode_reals encode_load(const float *from)
{
	encode_floats some;
	memcpy(&some, from, sizeof some);
	return __builtin_convertvector(some, encode_reals);
}

static inline encode_reals encode_size(encode_reals u)
{
	return (encode_reals)((encode_words)u & ~(UINT64_C(1) << 63));
}

/* Return the larger of each; `most`, if u is no number. */
static inline encode_reals encode_larger(encode_reals u, encode_reals most)
{
	encode_masks more = u > most;
	return (encode_reals)(((encode_masks)u & more) | ((encode_masks)most & ~more));
}

/* Encode without a branch: signs are unpredictable. The products of a float by 10^decimals, and of an update
 * by a power of two, are exact doubles. Count what is not 0 and becomes 0. */
static inline __attribute__((always_inline)) bool encode_words_of(const struct sl_floats *floats, bool based,
								  uint64_t weight, uint64_t *x,
								  struct sl_encoded *encoded)
{
	encode_reals most = {0}, scale = floats->scale - (encode_reals){0},
		     range = floats->range - (encode_reals){0};
	encode_masks vanished = {0}, within = ~vanished;
	encode_words p = (weight == 0 ? 0 : floats->field->p) - (encode_words){0};
	for (size_t l = 0; l < floats->count; l += ENCODE_LANES) {
		encode_reals u = encode_load(floats->theta + l);
		if (based)
			u -= encode_load(floats->base + l);
		within &= encode_size(u) <= range; /* false for NaN */
		encode_reals exact = encode_size(u) * scale, whole = exact + ENCODE_WHOLE;
		encode_words magnitude = ((encode_words)whole & ((UINT64_C(1) << 52) - 1)) * weight;
		encode_words minus = (encode_words)((u < 0) & (whole != ENCODE_WHOLE));
		encode_words element = (magnitude ^ minus) - minus + (p & minus);
		memcpy(x + l, &element, sizeof element);
		most = encode_larger(encode_size(exact - (whole - ENCODE_WHOLE)), most);
		vanished -= (whole == ENCODE_WHOLE) & (u != 0);
	}
	for (size_t k = 1; k < ENCODE_LANES; k++)
		within[0] &= within[k];
	for (size_t k = 0; within[0] != 0 && k < ENCODE_LANES; k++) {
		encoded->loss = most[k] > encoded->loss ? most[k] : encoded->loss;
		encoded->vanished += (uint32_t)vanished[k];
	}
	return within[0] != 0;
}

static inline bool sl_plain_encode(const struct sl_floats *floats, uint64_t *x, struct sl_encoded *encoded)
{
	if (floats->weight != 1)
		return encode_words_of(floats, floats->base != NULL, floats->weight, x, encoded);
	return floats->base != NULL ? encode_words_of(floats, true, 1, x, encoded)
				    : encode_words_of(floats, false, 1, x, encoded);
}

static inline double sl_plain_change(const float *a, const float *b, size_t count)
{
	encode_reals most[2] = {{0}, {0}}; /* two can be compared at a time */
	double all = 0;
	size_t l = 0;
	for (; l + 2 * ENCODE_LANES <= count; l += 2 * ENCODE_LANES)
		for (size_t k = 0; k < 2; k++) {
			encode_reals u = encode_load(a + l + k * ENCODE_LANES);
			u -= b == NULL ? (encode_reals){0} : encode_load(b + l + k * ENCODE_LANES);
			most[k] = encode_larger(encode_size(u), most[k]);
		}
	most[0] = encode_larger(most[1], most[0]);
	for (size_t k = 0; k < ENCODE_LANES; k++)
		all = most[0][k] > all ? most[0][k] : all;
	for (; l < count; l++)
		all = fmax(all, fabs((double)a[l] - (b == NULL ? 0 : (double)b[l])));
	return all;
}
