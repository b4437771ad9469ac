/* kernels.h - arithmetic alone, in CPU time of one thread. Each function adds `samples` samples to a figure.
 */
#pragma once

#include "common/field/share.h"
#include "tools/dev/bench/bench.h"

/* Return the nanoseconds of CPU of this thread. */
double sl_bench_thread_ns(void);

/* ns for one share, randomness included; a coordinate has degree + 1 of them, the learner's own being one. */
int sl_bench_kernel_shares(enum sl_sharing_kind kind, uint64_t p, uint32_t degree, uint32_t samples,
			   struct sl_figure *figure);

/* ns for an element of a neighbour's state, mixed in by `exact` at p = 2^31-1; negative: out of memory. */
double sl_bench_kernel_exact(uint32_t degree);

/* Microseconds for one learner's iteration of metropolis. */
int sl_bench_kernel_metropolis(uint32_t degree, size_t elements, uint32_t samples, struct sl_figure *figure);
