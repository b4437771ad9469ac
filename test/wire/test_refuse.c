/* Each rule of the decoder for control messages, broken alone: the reason must be that rule's own, so that a
 * rule taken away is missed. */
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>

#include "common/mixing/engine.h"
#include "common/wire/frame.h"
#include "proto/ask.pb-c.h"
#include "proto/digest.pb-c.h"
#include "proto/fence.pb-c.h"
#include "proto/hello.pb-c.h"
#include "proto/hold.pb-c.h"
#include "proto/link_state.pb-c.h"
#include "proto/ready.pb-c.h"
#include "test/lib/test.h"
#include "test/wire/refuse.h"

/* --- valid messages in protobuf-c's structs, to be spoilt --- */

static uint8_t bytes[SL_SIG_BYTES + 1];
#define BYTES(n) ((ProtobufCBinaryData){.len = (n), .data = bytes})

static uint32_t candidates[SL_LEARNERS_MAX + 1];

static Starling__Hello hello(void)
{
	Starling__Hello m = STARLING__HELLO__INIT;
	m.id = m.incarnation = m.t = m.a = 1;
	m.status = STARLING__PEER_STATUS__PEER_STATUS_READY;
	m.run = BYTES(16);
	m.roster = BYTES(32);
	return m;
}

static uint64_t bits(double value)
{
	uint64_t out;
	memcpy(&out, &value, sizeof out);
	return out;
}

static Starling__Parameters parameters(void)
{
	Starling__Parameters q = STARLING__PARAMETERS__INIT;
	q.n = q.rounds = q.quorum = q.tolerance = q.max_weight = 1;
	q.max_degree = 16;
	q.clipping_range = bits(16);
	return q;
}

static Starling__LinkState link_state(Starling__Parameters *q)
{
	Starling__LinkState m = STARLING__LINK_STATE__INIT;
	m.id = m.incarnation = m.t = m.a = 1;
	m.key = m.roster = m.previous = BYTES(32);
	m.roster_size = 3;
	m.parameters = q;
	for (uint32_t i = 0; i <= SL_LEARNERS_MAX; i++)
		candidates[i] = i + 1;
	m.candidates = candidates;
	m.n_candidates = 3;
	m.signature = BYTES(64);
	return m;
}

static Starling__Ready ready(void)
{
	Starling__Ready m = STARLING__READY__INIT;
	m.id = m.t = m.a = 1;
	m.k = 1;
	m.view = m.commitment = BYTES(32);
	m.signature = BYTES(64);
	return m;
}

static Starling__Digest digest(void)
{
	Starling__Digest m = STARLING__DIGEST__INIT;
	m.id = m.t = m.a = 1;
	m.key = m.view = m.digest = BYTES(32);
	m.p = 3;
	m.learners = 2;
	double clipping_range = 16;
	memcpy(&m.clipping_range, &clipping_range, sizeof clipping_range);
	m.signature = BYTES(64);
	return m;
}

static Starling__Request request(void)
{
	Starling__Request m = STARLING__REQUEST__INIT;
	m.t = m.index = 1;
	return m;
}

/* For a chunk of a masked state. */
static Starling__Request ask_masked(void)
{
	Starling__Request m = request();
	m.a = m.origin = 1;
	return m;
}

static uint32_t released[SL_RELEASED_MAX + 1];

static Starling__Abort abort_record(void)
{
	Starling__Abort m = STARLING__ABORT__INIT;
	m.id = m.incarnation = m.t = 1;
	m.a = 100;
	for (uint32_t i = 0; i <= SL_RELEASED_MAX; i++)
		released[i] = i + 1;
	m.released = released;
	m.n_released = 3;
	m.key = BYTES(32);
	m.signature = BYTES(64);
	return m;
}

static Starling__Have have(void)
{
	Starling__Have m = STARLING__HAVE__INIT;
	m.t = m.a = 1;
	m.view = BYTES(32);
	m.held = BYTES(1);
	return m;
}

/* What each macro's message says once `spoil` was done to it: nothing, or the reason. */
#define HELLO(spoil, reason)                                                                                 \
	do {                                                                                                 \
		Starling__Hello m = hello();                                                                 \
		spoil;                                                                                       \
		expect_packed(SL_MSG_HELLO, &m, reason);                                                     \
	} while (0)
#define LINK_STATE(spoil, reason)                                                                            \
	do {                                                                                                 \
		Starling__Parameters q = parameters();                                                       \
		Starling__LinkState m = link_state(&q);                                                      \
		spoil;                                                                                       \
		expect_packed(SL_MSG_LINK_STATE, &m, reason);                                                \
	} while (0)
#define READY(spoil, reason)                                                                                 \
	do {                                                                                                 \
		Starling__Ready m = ready();                                                                 \
		spoil;                                                                                       \
		expect_packed(SL_MSG_READY, &m, reason);                                                     \
	} while (0)
#define DIGEST(spoil, reason)                                                                                \
	do {                                                                                                 \
		Starling__Digest m = digest();                                                               \
		spoil;                                                                                       \
		expect_packed(SL_MSG_DIGEST, &m, reason);                                                    \
	} while (0)
#define REQUEST(spoil, reason)                                                                               \
	do {                                                                                                 \
		Starling__Request m = request();                                                             \
		spoil;                                                                                       \
		expect_packed(SL_MSG_REQUEST, &m, reason);                                                   \
	} while (0)
#define ASK_MASKED(spoil, reason)                                                                            \
	do {                                                                                                 \
		Starling__Request m = ask_masked();                                                          \
		spoil;                                                                                       \
		expect_packed(SL_MSG_REQUEST, &m, reason);                                                   \
	} while (0)
#define ABORT(spoil, reason)                                                                                 \
	do {                                                                                                 \
		Starling__Abort m = abort_record();                                                          \
		spoil;                                                                                       \
		expect_packed(SL_MSG_ABORT, &m, reason);                                                     \
	} while (0)
#define HAVE(spoil, reason)                                                                                  \
	do {                                                                                                 \
		Starling__Have m = have();                                                                   \
		spoil;                                                                                       \
		expect_packed(SL_MSG_HAVE, &m, reason);                                                      \
	} while (0)

static const char length[] = "hash, key or signature of a wrong length";
static const char when[] = "round out of range";

/* --- control messages --- */

TEST(ids_rounds_attempts)
{
#define WHEN(KIND)                                                                                           \
	KIND((void)m, NULL);                                                                                 \
	KIND(m.t = 0, when);                                                                                 \
	KIND(m.t = SL_ROUNDS_MAX + 1, NULL);                                                                 \
	KIND(m.t = SL_ROUNDS_MAX + 2, when);                                                                 \
	KIND(m.a = SL_ATTEMPTS_MAX, NULL);                                                                   \
	KIND(m.a = SL_ATTEMPTS_MAX + 1, "attempt out of range")
#define WHO(KIND)                                                                                            \
	WHEN(KIND);                                                                                          \
	KIND(m.id = 0, "id is 0")
	WHO(HELLO);
	WHO(LINK_STATE);
	WHO(READY);
	WHO(DIGEST);
	WHO(ABORT);
	WHEN(HAVE);
#undef WHO
#undef WHEN
#define FIRST(KIND) KIND(m.a = 0, "attempt out of range")
	FIRST(HELLO);
	FIRST(LINK_STATE);
	FIRST(READY);
	FIRST(DIGEST);
	FIRST(HAVE);
	ABORT((m.a = 0, m.n_released = 0), "attempt out of range");
#undef FIRST
}

TEST(lengths_of_hashes)
{
#define LENGTH(KIND, field, size)                                                                            \
	KIND(m.field = BYTES((size)-1), length);                                                             \
	KIND(m.field = BYTES((size) + 1), length);                                                           \
	KIND(m.field = BYTES(0), length)
	LENGTH(HELLO, run, SL_RUN_BYTES);
	LENGTH(HELLO, roster, SL_HASH_BYTES);
	LENGTH(LINK_STATE, key, SL_KEY_BYTES);
	LENGTH(LINK_STATE, roster, SL_HASH_BYTES);
	LENGTH(LINK_STATE, previous, SL_HASH_BYTES);
	LENGTH(LINK_STATE, signature, SL_SIG_BYTES);
	LENGTH(READY, view, SL_HASH_BYTES);
	LENGTH(READY, commitment, SL_HASH_BYTES);
	LENGTH(READY, signature, SL_SIG_BYTES);
	LENGTH(DIGEST, key, SL_KEY_BYTES);
	LENGTH(DIGEST, view, SL_HASH_BYTES);
	LENGTH(DIGEST, digest, SL_HASH_BYTES);
	LENGTH(DIGEST, signature, SL_SIG_BYTES);
	LENGTH(ABORT, key, SL_KEY_BYTES);
	LENGTH(ABORT, signature, SL_SIG_BYTES);
	LENGTH(HAVE, view, SL_HASH_BYTES);
#undef LENGTH
}

TEST(standings)
{
	const char *reason = "unknown standing";
	HELLO(m.status = STARLING__PEER_STATUS__PEER_STATUS_TRAINING, NULL);
	HELLO(m.status = STARLING__PEER_STATUS__PEER_STATUS_OPEN, NULL);
	HELLO(m.status = STARLING__PEER_STATUS__PEER_STATUS_UNSPECIFIED, reason);
	HELLO(m.status = (Starling__PeerStatus)5, reason);
	HELLO(m.status = (Starling__PeerStatus)-1, reason);
}

TEST(integer_parameters)
{
	LINK_STATE(m.parameters = NULL, "no parameters");
	LINK_STATE(q.n = 0, "n out of range");
	LINK_STATE(q.n = SL_ELEMENTS_MAX - 1, NULL);
	LINK_STATE(q.n = SL_ELEMENTS_MAX, "n out of range");
	LINK_STATE(q.p = 1, "p out of range");
	LINK_STATE(q.p = 2, "p out of range");
	LINK_STATE(q.p = 3, NULL);
	LINK_STATE(q.p = (UINT64_C(1) << 61) - 1, NULL);
	LINK_STATE(q.p = UINT64_C(1) << 61, "p out of range");
	LINK_STATE(q.rounds = 0, "rounds out of range");
	LINK_STATE(q.rounds = SL_ROUNDS_MAX, NULL);
	LINK_STATE(q.rounds = SL_ROUNDS_MAX + 1, "rounds out of range");
	LINK_STATE(q.quorum = 0, "quorum out of range");
	LINK_STATE(q.quorum = SL_LEARNERS_MAX, NULL);
	LINK_STATE(q.quorum = SL_LEARNERS_MAX + 1, "quorum out of range");
	LINK_STATE(q.decimals = SL_DECIMALS_MAX, NULL);
	LINK_STATE(q.decimals = SL_DECIMALS_MAX + 1, "sigma out of range");
	LINK_STATE(q.max_weight = 0, "max_weight is 0");
	LINK_STATE(q.encoding = 1, NULL);
	LINK_STATE(q.encoding = 2, "unknown encoding");
	LINK_STATE(q.sharing = 2, NULL);
	LINK_STATE(q.sharing = 3, "unknown sharing");
	LINK_STATE(q.mixing = SL_ENGINE_AUTO, NULL);
	LINK_STATE(q.mixing = SL_ENGINE_AUTO + 1, "unknown mixing");
}

TEST(parameters_of_the_graph)
{
	LINK_STATE(q.tolerance = 0, "tolerance out of range");
	LINK_STATE(q.tolerance = SL_LEARNERS_MAX - 2, NULL);
	LINK_STATE(q.tolerance = SL_LEARNERS_MAX - 1, "tolerance out of range");
	LINK_STATE(q.tolerance = (UINT64_C(1) << 32) + 1, "tolerance out of range");
	LINK_STATE(q.k = SL_ITERATIONS_MAX, NULL);
	LINK_STATE(q.k = SL_ITERATIONS_MAX + 1, "k out of range");
	LINK_STATE(q.iterations_rule = q.k = 1, NULL);
	LINK_STATE(q.iterations_rule = 1, "k out of range");
	LINK_STATE(q.iterations_rule = q.k = 2, "k_fixed is neither 0 nor 1");
	LINK_STATE(q.max_degree = 0, "degree_max out of range");
	LINK_STATE(q.max_degree = SL_DEGREE_LEAST - 1, "degree_max out of range");
	LINK_STATE(q.max_degree = SL_DEGREE_LEAST, NULL);
	LINK_STATE(q.max_degree = SL_LEARNERS_MAX, NULL);
	LINK_STATE(q.max_degree = SL_LEARNERS_MAX + 1, "degree_max out of range");
}

TEST(sizes_of_rosters)
{
	LINK_STATE(m.roster_size = 0, "roster_size out of range");
	LINK_STATE(m.roster_size = 1, NULL);
	LINK_STATE(m.roster_size = SL_LEARNERS_MAX, NULL);
	LINK_STATE(m.roster_size = SL_LEARNERS_MAX + 1, "roster_size out of range");
}

TEST(view_of_a_digest)
{
	DIGEST(m.p = 0, "p out of range"); /* never auto: it is decided */
	DIGEST(m.p = 2, "p out of range");
	DIGEST(m.p = (UINT64_C(1) << 61) - 1, NULL);
	DIGEST(m.p = UINT64_C(1) << 61, "p out of range");
	DIGEST(m.learners = 0, "learners out of range");
	DIGEST(m.learners = 1, "learners out of range");
	DIGEST(m.learners = SL_LEARNERS_MAX, NULL);
	DIGEST(m.learners = SL_LEARNERS_MAX + 1, "learners out of range");
	DIGEST(m.decimals = SL_DECIMALS_MAX, NULL);
	DIGEST(m.decimals = SL_DECIMALS_MAX + 1, "sigma out of range");
	DIGEST(m.encoding = 1, NULL);
	DIGEST(m.encoding = 2, "unknown encoding");
	DIGEST(m.clipping_range = 0, "clip is not a positive number");
}

TEST(numbers_of_a_request)
{
	const uint32_t last = SL_ELEMENTS_MAX / SL_CHUNK_ELEMENTS - 1;
	REQUEST((void)m, NULL);
	REQUEST(m.t = 0, NULL);
	REQUEST(m.t = SL_ROUNDS_MAX + 1, NULL);
	REQUEST(m.t = SL_ROUNDS_MAX + 2, when);
	REQUEST(m.index = last, NULL);
	REQUEST(m.index = last + 1, "chunk index out of range");
}

/* For a result, or for a masked state: of which attempt, and whose. */
TEST(what_is_asked_for)
{
	const char *reason = "neither for a result nor for a masked state";
	ASK_MASKED((void)m, NULL);
	ASK_MASKED(m.origin = UINT32_MAX, NULL);
	ASK_MASKED(m.origin = 0, reason);
	ASK_MASKED(m.a = 0, reason);
	ASK_MASKED(m.a = SL_ATTEMPTS_MAX, NULL);
	ASK_MASKED(m.a = SL_ATTEMPTS_MAX + 1, reason);
	ASK_MASKED(m.t = 0, reason);
	ASK_MASKED(m.t = SL_ROUNDS_MAX + 2, when);
	ASK_MASKED(m.index = SL_ELEMENTS_MAX / SL_CHUNK_ELEMENTS, "chunk index out of range");
}

TEST(attempts_of_an_abort)
{
	const char *order = "released attempts not strictly ascending from 1 to a";
	ABORT(m.n_released = 0, NULL);
	ABORT(m.a = 3, NULL);
	ABORT(m.a = 2, order);
	ABORT((m.n_released = 1, released[0] = 101), order);
	ABORT((m.n_released = 1, released[0] = 0), order);
	ABORT(released[1] = released[0], order);
	ABORT(released[2] = 1, order);
	ABORT(m.closed = m.a, NULL);
	ABORT(m.closed = m.a + 1, "dead attempt above a");
	ABORT(m.n_released = SL_RELEASED_MAX, NULL);
	ABORT(m.n_released = SL_RELEASED_MAX + 1, "too many released attempts");
}

TEST(members_of_a_have)
{
	static uint8_t most[SL_LEARNERS_MAX / 8 + 1];
	const char *reason = "set of members out of range";
	HAVE(m.held = BYTES(0), reason);
	HAVE((m.held.data = most, m.held.len = SL_LEARNERS_MAX / 8), NULL);
	HAVE((m.held.data = most, m.held.len = SL_LEARNERS_MAX / 8 + 1), reason);
}

TEST(clip_is_a_number)
{
	const char *reason = "clip is not a positive number";
	LINK_STATE(q.clipping_range = bits(0.5), NULL);
	LINK_STATE(q.clipping_range = 0, reason);
	LINK_STATE(q.clipping_range = bits(-0.0), reason);
	LINK_STATE(q.clipping_range = bits(-1), reason);
	LINK_STATE(q.clipping_range = bits(INFINITY), reason);
	LINK_STATE(q.clipping_range = bits(NAN), reason);
}

TEST(candidates_ascend)
{
	const char *order = "candidates not strictly ascending from 1";
	LINK_STATE(m.n_candidates = 0, NULL);
	LINK_STATE(candidates[0] = 0, order);
	LINK_STATE(candidates[1] = candidates[0], order);
	LINK_STATE(candidates[2] = 1, order);
	LINK_STATE(m.n_candidates = SL_LEARNERS_MAX, NULL);
	LINK_STATE(m.n_candidates = SL_LEARNERS_MAX + 1, "too many candidates");
}

TEST(iterations_of_ready)
{
	READY(m.k = 0, NULL);
	READY(m.k = SL_ITERATIONS_MAX, NULL);
	READY(m.k = SL_ITERATIONS_NONE, NULL);
	READY(m.k = SL_ITERATIONS_NONE + 1, "K out of range");
}

/* --- the form of control messages --- */

enum { PARAMETERS = 8 << 3 | 2, CANDIDATES = 10 << 3 | 2, SIGNATURE = 11 << 3 | 2 }; /* of a link state */

TEST(kinds_and_sizes)
{
	expect(0, NULL, 0, "not a message");
	expect(SL_MESSAGE_KINDS, NULL, 0, "not a message");
	expect(SL_FRAME_PING, NULL, 0, "not a message");
	begin();
	memset(w.bytes, 0, w.size);
	for (uint32_t kind = SL_MSG_HELLO; kind < SL_MESSAGE_KINDS; kind++)
		expect(kind, w.bytes, sl_frame_limit(kind) + 1, "payload too large");
	expect(SL_MSG_DIGEST, w.bytes, SL_CONTROL_BYTES_MAX, "not protobuf"); /* a tag of field 0 */
}

TEST(unknown_fields)
{
	Starling__Digest m = digest();
	begin();
	put_packed(&m);
	put_byte(13 << 3);
	put_byte(1);
	expect_written(SL_MSG_DIGEST, "unknown field");
	Starling__Request a = request();
	begin();
	put_packed(&a);
	put_byte(5 << 3);
	put_byte(1);
	expect_written(SL_MSG_REQUEST, "unknown field");
	Starling__Abort f = abort_record();
	begin();
	put_packed(&f);
	put_byte(9 << 3);
	put_byte(1);
	expect_written(SL_MSG_ABORT, "unknown field");
	Starling__Have h = have();
	begin();
	put_packed(&h);
	put_byte(5 << 3);
	put_byte(1);
	expect_written(SL_MSG_HAVE, "unknown field");
}

/* Inside the parameters, where only a look into the nested message finds it. */
TEST(unknown_parameters)
{
	Starling__Parameters q = parameters();
	Starling__LinkState rest = link_state(NULL);
	uint8_t nested[256];
	size_t size = starling__parameters__pack(&q, nested);
	nested[size++] = 15 << 3;
	nested[size++] = 1;
	begin();
	put_span(PARAMETERS, nested, size);
	put_packed(&rest);
	expect_written(SL_MSG_LINK_STATE, "unknown field");
}

TEST(not_the_canonical_form)
{
	const char *reason = "not the canonical form";
	Starling__Digest m = digest();
	begin(); /* a field twice */
	put_packed(&m);
	put_byte(1 << 3);
	put_byte(1);
	expect_written(SL_MSG_DIGEST, reason);
	begin(); /* an overlong varint */
	m.id = 0;
	put_byte(1 << 3);
	put_byte(0x81);
	put_byte(0);
	put_packed(&m);
	expect_written(SL_MSG_DIGEST, reason);
	begin(); /* 2^32 + 1 into 32 bits */
	put_byte(1 << 3);
	put_varint((UINT64_C(1) << 32) + 1);
	put_packed(&m);
	expect_written(SL_MSG_DIGEST, reason);
	begin(); /* 2^33 + 2^31, as long as the 2^31 that is left of it in 32 bits */
	put_byte(1 << 3);
	put_varint(UINT64_C(5) << 31);
	put_packed(&m);
	expect_written(SL_MSG_DIGEST, reason);
	begin(); /* the id last */
	put_packed(&m);
	put_byte(1 << 3);
	put_byte(1);
	expect_written(SL_MSG_DIGEST, reason);
}

/* Of all zeros or nearly: the shortest messages there are. */
TEST(asks_of_another_form)
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
		{"\x08\x01\x18\x01\x20\x01", 6, NULL}, /* a masked state's first chunk */
		{"\x08\x01\x18\x00", 4, "not the canonical form"},
		{"\x08\x01\x20\x00", 4, "not the canonical form"},
		{"\x08\x01\x20\x01\x18\x01", 6, "not the canonical form"},
		{"\x10\x81\x80\x80\x80\x10", 6, "not the canonical form"}, /* 2^32 + 1 into 32 bits */
		{"\x08", 1, "not protobuf"},
		{"\x0a\x01\x01", 3, "not protobuf"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		expect(SL_MSG_REQUEST, (const uint8_t *)cases[i].bytes, cases[i].size, cases[i].reason);
}

TEST(parameters_twice)
{
	Starling__Parameters q = parameters();
	Starling__LinkState m = link_state(&q);
	uint8_t nested[256];
	size_t size = starling__parameters__pack(&q, nested);
	begin();
	put_packed(&m);
	for (int i = 0; i < 200; i++) /* protobuf merges them; the copies come out of the budget */
		put_span(PARAMETERS, nested, size);
	struct sl_decoded decoded;
	const char *why;
	assert_int_equal(sl_codec_decode(SL_MSG_LINK_STATE, w.bytes, w.used, &decoded, &why), SL_ERR_FORMAT);
	assert_non_null(why);
}

/* --- attacks --- */

static const char budget[] = "needs more memory than its size allows";

/* 32,768 empty unknown fields: protobuf-c alone would take 2 MB for these 64 KiB. */
TEST(many_empty_fields)
{
	for (uint32_t kind = SL_MSG_HELLO; kind <= SL_MSG_HAVE; kind++) {
		begin();
		while (w.used < SL_CONTROL_BYTES_MAX) {
			put_byte(15 << 3 | 2);
			put_byte(0);
		}
		expect_written(kind, budget);
	}
}

/* 65,000 one-byte candidates fit the budget, four bytes each, and are counted. */
TEST(many_candidates)
{
	static uint8_t ones[65000];
	Starling__Parameters q = parameters();
	Starling__LinkState m = link_state(&q);
	m.n_candidates = 0;
	m.signature = BYTES(0); /* written by hand, after the candidates */
	memset(ones, 1, sizeof ones);
	begin();
	put_packed(&m);
	put_span(CANDIDATES, ones, sizeof ones);
	put_span(SIGNATURE, bytes, SL_SIG_BYTES);
	expect_written(SL_MSG_LINK_STATE, "too many candidates");
}

/* 65,000 one-byte attempts, likewise; written one by one they are another form of the same fence. */
TEST(many_released)
{
	enum { RELEASED = 5 << 3 | 2, ONE_RELEASED = 5 << 3, KEY = 6 << 3 | 2, ABORT_SIGNATURE = 8 << 3 | 2 };
	static uint8_t ones[65000];
	Starling__Abort m = abort_record();
	m.n_released = 0;
	m.key = m.signature = BYTES(0); /* written by hand, after the attempts */
	memset(ones, 1, sizeof ones);
	begin();
	put_packed(&m);
	put_span(RELEASED, ones, sizeof ones);
	put_span(KEY, bytes, SL_KEY_BYTES);
	put_span(ABORT_SIGNATURE, bytes, SL_SIG_BYTES);
	expect_written(SL_MSG_ABORT, "too many released attempts");
	begin();
	put_packed(&m);
	put_byte(ONE_RELEASED);
	put_byte(1);
	put_span(KEY, bytes, SL_KEY_BYTES);
	put_span(ABORT_SIGNATURE, bytes, SL_SIG_BYTES);
	expect_written(SL_MSG_ABORT, "not the canonical form");
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
			for (uint32_t kind = SL_MSG_HELLO; kind <= SL_MSG_HAVE; kind++)
				expect_written(kind, "not protobuf");
		}
}

/* Messages within messages, and groups within groups, as deep as 64 KiB allow. */
TEST(nesting)
{
	static uint8_t deep[SL_CONTROL_BYTES_MAX];
	size_t at = sizeof deep;
	while (at > 8) { /* from the inside out, each the parameters of the one around it */
		size_t inside = sizeof deep - at;
		begin();
		put_byte(PARAMETERS);
		put_varint(inside);
		at -= w.used;
		memcpy(deep + at, w.bytes, w.used);
	}
	expect(SL_MSG_LINK_STATE, deep + at, sizeof deep - at, "not protobuf"); /* max_weight is no message */
	memset(deep, 8 << 3 | 3, sizeof deep);
	for (uint32_t kind = SL_MSG_HELLO; kind <= SL_MSG_HAVE; kind++)
		expect(kind, deep, sizeof deep, "not protobuf");
}
