/* bench-kernels: its command line. It is run by starling-bench. */
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/number.h"
#include "tools/dev/bench/bench.h"

static const struct {
	const char *name;
	int (*run)(const struct sl_bench *bench, struct sl_error *error);
	int arguments; /* at least */
} cases[] = {
	{"kernels", sl_bench_kernels, 0},   {"instructions", sl_bench_instructions, 0},
	{"noise", sl_bench_noise, 0},	    {"passes", sl_bench_passes, 0},
	{"analysis", sl_bench_analysis, 0}, {"records", sl_bench_records, 0},
	{"tls", sl_bench_tls, 0},	    {"floor", sl_bench_floor, 1}, /* DEGREE */
};

void sl_bench_sample(double value, const char *unit, const char *name, ...)
{
	va_list args;
	va_start(args, name);
	printf("%.9g\t%s\t", value, unit);
	vprintf(name, args);
	putchar('\n');
	va_end(args);
}

double sl_bench_thread_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	struct sl_error error = {0};
	uint64_t repeat;
	for (size_t i = 0; argc >= 3 && i < sizeof cases / sizeof *cases; i++) {
		if (strcmp(argv[1], cases[i].name) != 0 || argc - 3 < cases[i].arguments ||
		    !sl_number_parse(argv[2], 1, UINT32_MAX, &repeat))
			continue;
		const struct sl_bench bench = {.repeat = (uint32_t)repeat, .arguments = argv + 3};
		int rc =
			sodium_init() < 0 ? SL_ERR_CRYPTO : cases[i].run(&bench, &error); /* its best loops */
		if (rc != SL_OK)
			fprintf(stderr, "bench-kernels: %s\n",
				error.text[0] != '\0' ? error.text : sl_err_text(rc));
		return rc == SL_OK && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	fprintf(stderr, "usage: bench-kernels CASE REPEAT [ARGUMENT...]; see starling-bench --help\n");
	return 2;
}
