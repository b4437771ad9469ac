/* wide.h - fractions of 256 bits, 0 <= x < 1, for the tables of the sampler. Results are rounded down: each
 * operation is at most 2^-256 too low, a product 3 2^-256.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#define SL_WIDE_LIMBS 4u

struct sl_wide {
	uint64_t limb[SL_WIDE_LIMBS]; /* the least significant first */
};

/* The largest, as 1. */
static const struct sl_wide sl_wide_one = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};

static inline struct sl_wide sl_wide_add(struct sl_wide a, struct sl_wide b)
{
	unsigned __int128 sum = 0;
	for (uint32_t i = 0; i < SL_WIDE_LIMBS; i++, sum >>= 64) {
		sum += (unsigned __int128)a.limb[i] + b.limb[i];
		a.limb[i] = (uint64_t)sum;
	}
	return a;
}

/* Set a -= b. Return true if a < b: it has then wrapped around. */
static inline bool sl_wide_subtract(struct sl_wide *a, struct sl_wide b)
{
	bool borrow = false;
	for (uint32_t i = 0; i < SL_WIDE_LIMBS; i++) {
		unsigned __int128 left = (unsigned __int128)a->limb[i] - b.limb[i] - borrow;
		a->limb[i] = (uint64_t)left;
		borrow = (left >> 64) != 0;
	}
	return borrow;
}

static inline struct sl_wide sl_wide_multiply(struct sl_wide a, struct sl_wide b)
{
	uint64_t product[2 * SL_WIDE_LIMBS] = {0};
	struct sl_wide high;
	for (uint32_t i = 0; i < SL_WIDE_LIMBS; i++) {
		unsigned __int128 carry = 0;
		for (uint32_t j = 0; j < SL_WIDE_LIMBS; j++, carry >>= 64) {
			carry += (unsigned __int128)a.limb[i] * b.limb[j] + product[i + j];
			product[i + j] = (uint64_t)carry;
		}
		product[i + SL_WIDE_LIMBS] = (uint64_t)carry;
	}
	for (uint32_t i = 0; i < SL_WIDE_LIMBS; i++)
		high.limb[i] = product[SL_WIDE_LIMBS + i];
	return high;
}

/* Return a / 2^bits, 0 < bits < 64. */
static inline struct sl_wide sl_wide_shift(struct sl_wide a, uint32_t bits)
{
	for (uint32_t i = 0; i < SL_WIDE_LIMBS; i++)
		a.limb[i] = a.limb[i] >> bits | (i + 1 < SL_WIDE_LIMBS ? a.limb[i + 1] << (64 - bits) : 0);
	return a;
}

static inline struct sl_wide sl_wide_over(struct sl_wide a, uint64_t divisor)
{
	unsigned __int128 rest = 0;
	for (uint32_t i = SL_WIDE_LIMBS; i-- > 0; rest %= divisor) {
		rest = rest << 64 | a.limb[i];
		a.limb[i] = (uint64_t)(rest / divisor);
	}
	return a;
}

/* Return a / b, of a < b < 1/2. */
static inline struct sl_wide sl_wide_divide(struct sl_wide a, struct sl_wide b)
{
	struct sl_wide quotient = {{0}};
	assert(b.limb[SL_WIDE_LIMBS - 1] >> 63 == 0);
	for (uint32_t bit = 64 * SL_WIDE_LIMBS; bit-- > 0;) {
		a = sl_wide_add(a, a);
		struct sl_wide left = a;
		if (sl_wide_subtract(&left, b))
			continue;
		a = left;
		quotient.limb[bit / 64] |= UINT64_C(1) << bit % 64;
	}
	return quotient;
}
