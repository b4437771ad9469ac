/* field.h - Z_p for a prime 2 < p < 2^61 (ROUND.md §4.1 The field).
 *
 * Elements are uint64_t in [0, p).
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"

#define SL_P_MERSENNE31 UINT64_C(2147483647)

struct sl_field {
	uint64_t p;
	uint32_t bits;	     /* of p, and of a packed element: 2^(bits-1) < p < 2^bits */
	uint32_t draw_bytes; /* ceil(bits/8): of a draw of the uniform stream (prg.h) */
	uint64_t reciprocal; /* floor((2^64 - 1) / p) */
};

/* Return b with 2^(b-1) <= p < 2^b, p > 0. */
static inline uint32_t sl_field_bits(uint64_t p)
{
	return 64 - (uint32_t)__builtin_clzll(p);
}

/* Return SL_ERR_RANGE unless 2 < p < 2^61, SL_ERR_INVALID unless p is prime. */
int sl_field_init(struct sl_field *field, uint64_t p);

/* Return true if n is prime, by deterministic Miller-Rabin, correct for every 64-bit n. */
bool sl_field_is_prime(uint64_t n);

/* Return the smallest prime of at least n; 0 if there is none below 2^61. */
uint64_t sl_field_prime_from(uint64_t n);

/* Return `difference`, which is above -p and below p, mod p. Without a branch, which random signs would make
 * slow. */
static inline uint64_t sl_field_lift(const struct sl_field *f, uint64_t difference)
{
	return difference + (f->p & (uint64_t)((int64_t)difference >> 63));
}

static inline uint64_t sl_field_add(const struct sl_field *f, uint64_t a, uint64_t b)
{
	return sl_field_lift(f, a + b - f->p);
}

static inline uint64_t sl_field_sub(const struct sl_field *f, uint64_t a, uint64_t b)
{
	return sl_field_lift(f, a - b);
}

static inline uint64_t sl_field_mul(const struct sl_field *f, uint64_t a, uint64_t b)
{
	if (f->bits > 32)
		return (uint64_t)((unsigned __int128)a * b % f->p);
	uint64_t product = a * b; /* its quotient comes out right, or one too small (Barrett) */
	product -= (uint64_t)((unsigned __int128)product * f->reciprocal >> 64) * f->p;
	return product >= f->p ? product - f->p : product;
}

/* Return the inverse of a != 0 mod p. */
uint64_t sl_field_inverse(const struct sl_field *field, uint64_t a);

/* Return the centred representative: z if z <= (p-1)/2, else z - p. Without a branch: signs are
 * unpredictable. */
static inline int64_t sl_field_centred(const struct sl_field *f, uint64_t z)
{
	return (int64_t)(z - (f->p & (uint64_t)((int64_t)(f->p / 2 - z) >> 63)));
}
