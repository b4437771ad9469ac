/* exact.h - the exact sampler of Canonne, Kamath and Steinke (2004.00010, algorithms 1 to 3), in integers.
 * Slow, and its time depends on what it draws: the reference of the sampler of common/dp.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Draw n integers with N_Z(0, above / below), from a stream that `seed` gives. above, below < 2^26. */
void exact_draw(uint64_t seed, uint64_t above, uint64_t below, int64_t *out, size_t n);
