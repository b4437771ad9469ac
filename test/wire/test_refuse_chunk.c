/* Each rule of the decoder for chunks, broken alone: the reason must be that rule's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/wire/refuse.h"

static const char when[] = "round out of range";
static uint8_t bytes[SL_HASH_BYTES + 1];

enum { T = 1 << 3, A = 2 << 3, VIEW = 3 << 3 | 2, ITERATION = 4 << 3, INDEX = 5 << 3, DATA = 6 << 3 | 2 };

static void put_number(unsigned tag, uint64_t value)
{
	put_byte(tag);
	put_varint(value);
}

/* A valid chunk with these four numbers, where 0 is left out. */
static void put_chunk(uint64_t t, uint64_t a, uint64_t iteration, uint64_t index, size_t size)
{
	static const uint8_t zeros[SL_CHUNK_BYTES_MAX + 1];
	begin();
	if (t != 0)
		put_number(T, t);
	if (a != 0)
		put_number(A, a);
	put_span(VIEW, zeros, SL_HASH_BYTES);
	if (iteration != 0)
		put_number(ITERATION, iteration);
	if (index != 0)
		put_number(INDEX, index);
	if (size != 0)
		put_span(DATA, zeros, size);
}

static void expect_chunk(uint32_t kind, uint64_t t, uint64_t a, uint64_t iteration, uint64_t index, size_t size,
			 const char *reason)
{
	put_chunk(t, a, iteration, index, size);
	expect_written(kind, reason);
}

static void numbers_of_a_chunk(void **state)
{
	(void)state;
	const uint64_t last = SL_ELEMENTS_MAX / SL_CHUNK_ELEMENTS - 1, most = SL_ITERATIONS_MAX - 1;
	for (uint32_t kind = SL_MSG_SHARE; kind <= SL_MSG_RESULT; kind++) {
		expect_chunk(kind, 1, 1, 0, 0, 1, NULL);
		expect_chunk(kind, 0, 1, 0, 0, 1, when);
		expect_chunk(kind, SL_ROUNDS_MAX + 2, 1, 0, 0, 1, when);
		expect_chunk(kind, 1, 0, 0, 0, 1, "attempt out of range");
		expect_chunk(kind, 1, 1, 0, last, 1, NULL);
		expect_chunk(kind, 1, 1, 0, last + 1, 1, "chunk index out of range");
		expect_chunk(kind, 1, 1, 0, 0, 0, "chunk size out of range");
		expect_chunk(kind, 1, 1, 0, 0, SL_CHUNK_BYTES_MAX, NULL);
		expect_chunk(kind, 1, 1, 0, 0, SL_CHUNK_BYTES_MAX + 1, "chunk size out of range");
		expect_chunk(kind, UINT64_C(1) << 32 | 1, 1, 0, 0, 1, "number too large");
		expect_chunk(kind, 1, UINT64_C(1) << 32 | 1, 0, 0, 1, "number too large");
		expect_chunk(kind, 1, 1, 0, UINT64_C(1) << 32 | 1, 1, "number too large");
	}
	expect_chunk(SL_MSG_SHARE, 1, 1, 1, 0, 1, "iteration out of range");
	expect_chunk(SL_MSG_RESULT, 1, 1, 1, 0, 1, "iteration out of range");
	expect_chunk(SL_MSG_STATE, 1, 1, most, 0, 1, NULL);
	expect_chunk(SL_MSG_STATE, 1, 1, most + 1, 0, 1, "iteration out of range");
	expect_chunk(SL_MSG_STATE, 1, 1, UINT64_MAX, 0, 1, "iteration out of range");
}

static void view_of_a_chunk(void **state)
{
	(void)state;
	static const size_t sizes[] = {0, SL_HASH_BYTES - 1, SL_HASH_BYTES + 1};
	begin();
	put_number(T, 1);
	put_number(A, 1);
	put_span(DATA, bytes, 1);
	expect_written(SL_MSG_SHARE, "no view");
	for (size_t i = 0; i < 3; i++) {
		begin();
		put_number(T, 1);
		put_number(A, 1);
		put_span(VIEW, bytes, sizes[i]);
		put_span(DATA, bytes, 1);
		expect_written(SL_MSG_SHARE, "view of a wrong length");
	}
}

static void fields_of_a_chunk(void **state)
{
	(void)state;
	static const unsigned strangers[] = {7 << 3, 1 << 3 | 1, 1 << 3 | 2, 1 << 3 | 5, 6 << 3 | 3, 7};
	for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
		begin();
		put_number(strangers[i], 1);
		expect_written(SL_MSG_STATE, "unknown field");
	}
	static const unsigned twice[] = {T, A, ITERATION, INDEX};
	for (size_t i = 0; i < 4; i++) {
		begin();
		put_number(twice[i], 1);
		put_number(twice[i], 1);
		expect_written(SL_MSG_STATE, "field twice or out of order");
	}
	put_chunk(1, 1, 0, 0, 1);
	put_span(DATA, bytes, 1);
	expect_written(SL_MSG_STATE, "field twice or out of order");
	begin();
	put_number(A, 1);
	put_number(T, 1);
	expect_written(SL_MSG_STATE, "field twice or out of order");
}

static void expect_number(const char *varint, size_t size, const char *reason)
{
	begin();
	put_byte(ITERATION);
	sl_put(&w, varint, size);
	expect_written(SL_MSG_STATE, reason);
}

static void varints_of_a_chunk(void **state)
{
	(void)state;
	const char *reason = "varint cut short or too long";
	expect_number("", 0, reason);
	expect_number("\x80", 1, reason);
	expect_number("\x81\x00", 2, reason);
	expect_number("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, reason);
	expect_number("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x01", 11, reason);
	expect_number("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, "no view"); /* 2^64 - 1, read as such */
	expect_number("\x00", 1, "a zero spelled out");
	static const uint64_t sizes[] = {1, 100, UINT32_MAX, INT64_MAX, UINT64_MAX};
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		begin();
		put_number(DATA, sizes[i]);
		expect_written(SL_MSG_SHARE, "field longer than the message");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_a_chunk),
		cmocka_unit_test(view_of_a_chunk),
		cmocka_unit_test(fields_of_a_chunk),
		cmocka_unit_test(varints_of_a_chunk),
	};
	return cmocka_run_group_tests_name("refuse_chunk", tests, NULL, NULL);
}
