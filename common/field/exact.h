/* exact.h - values of which nothing is lost: integers of 64 to 256 bits, in limbs (ROUND.md §4.3 Limbs and
 * ranges).
 *
 * A value is sign * |q| * 2^bottom, |q| an integer below 2^bits. Limb j of it is sign * (bits of |q| from
 * limb_bits * (count - 1 - j) on). The sums of the limbs over the learners give the exact sum of the values,
 * whatever their magnitudes are, so no learner tells the others how large its values are.
 */
#pragma once

#include "common/base/types.h"

struct sl_exact {
	uint32_t bits;	    /* of |q| */
	int bottom;	    /* 2^bottom is the unit; a value has bits below it only if it is smaller than
			       2^(bottom + 53) */
	uint32_t limb_bits; /* 1 .. 48 */
	uint32_t count;	    /* of limbs: bits / limb_bits, rounded up */
};

/* |q| = mantissa * 2^shift. */
struct sl_exact_value {
	uint64_t mantissa;
	uint32_t shift;
	bool negative;
};

/* Return the number of limbs; 1 for limb_bits = 0, which a peer may state but no round has. */
static inline uint32_t sl_exact_count(uint32_t bits, uint32_t limb_bits)
{
	return limb_bits == 0 ? 1 : (bits + limb_bits - 1) / limb_bits;
}

/* Set *value to the multiple of 2^bottom that is nearest to `real`, a finite number, halves to even. Return
 * false if it is 2^(bits + bottom) or more. */
bool sl_exact_real(const struct sl_exact *exact, double real, struct sl_exact_value *value);
/* Set *value to an integer; bottom is 0. */
void sl_exact_integer(int64_t integer, struct sl_exact_value *value);
/* Return the magnitude of limb `limb` of `value`. */
uint64_t sl_exact_limb(const struct sl_exact *exact, const struct sl_exact_value *value, uint32_t limb);

#define SL_EXACT_WORDS 6u /* of 64 bits: 256 of a value, and what the sum of all learners has more */

/* A sum in units of 2^bottom, in two's complement, the lowest word first. */
struct sl_exact_sum {
	uint64_t words[SL_EXACT_WORDS];
};
/* Add the sum of the limbs `limb` of all learners, |limbs| < 2^61. */
void sl_exact_add(const struct sl_exact *exact, struct sl_exact_sum *sum, uint32_t limb, int64_t limbs);
/* Return the double nearest to the exact quotient sum * 2^bottom / weight, halves to even; 0 for 0. weight: 1
 * .. 2^61. */
double sl_exact_mean(const struct sl_exact *exact, const struct sl_exact_sum *sum, uint64_t weight);
/* Return the integer nearest to sum / weight, halves to even, modulo 2^64; bottom is 0. */
int64_t sl_exact_mean_integer(const struct sl_exact_sum *sum, uint64_t weight);
