/* test.h - test cases that register themselves, on top of cmocka. Include it instead of <cmocka.h>:
 *
 *   TEST(small_graphs)
 *   {
 *           assert_int_equal(edges("ring", 4), 4);
 *   }
 *
 * main() is in test.c. A program may be linked from several files. `PROGRAM` runs all cases, file by file, in
 * source order; `PROGRAM FILE[:CASE]...` runs those named; `PROGRAM --list` lists them. FILE is the source
 * file's name without folder, "test_" and ".c". Exit status: 0 passed, 1 a case failed, 2 usage error, 77
 * every case was skipped. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Define and register a case; its body follows. */
#define TEST(name) TEST_CASE_(name, void, name(), NULL, NULL, false)

/* Define a case that `PROGRAM --nightly` runs in place of all others. `PROGRAM FILE:CASE` runs it too. */
#define TEST_NIGHTLY(name) TEST_CASE_(name, void, name(), NULL, NULL, true)

/* Define a case with a fixture: run `setup` before it and `teardown` after it; either may be NULL. The body
 * may use cmocka's `void **state`, which `setup` has set, or else the setup of TEST_SETUP. */
#define TEST_WITH(name, setup, teardown)                                                                     \
	TEST_CASE_(name, void **state __attribute__((unused)), name(state), setup, teardown, false)

/* Run `setup` before the first case of this file and `teardown` after its last; either may be NULL. Use it
 * once. */
#define TEST_SETUP(setup, teardown) TEST_ENTRY_(setup_of_the_file, NULL, NULL, setup, teardown, false)

/* Expect that a call succeeds; show the text of its error if it does not. */
#define assert_ok(call, error)                                                                               \
	do {                                                                                                 \
		if ((call) != 0)                                                                             \
			fail_msg("%s", (error).text);                                                        \
	} while (0)

/* --- what the macros expand to --- */

struct test_entry {
	const char *file;
	int number; /* increases within a file; constructors may run in any order */
	bool nightly;
	struct CMUnitTest test; /* of a case; without a name: the file's fixture */
	struct test_entry *next;
};

void test_add(struct test_entry *entry);
extern size_t test_completed; /* cases that neither failed nor were skipped */

#define TEST_ENTRY_(id, label, run, setup, teardown, nightly)                                                \
	__attribute__((constructor)) static void test_add_##id(void)                                         \
	{                                                                                                    \
		static struct test_entry entry_ = {                                                          \
			__FILE__, __COUNTER__, nightly, {label, run, setup, teardown, NULL}, NULL};          \
		test_add(&entry_);                                                                           \
	}

#define TEST_CASE_(name, parameter, call, setup, teardown, nightly)                                          \
	static void name(parameter);                                                                         \
	static void test_run_##name(void **state)                                                            \
	{                                                                                                    \
		(void)state;                                                                                 \
		call;                                                                                        \
		test_completed++;                                                                            \
	}                                                                                                    \
	TEST_ENTRY_(name, #name, test_run_##name, setup, teardown, nightly)                                  \
	static void name(parameter)
