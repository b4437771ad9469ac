/* bench.h - time per element, the best of a few passes: what the machine can do when nothing else wants it.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define BENCH_PASSES 7

/* best = least time in ns of BENCH_PASSES runs of `body`. */
#define BENCH(best, body)                                                                                    \
	do {                                                                                                 \
		(best) = 1e300;                                                                              \
		for (int pass_ = 0; pass_ < BENCH_PASSES; pass_++) {                                         \
			double start_ = now_ns();                                                            \
			body;                                                                                \
			double spent_ = now_ns() - start_;                                                   \
			(best) = spent_ < (best) ? spent_ : (best);                                          \
		}                                                                                            \
	} while (0)

static inline void *bench_memory(size_t count, size_t bytes)
{
	void *memory = calloc(count, bytes);
	if (memory == NULL)
		abort();
	return memory;
}
