/* bench.h - bench-kernels: the cases of starling-bench that are measured in a process of their own.
 *
 *   main.c        command line, table of cases
 *   kernels.c     arithmetic alone
 *   passes.c      jobs of a round
 *   analysis.c    graph analysis
 *   records.c     durable records
 *   bare.c        TLS with nothing around it
 *
 * A sample is a line of the output: its value, unit and name, separated by tabs. starling-bench makes figures
 * of them. Files are written to the working directory and are not removed.
 */
#pragma once

#include "common/base/err.h"
#include "common/field/share.h"

struct sl_bench {
	uint32_t repeat;	/* samples of each figure */
	char *const *arguments; /* of the case, NULL after the last */
};

void sl_bench_sample(double value, const char *unit, const char *name, ...)
	__attribute__((format(printf, 3, 4)));
/* Return the nanoseconds of CPU of this thread. */
double sl_bench_thread_ns(void);

/* The cases. */
int sl_bench_kernels(const struct sl_bench *bench, struct sl_error *error);
int sl_bench_instructions(const struct sl_bench *bench, struct sl_error *error);
int sl_bench_noise(const struct sl_bench *bench, struct sl_error *error);
int sl_bench_passes(const struct sl_bench *bench, struct sl_error *error);
int sl_bench_analysis(const struct sl_bench *bench, struct sl_error *error);
int sl_bench_records(const struct sl_bench *bench, struct sl_error *error);
int sl_bench_tls(const struct sl_bench *bench, struct sl_error *error);
int sl_bench_floor(const struct sl_bench *bench, struct sl_error *error);
