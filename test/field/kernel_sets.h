/* kernel_sets.h - cases that run with the kernels of each instruction set that this machine has, and vectors
 * of all short lengths. Header-only. */
#pragma once

#include <sodium.h>

#include "common/field/kernels.h"
#include "common/field/kernels/table.h"
#include "test/field/elements.h"
#include "test/lib/test.h"

#define MOST 600u /* elements */
#define SHORT 67u /* every length up to this */
#define GUARD 16u /* elements behind a vector that stay as they are */

static const struct sl_kernels *const plain = &sl_kernels_portable;
static const struct sl_kernels *tried; /* against plain */

/* 0, 1, .. SHORT, and some that are longer. */
static inline size_t next_length(size_t n)
{
	return n < SHORT ? n + 1 : 2 * n - 11;
}
#define EACH_LENGTH(n)                                                                                       \
	size_t n = 0;                                                                                        \
	n <= MOST;                                                                                           \
	n = next_length(n)

static inline void fail_at(const char *kernel, uint64_t p, size_t n)
{
	fail_msg("%s of %s differs at p = %llu, n = %zu", kernel, tried->name, (unsigned long long)p, n);
}

/* Choose the kernels of `name`, or skip the case on a machine without them. */
static inline void try_kernels(const char *name)
{
	if (sl_kernels_choose(name) != SL_OK) {
		print_message("this machine has no %s\n", name);
		skip();
	}
	tried = sl_kernels();
}

/* Define a case that runs with the set `name`. */
#define TEST_SET(function, name)                                                                             \
	TEST(function##_##name)                                                                              \
	{                                                                                                    \
		try_kernels(#name);                                                                          \
		function();                                                                                  \
	}

/* Define a case that runs with each set of kernels, or with plain C as well. */
#define TEST_EACH_SET(function)                                                                              \
	static void function(void);                                                                          \
	TEST_SET(function, avx2)                                                                             \
	TEST_SET(function, avx512)                                                                           \
	static void function(void)
#define TEST_EACH_SET_AND_PLAIN(function)                                                                    \
	static void function(void);                                                                          \
	TEST_SET(function, portable)                                                                         \
	TEST_SET(function, avx2)                                                                             \
	TEST_SET(function, avx512)                                                                           \
	static void function(void)

static inline int prepare_the_file(void **state)
{
	(void)state;
	return sodium_init() < 0;
}
TEST_SETUP(prepare_the_file, NULL)
