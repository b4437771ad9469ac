/* elements.h - the primes and vectors that the tests of this room try. */
#pragma once

#include "test/graph/unit.h"

#define TWO(bits) (UINT64_C(1) << (bits))

/* Small ones, one just above a power of two, and all that `modulus: auto` chooses from. */
static const uint64_t primes[] = {
	3,
	5,
	7,
	101,
	251,
	257,
	65537,
	1020431,
	3 * TWO(59) + 17,
	TWO(12) - 3,
	TWO(13) - 1,
	TWO(14) - 3,
	TWO(15) - 19,
	TWO(16) - 15,
	TWO(17) - 1,
	TWO(18) - 5,
	TWO(19) - 1,
	TWO(20) - 3,
	TWO(21) - 9,
	TWO(22) - 3,
	TWO(23) - 15,
	TWO(24) - 3,
	TWO(25) - 39,
	TWO(26) - 5,
	TWO(27) - 39,
	TWO(28) - 57,
	TWO(29) - 3,
	TWO(30) - 35,
	TWO(31) - 1,
	TWO(32) - 5,
	TWO(33) - 9,
	TWO(34) - 41,
	TWO(35) - 31,
	TWO(36) - 5,
	TWO(37) - 25,
	TWO(38) - 45,
	TWO(39) - 7,
	TWO(40) - 87,
	TWO(41) - 21,
	TWO(42) - 11,
	TWO(43) - 57,
	TWO(44) - 17,
	TWO(45) - 55,
	TWO(46) - 21,
	TWO(47) - 115,
	TWO(48) - 59,
	TWO(49) - 81,
	TWO(50) - 27,
	TWO(51) - 129,
	TWO(52) - 47,
	TWO(53) - 111,
	TWO(54) - 33,
	TWO(55) - 55,
	TWO(56) - 5,
	TWO(57) - 13,
	TWO(58) - 27,
	TWO(59) - 55,
	TWO(60) - 93,
	TWO(61) - 1,
};
#define PRIMES (sizeof primes / sizeof *primes)

/* Elements that are 0 and p - 1 more often than chance has it. */
static inline void any_elements(uint64_t *v, size_t count, uint64_t p, uint64_t *seed)
{
	for (size_t l = 0; l < count; l++) {
		uint64_t die = any64(seed) % 4;
		v[l] = die == 0 ? p - 1 : die == 1 ? 0 : any64(seed) % p;
	}
}
