/* elements.h - the primes and vectors that the tests of this room try. */
#pragma once

#include "test/graph/unit.h"

#define TWO(bits) (UINT64_C(1) << (bits))

/* Of each width in bytes, at the limits of the kernels, and all that `modulus: auto` chooses from. */
static const uint64_t primes[] = {3,
				  5,
				  7,
				  101,
				  251,
				  257,
				  65537,
				  1020431,
				  TWO(24) - 3,
				  TWO(26) - 5,
				  TWO(27) - 39,
				  TWO(31) - 1,
				  TWO(32) - 5,
				  TWO(36) - 5,
				  TWO(40) - 87,
				  TWO(41) - 21,
				  TWO(42) - 11,
				  TWO(44) - 17,
				  TWO(48) - 59,
				  TWO(49) - 81,
				  TWO(56) - 5,
				  3 * TWO(59) + 17,
				  TWO(61) - 1};
#define PRIMES (sizeof primes / sizeof *primes)

/* Elements that are 0 and p - 1 more often than chance has it. */
static inline void any_elements(uint64_t *v, size_t count, uint64_t p, uint64_t *seed)
{
	for (size_t l = 0; l < count; l++) {
		uint64_t die = any64(seed) % 4;
		v[l] = die == 0 ? p - 1 : die == 1 ? 0 : any64(seed) % p;
	}
}
