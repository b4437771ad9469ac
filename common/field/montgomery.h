/* montgomery.h - sums of products, divided by 2^64 mod p in one reduction, for the kernels of math. */
#pragma once

#include "common/field/factor.h"

struct sl_montgomery {
	uint64_t p;
	uint64_t minus_inverse; /* -1/p mod 2^64, and so mod every lesser power of two */
	uint64_t run; /* products that may be added between two corrections: run * p^2 <= p * 2^64 */
};

static inline struct sl_montgomery sl_montgomery_of(uint64_t p)
{
	uint64_t inverse = p; /* right in 3 bits; each step doubles them */
	for (int i = 0; i < 5; i++)
		inverse *= 2 - p * inverse;
	return (struct sl_montgomery){.p = p, .minus_inverse = -inverse, .run = UINT64_MAX / p};
}

/* T < p 2^64, to below p. */
static inline uint64_t sl_montgomery_reduce(const struct sl_montgomery *m, unsigned __int128 t)
{
	uint64_t u = (uint64_t)t * m->minus_inverse;
	return sl_factor_reduce((uint64_t)((t + (unsigned __int128)u * m->p) >> 64), m->p);
}
