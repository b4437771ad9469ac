/* bench.h - CPU time of this thread, the least of many short passes: what the machine can do when nothing
 * else wants it.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define BENCH_PASSES 7
#define BENCH_PASS_NS 50e3 /* a pass is as many runs as take this: looking at the clock takes time, too */
#define BENCH_NS 50e6	   /* more passes, as long as they take less than this in all */

/* best = time in ns of one run of `body`, in the quickest pass. */
#define BENCH(best, body)                                                                                    \
	do {                                                                                                 \
		double all_ = 0;                                                                             \
		(best) = 1e300;                                                                              \
		for (int pass_ = 0; pass_ < BENCH_PASSES || all_ < BENCH_NS; pass_++) {                      \
			double start_ = now_ns(), spent_ = 0;                                                \
			int runs_ = 0;                                                                       \
			for (int more_ = 1; spent_ < BENCH_PASS_NS; more_ *= 2) {                            \
				for (int run_ = 0; run_ < more_; run_++)                                     \
					body;                                                                \
				runs_ += more_;                                                              \
				spent_ = now_ns() - start_;                                                  \
			}                                                                                    \
			all_ += spent_;                                                                      \
			(best) = spent_ / runs_ < (best) ? spent_ / runs_ : (best);                          \
		}                                                                                            \
	} while (0)

static inline void *bench_memory(size_t count, size_t bytes)
{
	void *memory = calloc(count, bytes);
	if (memory == NULL)
		abort();
	return memory;
}
