/* factor.h - a product with a constant mod p without a division (Shoup), for the kernels of math. */
#pragma once

#include "common/field/field.h"

/* w and floor(w 2^64 / p). */
struct sl_factor {
	uint64_t w, scaled, p;
};

static inline struct sl_factor sl_factor_of(const struct sl_field *field, uint64_t w)
{
	return (struct sl_factor){w, (uint64_t)(((unsigned __int128)w << 64) / field->p), field->p};
}

/* a w mod p, or that plus p; a may be any 64-bit number. */
static inline uint64_t sl_factor_times_lazy(const struct sl_factor *f, uint64_t a)
{
	uint64_t q = (uint64_t)((unsigned __int128)a * f->scaled >> 64);
	return a * f->w - q * f->p;
}

/* What is below 2 m, to below m. */
static inline uint64_t sl_factor_reduce(uint64_t a, uint64_t m)
{
	return a >= m ? a - m : a;
}

/* a w mod p. */
static inline uint64_t sl_factor_times(const struct sl_factor *f, uint64_t a)
{
	return sl_factor_reduce(sl_factor_times_lazy(f, a), f->p);
}
