/* CPU time and memory of this process. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/runtime/process_usage.h"
#include "test/lib/test.h"

#define BYTES (64u << 20)

TEST(peak_remembers_what_is_given_back)
{
	uint64_t before = sl_process_usage_bytes("VmHWM");
	char *memory = malloc(BYTES);
	assert_non_null(memory);
	memset(memory, 1, BYTES);
	assert_int_equal(memory[BYTES / 2], 1);
	free(memory);
	uint64_t after = sl_process_usage_bytes("VmHWM");
	assert_true(before > 0);
	assert_in_range(after, before + BYTES / 2, before + 2 * BYTES);
}

TEST(cpu_is_that_of_the_process)
{
	struct timespec t;
	double before = sl_process_usage_cpu_s();
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while ((double)t.tv_sec + 1e-9 * (double)t.tv_nsec < before + 0.05);
	double after = sl_process_usage_cpu_s();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	assert_true(after >= before + 0.04);
	assert_true(after <= (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + 0.02);
}
