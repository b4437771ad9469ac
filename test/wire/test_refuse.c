/* Each rule of the decoder, broken alone: the reason must be that rule's own, so that a test fails if the
 * rule is taken away. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/wire/frame.h"
#include "proto/messages.pb-c.h"
#include "test/lib/test.h"
#include "test/wire/refuse.h"
#include "test/wire/sample.h"

static const uint8_t bytes[SL_SIG_BYTES];

/* --- the values of fields --- */

/* Expect the ends of the range to be accepted and their neighbours outside to be refused. A least value of 0
 * is left out: it breaks a rule between fields of some messages. */
static void expect_bound(uint32_t kind, const struct sample_bound *b)
{
	expect_with(kind, b->name, b->most, NULL);
	expect_with(kind, b->name, b->most + 1, b->reason); /* or, after the largest number of the type, 0 */
	if (b->least == 0)
		return;
	expect_with(kind, b->name, b->least, NULL);
	expect_with(kind, b->name, b->least - 1, b->reason);
}

TEST(ranges)
{
	SAMPLE_EACH_KIND(kind)
	for (size_t i = 0; i < sample_bounds_count; i++) {
		const struct sample_bound *b = &sample_bounds[i];
		bool has = strchr(b->name, '.') != NULL ||
			   protobuf_c_message_descriptor_get_field_by_name(described(kind), b->name) != NULL;
		if (has && sample_bound_of(kind, b->name) == b)
			expect_bound(kind, b);
	}
}

TEST(lengths_of_hashes)
{
	SAMPLE_EACH_KIND(kind)
	{
		const struct sl_message_type *type = sl_message_type(kind);
		for (const struct sl_message_field *f = type->fields; f < type->fields + type->count; f++) {
			const uint64_t sizes[] = {f->size - 1, f->size + 1, 0};
			for (size_t i = 0; f->form == SL_FORM_BYTES && i < 3; i++)
				expect_with(kind, f->name, sizes[i],
					    "hash, key, challenge or signature of a wrong length");
		}
	}
}

TEST(single_values)
{
	const struct {
		uint32_t kind;
		const char *name;
		uint64_t value;
		const char *reason;
	} cases[] = {
		{SL_MSG_HELLO, "status", UINT32_MAX, "unknown peer status"},
		{SL_MSG_LINK_STATE, "values", (UINT64_C(1) << 32) + 1, "unknown values"},
		{SL_MSG_LINK_STATE, "candidates", 0, NULL},
		{SL_MSG_READY, "k", 0, NULL},
		{SL_MSG_ROUND, "p", 0, "modulus out of range"}, /* the view decided on a prime: never auto */
		{SL_MSG_ROUND, "members", 0, "number of members out of range"},
		{SL_MSG_ROUND, "members", 2, "number of members out of range"},
		{SL_MSG_ROUND, "members", 5, "number of members out of range"},
		{SL_MSG_OPENING, "share", 41, "key share of a wrong size"},
		{SL_MSG_OPENING, "share", 72, NULL},
		{SL_MSG_KEY_SHARE, "bytes", 71, "key share of a wrong size"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_with(cases[i].kind, cases[i].name, cases[i].value, cases[i].reason);
}

static void expect_request(uint32_t t, uint32_t a, uint32_t origin, const char *reason)
{
	ProtobufCMessage *m = valid(SL_MSG_REQUEST);
	set(m, "t", t);
	set(m, "a", a);
	set(m, "origin", origin);
	expect_packed(SL_MSG_REQUEST, m, reason);
}

/* A Request is for a result, or for a deposit and then names its attempt and its owner. */
TEST(what_is_requested)
{
	const char *reason = "neither for a result nor for a deposit";
	expect_request(1, 1, 1, NULL);
	expect_request(1, 1, UINT32_MAX, NULL);
	expect_request(1, 1, 0, reason);
	expect_request(1, 0, 1, reason);
	expect_request(0, 1, 1, reason);
	expect_request(0, 0, 0, NULL);
	expect_request(1, 0, 0, NULL);
	expect_request(SL_ROUNDS_MAX + 1, 0, 0, NULL);
	expect_request(SL_ROUNDS_MAX + 2, 0, 0, "round out of range");
}

/* Expect `reason` of a list of items 1, 2, .. in which item `at` is replaced by `item`. */
static void expect_item(uint32_t kind, const char *name, size_t at, uint32_t item, const char *reason)
{
	ProtobufCMessage *m = valid(kind);
	set(m, name, kind == SL_MSG_ROUND ? 6 : 3);
	(*(uint32_t **)member(m, name))[at] = item;
	expect_packed(kind, m, reason);
}

TEST(lists_ascend)
{
	const char *candidates = "candidates not strictly ascending from 1";
	const char *members = "members not strictly ascending from 1";
	expect_item(SL_MSG_LINK_STATE, "candidates", 0, 1, NULL);
	expect_item(SL_MSG_LINK_STATE, "candidates", 0, 0, candidates);
	expect_item(SL_MSG_LINK_STATE, "candidates", 1, 1, candidates);
	expect_item(SL_MSG_LINK_STATE, "candidates", 2, 1, candidates);
	expect_item(SL_MSG_ROUND, "members", 0, 0, members);
	expect_item(SL_MSG_ROUND, "members", 2, 1, members);
	expect_item(SL_MSG_ROUND, "members", 2, 2, NULL);
	expect_item(SL_MSG_ROUND, "members", 4, 3, members);
	expect_item(SL_MSG_ROUND, "members", 3, 0, NULL); /* an incarnation */
}

TEST(sets_of_a_have)
{
	ProtobufCMessage *m = valid(SL_MSG_HAVE);
	((ProtobufCBinaryData *)member(m, "keys"))->len = 0;
	expect_packed(SL_MSG_HAVE, m, "set of members out of range");
	set(m, "held", 2);
	((ProtobufCBinaryData *)member(m, "keys"))->len = 1;
	expect_packed(SL_MSG_HAVE, m, "sets of members of different sizes");
}

TEST(abort_without_a_ready)
{
	ProtobufCMessage *m = valid(SL_MSG_ABORT);
	static uint8_t ready[SL_HASH_BYTES];
	ready[SL_HASH_BYTES - 1] = 1; /* one bit is enough */
	*(ProtobufCBinaryData *)member(m, "ready") =
		(ProtobufCBinaryData){.len = sizeof ready, .data = ready};
	set(m, "says", SL_ABORT_UNSIGNED);
	expect_packed(SL_MSG_ABORT, m, NULL);
	ready[SL_HASH_BYTES - 1] = 0;
	expect_packed(SL_MSG_ABORT, m, "an Abort that lacks its Ready");
	set(m, "says", SL_ABORT_PROMISES);
	expect_packed(SL_MSG_ABORT, m, NULL);
}

/* --- chunks --- */

/* Expect `reason` of a chunk with these numbers. */
static void expect_chunk(uint32_t kind, uint64_t iteration, uint32_t index, uint32_t origin,
			 const char *reason)
{
	ProtobufCMessage *m = valid(kind);
	set(m, "iteration", iteration);
	set(m, "index", index);
	set(m, "origin", origin);
	expect_packed(kind, m, reason);
}

/* Only a Deposit, which any learner may send, names its owner. */
TEST(origin_of_a_chunk)
{
	const char *reason = "origin of what has none, or none";
	expect_chunk(SL_MSG_DEPOSIT, 0, 0, 0, reason);
	expect_chunk(SL_MSG_DEPOSIT, 0, 1, 0, reason);
	expect_chunk(SL_MSG_DEPOSIT, 0, 1, 1, NULL);
	expect_chunk(SL_MSG_DEPOSIT, 0, 1, UINT32_MAX, NULL);
	expect_chunk(SL_MSG_SHARE, 0, 0, 1, reason);
	expect_chunk(SL_MSG_STATE, 1, 0, 1, reason);
	expect_chunk(SL_MSG_RESULT, 0, 0, 1, reason);
	expect_chunk(SL_MSG_KEY_SHARE, 0, 0, 1, reason);
}

/* The elements are the rest of the payload, with a length in its shortest form; before them stand few bytes.
 */
TEST(elements_of_a_chunk)
{
	enum { ITERATION = 4 << 3, ELEMENTS = 7 << 3 | 2 };
	static const struct {
		const char *bytes; /* length and elements */
		size_t size;
	} cases[] = {{"\2\1", 2},
		     {"\1\1\1", 3},
		     {"\x81\0\1", 3},
		     {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1", 11}};
	const char *reason = "the elements are not the rest of the payload";
	ProtobufCMessage *m = valid(SL_MSG_STATE);
	set(m, "bytes", 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		put_packed(m);
		put_byte(ELEMENTS);
		sl_bytes_put(&w, cases[i].bytes, cases[i].size);
		expect_written(SL_MSG_STATE, reason);
	}
	begin();
	put_packed(m);
	put_span(ELEMENTS, bytes, 1);
	put_span(ELEMENTS, bytes, 1);
	expect_written(SL_MSG_STATE, reason);
	begin();
	put_packed(m);
	put_byte(ITERATION); /* cut short */
	expect_written(SL_MSG_STATE, "not protobuf");
	begin();
	put_byte(ITERATION); /* of which protobuf takes the last; out of order */
	put_byte(1);
	put_packed(m);
	put_span(ELEMENTS, bytes, 1);
	expect_written(SL_MSG_STATE, "not the canonical form");
	begin();
	while (w.used <= 200)
		put_span(15 << 3 | 2, bytes, 8);
	put_span(ELEMENTS, bytes, 1);
	expect_written(SL_MSG_STATE, "not protobuf");
}

/* --- the form of messages --- */

enum { CANDIDATES = 15 << 3 | 2, SIGNATURE = 16 << 3 | 2 }; /* of a link state */

TEST(kinds_and_sizes)
{
	expect(0, NULL, 0, "not a message");
	expect(SL_MESSAGE_KINDS, NULL, 0, "not a message");
	expect(SL_FRAME_PING, NULL, 0, "not a message");
	begin();
	memset(w.bytes, 0, w.size);
	SAMPLE_EACH_KIND(kind)
	expect(kind, w.bytes, sl_frame_limit(kind) + 1, "payload too large");
	expect(SL_MSG_DIGEST, w.bytes, SL_CONTROL_BYTES_MAX, "not protobuf"); /* a tag of field 0 */
}

TEST(no_payload)
{
	struct sl_decoded decoded;
	const char *why;
	SAMPLE_EACH_KIND(kind)
	{
		/* As the deframer has it: without memory. A sanitizer sees arithmetic on the null
		 * pointer. */
		int err = sl_codec_decode(kind, NULL, 0, &decoded, &why);
		assert_int_equal(err, kind == SL_MSG_REQUEST ? SL_OK : SL_ERR_FORMAT);
		sl_codec_close(&decoded);
	}
}

TEST(unknown_fields)
{
	SAMPLE_EACH_KIND(kind)
	{
		begin();
		put_varint((described(kind)->n_fields + 1) << 3);
		put_byte(1);
		put_packed(valid(kind));
		expect_written(kind, "unknown field");
	}
}

/* Of all zeros or nearly: the shortest messages there are. */
TEST(requests_of_another_form)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *reason;
	} cases[] = {
		{"", 0, NULL},
		{"\x10\x01", 2, NULL},
		{"\x08\x00", 2, "not the canonical form"}, /* a zero spelled out */
		{"\x10\x00", 2, "not the canonical form"},
		{"\x08\x81\x00", 3, "not the canonical form"},
		{"\x10\x01\x08\x01", 4, "not the canonical form"},
		{"\x10\x01\x10\x01", 4, "not the canonical form"},
		{"\x08\x01\x18\x01\x20\x01", 6, NULL}, /* a deposit's first chunk */
		{"\x08\x01\x18\x00", 4, "not the canonical form"},
		{"\x08\x01\x20\x00", 4, "not the canonical form"},
		{"\x08\x01\x20\x01\x18\x01", 6, "not the canonical form"},
		{"\x10\x81\x80\x80\x80\x10", 6, "not the canonical form"}, /* 2^32 + 1 into 32 bits */
		/* 2^33 + 2^31, as long as the 2^31 that is left of it in 32 bits */
		{"\x10\x80\x80\x80\x80\x28", 6, "not the canonical form"},
		{"\x08", 1, "not protobuf"},
		{"\x0a\x01\x01", 3, "not protobuf"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		expect(SL_MSG_REQUEST, (const uint8_t *)cases[i].bytes, cases[i].size, cases[i].reason);
}

/* --- attacks --- */

static const char budget[] = "needs more memory than its size allows";

/* 21,845 empty unknown fields: protobuf-c alone would take 1.4 MB for these 64 KiB. */
TEST(many_empty_fields)
{
	SAMPLE_EACH_KIND(kind)
	if (!sl_message_type(kind)->vector) {
		begin();
		while (w.used + 3 <= SL_CONTROL_BYTES_MAX) {
			put_varint(31 << 3 | 2);
			put_byte(0);
		}
		expect_written(kind, budget);
	}
}

/* 65,000 one-byte candidates fit the budget, four bytes each, and are counted. */
TEST(many_candidates)
{
	static uint8_t ones[65000];
	ProtobufCMessage *m = valid(SL_MSG_LINK_STATE);
	set(m, "candidates", 0);
	set(m, "signature", 0); /* written by hand, after the candidates */
	memset(ones, 1, sizeof ones);
	begin();
	put_packed(m);
	put_span(CANDIDATES, ones, sizeof ones);
	put_span(SIGNATURE, bytes, SL_SIG_BYTES);
	expect_written(SL_MSG_LINK_STATE, "too many candidates");
}

/* Candidates written one by one are another form of the same link state. */
TEST(candidates_one_by_one)
{
	enum { ONE_CANDIDATE = 15 << 3 };
	ProtobufCMessage *m = valid(SL_MSG_LINK_STATE);
	set(m, "candidates", 0); /* written by hand, as is what follows */
	set(m, "signature", 0);
	begin();
	put_packed(m);
	put_varint(ONE_CANDIDATE);
	put_byte(1);
	put_span(SIGNATURE, bytes, SL_SIG_BYTES);
	expect_written(SL_MSG_LINK_STATE, "not the canonical form");
}

/* A count that is announced but not there. */
TEST(lengths_beyond_the_end)
{
	static const uint64_t sizes[] = {1, 100, 65536, UINT32_MAX, UINT64_C(1) << 40, INT64_MAX, UINT64_MAX};
	for (unsigned field = 1; field <= 12; field++)
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
			begin();
			put_byte(field << 3 | 2);
			put_varint(sizes[i]);
			SAMPLE_EACH_KIND(kind)
			if (!sl_message_type(kind)->vector || field != 7)
				expect_written(kind, "not protobuf");
		}
}

/* Groups within groups, as deep as 64 KiB allow. */
TEST(nesting)
{
	static uint8_t deep[SL_CONTROL_BYTES_MAX];
	memset(deep, 8 << 3 | 3, sizeof deep);
	SAMPLE_EACH_KIND(kind)
	expect(kind, deep, sizeof deep, "not protobuf");
}
