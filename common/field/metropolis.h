/* metropolis.h - metropolis mixing in int64 fixed point, X = s * 2^g (ROUND.md §8.2 metropolis).
 *
 * One exchange, for every edge: q_ij = (X_j - X_i) / (max(|N_i|,|N_j|) + 1), truncated toward zero as C does;
 * X_i += sum_j q_ij, all from the same old X. Odd in its argument, so the total is conserved exactly.
 */
#pragma once

#include "common/field/field.h"

/* Division by a constant 2 <= d < 2^20 as a multiplication; correct for every |x| < 2^62. */
struct sl_divisor {
	uint64_t magic;
	uint32_t shift;
	uint32_t d;
};
void sl_metropolis_divisor_init(struct sl_divisor *divisor, uint32_t d);

/* Return trunc(x / d). In unsigned words, so that an invalid state of a peer (|x| >= 2^62) wraps instead of
 * being undefined. */
static inline uint64_t sl_metropolis_quotient(const struct sl_divisor *divisor, uint64_t x)
{
	int64_t high = (int64_t)(((__int128)(int64_t)(x << 1) * (int64_t)divisor->magic) >>
				 64); /* floor(m x / 2^63) */
	return (uint64_t)(high >> divisor->shift) + (x >> 63);
}

/* Set X = s << f over `count` elements; in place if state == (int64_t *)s. */
void sl_metropolis_open(const uint64_t *s, uint32_t f, size_t count, int64_t *state);

/* Do one exchange over `count` elements, in place. states[r]: the old X of neighbour r as received
 * (little-endian int64, any alignment). divisors[r]: the divisor of its edge. */
void sl_metropolis_step(int64_t *state, size_t count, const uint8_t *const *states,
			const struct sl_divisor *divisors, uint32_t degree);

/* Return the greatest |X_j - X_i| over `count` elements and all neighbours j, before an exchange. An invalid
 * state of a peer wraps. */
uint64_t sl_metropolis_spread(const int64_t *state, size_t count, const uint8_t *const *states,
			      uint32_t degree);

/* Set Z = floor(N * X / 2^g + 1/2) mod p with 128-bit products (paper eq. roundness); in place if z ==
 * (uint64_t *)state. Return the largest distance to the nearest integer, max |N X/2^g - integer|, in [0,
 * 1/2]. */
double sl_metropolis_close(const struct sl_field *field, uint32_t learners, uint32_t f, const int64_t *state,
			   size_t count, uint64_t *z);
