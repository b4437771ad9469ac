/* Requests and answers of learners that join: each rule of the decoder, broken alone. */
#include <stdlib.h>
#include <string.h>

#include "common/wire/join_codec.h"
#include "proto/join.pb-c.h"
#include "test/lib/test.h"

static uint8_t bytes[SL_JOIN_HEAD_BYTES + SL_JOIN_ANSWER_BYTES_MAX + 1];

static struct sl_join_request ask(void)
{
	struct sl_join_request r = {
		.kind = SL_JOIN_ASK, .version = 7, .group = "ward", .name = "bo", .address = "h:1"};
	memset(r.invitation, 3, sizeof r.invitation);
	memset(r.proof, 4, SL_JOIN_PROOF_BYTES);
	return r;
}

static struct sl_join_request renew(void)
{
	struct sl_join_request r = {.kind = SL_JOIN_RENEW, .group = "ward"};
	memset(r.proof, 5, sizeof r.proof);
	memset(r.key, 6, sizeof r.key);
	return r;
}

/* Decode a copy of exactly `size` bytes. */
static const char *take(const uint8_t *payload, size_t size, struct sl_join_request *got)
{
	uint8_t *copy = malloc(size > 0 ? size : 1);
	assert_non_null(copy);
	memcpy(copy, payload, size);
	const char *why = sl_join_codec_take_request(copy, size, got);
	free(copy);
	return why;
}

static void expect_same(const struct sl_join_request *request)
{
	struct sl_join_request got;
	size_t size = sl_join_codec_put_request(request, bytes);
	assert_int_equal(size, sl_join_codec_put_request(request, NULL));
	assert_int_equal(sl_join_codec_length(bytes), size - SL_JOIN_HEAD_BYTES);
	assert_null(take(bytes + SL_JOIN_HEAD_BYTES, size - SL_JOIN_HEAD_BYTES, &got));
	assert_memory_equal(&got, request, sizeof got);
}

TEST(requests)
{
	struct sl_join_request r = ask();
	expect_same(&r);
	memset(r.name, 'n', SL_NAME_BYTES - 1);
	memset(r.group, 'g', SL_NAME_BYTES - 1);
	memset(r.address, 'a', SL_ADDRESS_BYTES - 1);
	r.version = UINT64_MAX;
	expect_same(&r);
	r = renew();
	expect_same(&r);
	r = (struct sl_join_request){.kind = SL_JOIN_ROSTER, .group = "ward", .version = 1};
	expect_same(&r);
}

TEST(answers)
{
	static uint8_t roster[SL_GROUP_TEXT_MAX];
	struct sl_join_answer given = {.verdict = SL_JOIN_ADMITTED,
				       .time = UINT64_MAX,
				       .roster = roster,
				       .roster_bytes = sizeof roster},
			      got;
	memset(roster, 9, sizeof roster);
	size_t size = sl_join_codec_put_answer(&given, NULL) - SL_JOIN_HEAD_BYTES;
	assert_true(size <= SL_JOIN_ANSWER_BYTES_MAX);
	sl_join_codec_put_answer(&given, bytes);
	assert_null(sl_join_codec_take_answer(bytes + SL_JOIN_HEAD_BYTES, size, &got));
	assert_true(got.verdict == given.verdict && got.time == given.time);
	assert_int_equal(got.roster_bytes, sizeof roster);
	assert_memory_equal(got.roster, roster, sizeof roster);
	assert_string_equal(sl_join_codec_take_answer(bytes, SL_JOIN_ANSWER_BYTES_MAX + 1, &got),
			    "payload too large");
	for (int verdict = -1; verdict <= SL_JOIN_VERDICT_COUNT; verdict++) {
		struct sl_join_answer one = {.verdict = (enum sl_join_verdict)verdict};
		size = sl_join_codec_put_answer(&one, bytes) - SL_JOIN_HEAD_BYTES;
		const char *why = sl_join_codec_take_answer(bytes + SL_JOIN_HEAD_BYTES, size, &got);
		if (verdict >= 1 && verdict < SL_JOIN_VERDICT_COUNT) {
			assert_null(why);
			assert_null(got.roster);
		} else {
			assert_string_equal(why, "unknown verdict");
		}
	}
}

/* ---- one field spoilt ---- */

static Starling__Join__Request unpacked(const struct sl_join_request *r)
{
	Starling__Join__Request m = STARLING__JOIN__REQUEST__INIT;
	bool asks = r->kind == SL_JOIN_ASK, renews = r->kind == SL_JOIN_RENEW;
	m.kind = (Starling__Join__Kind)r->kind;
	m.group = (ProtobufCBinaryData){strlen(r->group), (uint8_t *)r->group};
	m.version = r->version;
	m.invitation = (ProtobufCBinaryData){asks ? sizeof r->invitation : 0, (uint8_t *)r->invitation};
	m.proof = (ProtobufCBinaryData){asks	 ? SL_JOIN_PROOF_BYTES
					: renews ? SL_SIG_BYTES
						 : 0,
					(uint8_t *)r->proof};
	m.name = (ProtobufCBinaryData){strlen(r->name), (uint8_t *)r->name};
	m.address = (ProtobufCBinaryData){strlen(r->address), (uint8_t *)r->address};
	m.key = (ProtobufCBinaryData){renews ? SL_KEY_BYTES : 0, (uint8_t *)r->key};
	return m;
}

static void expect(const Starling__Join__Request *m, const char *reason)
{
	struct sl_join_request got;
	size_t size = starling__join__request__pack(m, bytes);
	assert_true(size <= sizeof bytes);
	assert_string_equal(take(bytes, size, &got), reason);
}

TEST(fields_of_requests)
{
	static uint8_t zeros[256];
	static char letters[SL_ADDRESS_BYTES + 8];
	memset(letters, 'x', sizeof letters);
	struct sl_join_request given[3] = {ask(), renew(), {.kind = SL_JOIN_ROSTER, .group = "ward"}};
	for (int k = 0; k < 3; k++) {
		const struct {
			size_t offset;
			size_t least, most;
			const char *reason;
		} fields[] = {
#define FIELD(name, least, most, reason) {offsetof(Starling__Join__Request, name), least, most, reason}
			FIELD(group, 1, 63, "group out of range"),
			FIELD(invitation, k == 0 ? 8 : 0, k == 0 ? 8 : 0, "invitation of a wrong length"),
			FIELD(proof,
			      k == 0   ? 32
			      : k == 1 ? 64
				       : 0,
			      k == 0   ? 32
			      : k == 1 ? 64
				       : 0,
			      "proof of a wrong length"),
			FIELD(name, k == 0, k == 0 ? 63 : 0, "name out of range"),
			FIELD(address, k == 0, k == 0 ? SL_ADDRESS_BYTES - 1 : 0, "address out of range"),
			FIELD(key, k == 1 ? 32 : 0, k == 1 ? 32 : 0, "key of a wrong length"),
#undef FIELD
		};
		for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
			for (size_t size = 0; size < sizeof letters; size++) {
				Starling__Join__Request m = unpacked(&given[k]);
				struct sl_join_request got;
				ProtobufCBinaryData *field =
					(ProtobufCBinaryData *)((uint8_t *)&m + fields[f].offset);
				*field = (ProtobufCBinaryData){size, (uint8_t *)letters};
				if (size < fields[f].least || size > fields[f].most)
					expect(&m, fields[f].reason);
				else
					assert_null(
						take(bytes, starling__join__request__pack(&m, bytes), &got));
			}
	}
	for (int f = 0; f < 3; f++) { /* a zero byte in a text */
		Starling__Join__Request m = unpacked(&given[0]);
		*(f == 0 ? &m.group : f == 1 ? &m.name : &m.address) = (ProtobufCBinaryData){2, zeros};
		expect(&m, f == 0   ? "group out of range"
			   : f == 1 ? "name out of range"
				    : "address out of range");
	}
	for (unsigned kind = 0; kind <= 4; kind += 4) {
		Starling__Join__Request m = unpacked(&given[0]);
		m.kind = (Starling__Join__Kind)kind;
		expect(&m, "unknown kind");
	}
}

TEST(forms_of_requests)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *reason;
	} cases[] = {
		{"", 0, "unknown kind"},
		{"\x08\x03\x12\x01g", 5, NULL},
		{"\x08\x03\x12\x01g\x18\x00", 7, "not the canonical form"}, /* a zero spelled out */
		{"\x12\x01g\x08\x03", 5, "not the canonical form"},
		{"\x08\x03\x08\x03\x12\x01g", 7, "not the canonical form"},
		{"\x08\x83\x00\x12\x01g", 6, "not the canonical form"},
		{"\x08\x03\x12\x01g\x48\x01", 7, "not the canonical form"}, /* field 9 */
		{"\x08\x03\x12\x02g", 5, "not protobuf"},
		{"\x08\x03\x12\xff\xff\xff\xff\x0fg", 9, "not protobuf"},
		{"\x08", 1, "not protobuf"},
	};
	struct sl_join_request got;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *why = take((const uint8_t *)cases[i].bytes, cases[i].size, &got);
		if (cases[i].reason == NULL)
			assert_null(why);
		else
			assert_string_equal(why, cases[i].reason);
	}
	memset(bytes, 0x7a, sizeof bytes); /* empty unknown fields: 512 of them take more than the block */
	for (size_t i = 1; i < SL_JOIN_REQUEST_BYTES_MAX; i += 2)
		bytes[i] = 0;
	assert_string_equal(take(bytes, SL_JOIN_REQUEST_BYTES_MAX, &got), "not protobuf");
	assert_string_equal(take(bytes, SL_JOIN_REQUEST_BYTES_MAX + 1, &got), "payload too large");
}
