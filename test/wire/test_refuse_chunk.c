/* Each rule of the decoder for chunks, broken alone: the reason must be that rule's own. */
#include <stddef.h>
#include <stdint.h>

#include "test/lib/test.h"
#include "test/wire/refuse.h"

static const char when[] = "round out of range";
static uint8_t bytes[SL_HASH_BYTES + 1];

enum {
	T = 1 << 3,
	A = 2 << 3,
	VIEW = 3 << 3 | 2,
	ITERATION = 4 << 3,
	INDEX = 5 << 3,
	ORIGIN = 6 << 3,
	NONCE = 7 << 3 | 2,
	DATA = 8 << 3 | 2
};

static void put_number(unsigned tag, uint64_t value)
{
	put_byte(tag);
	put_varint(value);
}

/* A chunk with these numbers, where 0 is left out. */
struct parts {
	uint64_t t, a, iteration, index, origin;
	const uint8_t *nonce;
	size_t size;
};

static const uint8_t nonce[SL_NONCE_BYTES] = {1};

static void put_parts(struct parts parts)
{
	static const uint8_t zeros[SL_CHUNK_BYTES_MAX + 1];
	begin();
	if (parts.t != 0)
		put_number(T, parts.t);
	if (parts.a != 0)
		put_number(A, parts.a);
	put_span(VIEW, zeros, SL_HASH_BYTES);
	if (parts.iteration != 0)
		put_number(ITERATION, parts.iteration);
	if (parts.index != 0)
		put_number(INDEX, parts.index);
	if (parts.origin != 0)
		put_number(ORIGIN, parts.origin);
	if (parts.nonce != NULL)
		put_span(NONCE, parts.nonce, SL_NONCE_BYTES);
	if (parts.size != 0)
		put_span(DATA, zeros, parts.size);
}

/* As the kind has it apart from the numbers given: of a masked state, with its owner; where one begins, with
 * its nonce. */
static void put_chunk(uint32_t kind, uint64_t t, uint64_t a, uint64_t iteration, uint64_t index, size_t size)
{
	bool masked = kind == SL_MSG_MASKED,
	     begins = (masked || kind == SL_MSG_STATE) && iteration == 0 && index == 0;
	put_parts((struct parts){.t = t,
				 .a = a,
				 .iteration = iteration,
				 .index = index,
				 .origin = masked ? 9 : 0,
				 .nonce = begins ? nonce : NULL,
				 .size = size});
}

static void expect_chunk(uint32_t kind, uint64_t t, uint64_t a, uint64_t iteration, uint64_t index,
			 size_t size, const char *reason)
{
	put_chunk(kind, t, a, iteration, index, size);
	expect_written(kind, reason);
}

TEST(numbers_of_a_chunk)
{
	const uint64_t last = SL_ELEMENTS_MAX / SL_CHUNK_ELEMENTS - 1, most = SL_ITERATIONS_MAX - 1;
	for (uint32_t kind = SL_MSG_SHARE; kind <= SL_MSG_MASKED; kind++) {
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
	expect_chunk(SL_MSG_MASKED, 1, 1, 1, 0, 1, "iteration out of range");
	expect_chunk(SL_MSG_STATE, 1, 1, most, 0, 1, NULL);
	expect_chunk(SL_MSG_STATE, 1, 1, most + 1, 0, 1, "iteration out of range");
	expect_chunk(SL_MSG_STATE, 1, 1, UINT64_MAX, 0, 1, "iteration out of range");
}

static void expect_parts(uint32_t kind, uint64_t iteration, uint64_t index, uint64_t origin,
			 const uint8_t *with, const char *reason)
{
	put_parts((struct parts){.t = 1,
				 .a = 1,
				 .iteration = iteration,
				 .index = index,
				 .origin = origin,
				 .nonce = with,
				 .size = 1});
	expect_written(kind, reason);
}

/* Only what is asked for of anybody says whose it is. */
TEST(origin_of_a_chunk)
{
	const char *reason = "origin of what has none, or none";
	expect_parts(SL_MSG_MASKED, 0, 0, 0, nonce, reason);
	expect_parts(SL_MSG_MASKED, 0, 1, 0, NULL, reason);
	expect_parts(SL_MSG_MASKED, 0, 1, 1, NULL, NULL);
	expect_parts(SL_MSG_MASKED, 0, 1, UINT32_MAX, NULL, NULL);
	expect_parts(SL_MSG_MASKED, 0, 1, UINT64_C(1) << 32, NULL, "number too large");
	expect_parts(SL_MSG_SHARE, 0, 0, 1, NULL, reason);
	expect_parts(SL_MSG_STATE, 0, 0, 1, nonce, reason);
	expect_parts(SL_MSG_RESULT, 0, 0, 1, NULL, reason);
}

/* Chunk 0 of a masked state brings the nonce of its commitment, and nothing else does. */
TEST(nonce_of_a_chunk)
{
	const char *reason = "nonce missing, or where none belongs";
	expect_parts(SL_MSG_MASKED, 0, 0, 1, nonce, NULL);
	expect_parts(SL_MSG_MASKED, 0, 0, 1, NULL, reason);
	expect_parts(SL_MSG_MASKED, 0, 1, 1, nonce, reason);
	expect_parts(SL_MSG_STATE, 0, 0, 0, nonce, NULL);
	expect_parts(SL_MSG_STATE, 0, 0, 0, NULL, reason);
	expect_parts(SL_MSG_STATE, 0, 1, 0, nonce, reason);
	expect_parts(SL_MSG_STATE, 1, 0, 0, nonce, reason);
	expect_parts(SL_MSG_STATE, 1, 0, 0, NULL, NULL);
	expect_parts(SL_MSG_SHARE, 0, 0, 0, nonce, reason);
	expect_parts(SL_MSG_RESULT, 0, 0, 0, nonce, reason);
}

TEST(form_of_a_nonce)
{
	static const uint8_t last[SL_NONCE_BYTES] = {[SL_NONCE_BYTES - 1] = 1}, none[SL_NONCE_BYTES];
	static const size_t sizes[] = {0, SL_NONCE_BYTES - 1, SL_NONCE_BYTES + 1};
	expect_parts(SL_MSG_STATE, 0, 0, 0, last, NULL); /* one bit is enough */
	expect_parts(SL_MSG_STATE, 0, 0, 0, none, "a nonce of zeros");
	expect_parts(SL_MSG_SHARE, 0, 0, 0, none,
		     "a nonce of zeros"); /* one more way to write the same chunk */
	for (size_t i = 0; i < 3; i++) {
		put_parts((struct parts){.t = 1, .a = 1});
		put_span(NONCE, bytes, sizes[i]);
		put_span(DATA, bytes, 1);
		expect_written(SL_MSG_STATE, "view or nonce of a wrong length");
	}
}

TEST(view_of_a_chunk)
{
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
		expect_written(SL_MSG_SHARE, "view or nonce of a wrong length");
	}
}

TEST(fields_of_a_chunk)
{
	static const unsigned strangers[] = {9 << 3,	 6 << 3 | 2, 7 << 3,	 1 << 3 | 1,
					     1 << 3 | 2, 1 << 3 | 5, 8 << 3 | 3, 7};
	for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
		begin();
		put_number(strangers[i], 1);
		expect_written(SL_MSG_STATE, "unknown field");
	}
	static const unsigned twice[] = {T, A, ITERATION, INDEX, ORIGIN};
	for (size_t i = 0; i < sizeof twice / sizeof twice[0]; i++) {
		begin();
		put_number(twice[i], 1);
		put_number(twice[i], 1);
		expect_written(SL_MSG_STATE, "field twice or out of order");
	}
	put_chunk(SL_MSG_STATE, 1, 1, 0, 0, 1);
	put_span(DATA, bytes, 1);
	expect_written(SL_MSG_STATE, "field twice or out of order");
	put_chunk(SL_MSG_STATE, 1, 1, 0, 0, 0);
	put_span(NONCE, nonce, SL_NONCE_BYTES);
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
	sl_bytes_put(&w, varint, size);
	expect_written(SL_MSG_STATE, reason);
}

TEST(varints_of_a_chunk)
{
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
