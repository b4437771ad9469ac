/* bench_kernels.h - one figure for each instruction set that this machine has, and how many times as fast as
 * plain C. */
#pragma once

#include "common/field/kernels.h"
#include "test/graph/bench.h"

static const char *const bench_sets[] = {"portable", "avx2", "avx512"};

/* A column for each; NULL for the headings. `measure` gives ns. */
static inline void bench_columns(double (*measure)(const void *what), const void *what)
{
	double portable = 0;
	for (size_t i = 0; i < sizeof bench_sets / sizeof *bench_sets; i++) {
		if (sl_kernels_choose(bench_sets[i]) != SL_OK)
			continue;
		if (measure == NULL) {
			printf(i == 0 ? " %9s" : " %17s", bench_sets[i]);
			continue;
		}
		double ns = measure(what);
		portable = i == 0 ? ns : portable;
		if (i == 0)
			printf(" %9.3f", ns);
		else
			printf(" %9.3f %6.1f x", ns, portable / ns);
		fflush(stdout);
	}
	printf("\n");
}
