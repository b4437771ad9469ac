/* random.h - repeatable randomness: initial weights, shuffles, drawn digits, drawn graphs (splitmix64).
 *
 * The numbers are the same on every machine and not secret. The randomness of shares comes from
 * common/field/prg.h.
 */
#pragma once

#include <stdint.h>

static inline uint64_t sl_random_next(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Return a state that depends on `a`, `b` and `c`, so that neighbouring seeds, ranks and draws have different
 * streams. */
static inline uint64_t sl_random_seed(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t state = a;
	state = sl_random_next(&state) ^ b;
	state = sl_random_next(&state) ^ c;
	return sl_random_next(&state);
}

/* Return a uniform number in [low, high). */
static inline double sl_random_in(uint64_t *state, double low, double high)
{
	return low + (high - low) * ((double)(sl_random_next(state) >> 11) * 0x1p-53);
}

/* Return a number in 0..bound-1; the bias of at most bound/2^32 does not matter to a shuffle. */
static inline uint32_t sl_random_below(uint64_t *state, uint32_t bound)
{
	return (uint32_t)(((sl_random_next(state) >> 32) * bound) >> 32);
}
