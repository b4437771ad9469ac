/* The deframer: every way of cutting a stream gives the same frames, and every bad header is refused at its
 * 8th byte. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/frame.h"
#include "test/lib/test.h"
#include "test/wire/stream.h"

/* --- what the deframer asks of the system --- */

static size_t asked, wiped; /* bytes, since the test began */
static bool starve;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void __wrap_explicit_bzero(void *bytes, size_t size);
void __wrap___explicit_bzero_chk(void *bytes, size_t size, size_t known);

void *__wrap_malloc(size_t size)
{
	asked += size;
	return starve ? NULL : __real_malloc(size);
}

void __wrap_explicit_bzero(void *bytes, size_t size)
{
	memset(bytes, 0, size);
	wiped += size;
}

void __wrap___explicit_bzero_chk(void *bytes, size_t size, size_t known)
{
	(void)known;
	__wrap_explicit_bzero(bytes, size);
}

static int setup(void **state)
{
	(void)state;
	asked = wiped = 0;
	starve = false;
	return 0;
}

/* --- verbs --- */

static const uint32_t kinds[] = {
#define X(kind, ...) SL_MSG_##kind,
	SL_CONTROL_MESSAGES(X) SL_VECTOR_MESSAGES(X)
#undef X
		SL_FRAME_PING};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* One take of all the bytes; the deframer is closed afterwards. */
static int take_once(const uint8_t *bytes, size_t count, size_t *left)
{
	struct sl_deframer s = {0};
	int err = stream_take(&s, &bytes, &count);
	*left = count;
	sl_deframer_close(&s);
	return err;
}

static void expect_refused(const uint8_t header[static SL_FRAME_HEADER_BYTES])
{
	uint8_t stream[SL_FRAME_HEADER_BYTES + 1] = {0}; /* a byte more, which is not touched */
	size_t left;
	memcpy(stream, header, SL_FRAME_HEADER_BYTES);
	asked = 0;
	assert_int_equal(take_once(stream, sizeof stream, &left), SL_ERR_FORMAT);
	assert_int_equal(left, 1);
	assert_int_equal(asked, 0);
	assert_int_equal(take_once(stream, SL_FRAME_HEADER_BYTES - 1, &left), SL_PENDING);
}

/* A header that says `size`, whether allowed or not. */
static void announce(uint8_t header[static SL_FRAME_HEADER_BYTES], uint32_t kind, uint64_t size)
{
	sl_frame_header(header, kind, 0);
	for (unsigned i = 0; i < 4; i++)
		header[4 + i] = (uint8_t)(size >> (8 * i));
}

/* --- tests --- */

TEST_WITH(header_is_the_picture, setup, NULL)
{
	uint8_t header[SL_FRAME_HEADER_BYTES];
	static const uint8_t want[] = {'S', SL_FRAME_VERSION, 17, 0, 0x21, 0x03, 0x02, 0x00};
	sl_frame_header(header, SL_MSG_STATE, 0x20321);
	assert_memory_equal(header, want, sizeof want);
}

TEST_WITH(limits_are_the_kinds, setup, NULL)
{
	for (uint32_t kind = 0; kind < 70000; kind++) {
		bool control = kind >= 1 && kind <= 13, vector = kind >= 16 && kind <= 20;
		bool later = kind >= 32 && kind <= 63;
		size_t want = control || later ? SL_CONTROL_BYTES_MAX : vector ? SL_VECTOR_BYTES_MAX : 0;
		assert_int_equal(sl_frame_limit(kind), want);
		assert_int_equal(sl_frame_known(kind),
				 control || vector || (kind >= 32 && kind <= 36) || kind == SL_FRAME_PING);
	}
}

TEST_WITH(bad_magic_version_and_kind, setup, NULL)
{
	uint8_t header[SL_FRAME_HEADER_BYTES];
	for (unsigned byte = 0; byte < 2; byte++)
		for (unsigned flip = 1; flip < 256; flip++) {
			sl_frame_header(header, SL_MSG_HELLO, 5);
			header[byte] = (uint8_t)(header[byte] ^ flip);
			expect_refused(header);
		}
	for (uint32_t kind = 0; kind <= UINT16_MAX; kind++) {
		if (sl_frame_known(kind) || (kind >= 32 && kind <= 63))
			continue;
		sl_frame_header(header, SL_FRAME_PING, 0);
		header[2] = (uint8_t)kind;
		header[3] = (uint8_t)(kind >> 8);
		expect_refused(header);
	}
}

TEST_WITH(version_of_the_peer, setup, NULL)
{
	static const struct {
		uint8_t magic, version;
		int want;
	} rows[] = {{'S', SL_FRAME_VERSION - 1, -1},
		    {'S', 0, -1},
		    {'S', SL_FRAME_VERSION + 1, 1},
		    {'S', 255, 1},
		    {'T', SL_FRAME_VERSION + 1, 0}};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct sl_deframer s = {0};
		uint8_t header[SL_FRAME_HEADER_BYTES];
		const uint8_t *bytes = header;
		size_t count = sizeof header;
		sl_frame_header(header, SL_FRAME_PING, 0);
		header[0] = rows[i].magic;
		header[1] = rows[i].version;
		assert_int_equal(stream_take(&s, &bytes, &count), SL_ERR_FORMAT);
		assert_int_equal(sl_deframer_version(&s), rows[i].want);
		sl_deframer_close(&s);
	}
}

/* A later version may add control messages: they are read, and the frame after them, too. */
TEST_WITH(kinds_of_later_versions, setup, NULL)
{
	for (uint32_t kind = 36; kind <= 63; kind++) {
		uint8_t stream[SL_FRAME_HEADER_BYTES + 3 + SL_FRAME_HEADER_BYTES] = {0};
		const uint8_t *bytes = stream;
		size_t count = sizeof stream;
		struct sl_deframer s = {0};
		sl_frame_header(stream, SL_MSG_HELLO, 3);
		stream[2] = (uint8_t)kind;
		sl_frame_header(stream + SL_FRAME_HEADER_BYTES + 3, SL_FRAME_PING, 0);
		assert_int_equal(stream_take(&s, &bytes, &count), SL_OK);
		assert_int_equal(s.kind, kind);
		sl_deframer_next(&s);
		assert_int_equal(stream_take(&s, &bytes, &count), SL_OK);
		assert_int_equal(s.kind, SL_FRAME_PING);
		sl_deframer_close(&s);
	}
}

TEST_WITH(length_above_the_limit, setup, NULL)
{
	uint8_t header[SL_FRAME_HEADER_BYTES];
	for (size_t i = 0; i < KINDS; i++) {
		size_t limit = sl_frame_limit(kinds[i]);
		const uint64_t sizes[] = {limit + 1, limit + 256, UINT64_C(1) << 24, UINT32_MAX};
		for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++) {
			announce(header, kinds[i], sizes[j]);
			expect_refused(header);
		}
	}
}

TEST_WITH(length_at_the_limit, setup, NULL)
{
	for (size_t i = 0; i < KINDS; i++) {
		size_t limit = sl_frame_limit(kinds[i]), left;
		uint8_t *stream = calloc(1, SL_FRAME_HEADER_BYTES + limit);
		assert_non_null(stream);
		sl_frame_header(stream, kinds[i], limit);
		asked = wiped = 0;
		assert_int_equal(take_once(stream, SL_FRAME_HEADER_BYTES + limit, &left), SL_OK);
		assert_int_equal(left, 0);
		assert_int_equal(asked, limit);
		assert_int_equal(wiped, limit);
		free(stream);
	}
}

TEST_WITH(no_memory, setup, NULL)
{
	uint8_t stream[SL_FRAME_HEADER_BYTES + 3] = {0};
	size_t left;
	sl_frame_header(stream, SL_MSG_READY, 3);
	starve = true;
	assert_int_equal(take_once(stream, sizeof stream, &left), SL_ERR_NOMEM);
	assert_int_equal(wiped, 0);
}

/* A frame given up in the middle is wiped too: it may hold half a share. */
TEST_WITH(wiped_when_cut_off, setup, NULL)
{
	uint8_t stream[SL_FRAME_HEADER_BYTES + 3] = {0};
	size_t left;
	sl_frame_header(stream, SL_MSG_SHARE, 100);
	assert_int_equal(take_once(stream, sizeof stream, &left), SL_PENDING);
	assert_int_equal(wiped, 100);
}

/* ping, a Hello of 2 bytes: 18 bytes, 2^17 ways to cut them. */
#define STREAM_BYTES (2 * SL_FRAME_HEADER_BYTES + 2)

struct seen {
	size_t frames;
	size_t total; /* bytes of the frames so far */
};

static void expect_frame(struct sl_deframer *s, struct seen *seen)
{
	if (seen->frames == 0) {
		assert_int_equal(s->kind, SL_FRAME_PING);
		assert_int_equal(s->size, 0);
		assert_null(s->payload);
	} else {
		assert_int_equal(s->kind, SL_MSG_HELLO);
		assert_int_equal(s->size, 2);
		assert_memory_equal(s->payload, "xy", 2);
	}
	seen->frames++;
	seen->total += SL_FRAME_HEADER_BYTES + s->size;
	sl_deframer_next(s);
	assert_true(sl_deframer_between(s));
}

/* Gives one fragment, which may hold the end of one frame and the start of the next. */
static void feed(struct sl_deframer *s, const uint8_t *bytes, size_t count, struct seen *seen)
{
	int err;
	while ((err = stream_take(s, &bytes, &count)) == SL_OK)
		expect_frame(s, seen);
	assert_int_equal(err, SL_PENDING);
	assert_int_equal(count, 0);
}

TEST_WITH(every_fragmentation, setup, NULL)
{
	uint8_t stream[STREAM_BYTES];
	sl_frame_header(stream, SL_FRAME_PING, 0);
	sl_frame_header(stream + SL_FRAME_HEADER_BYTES, SL_MSG_HELLO, 2);
	memcpy(stream + 2 * SL_FRAME_HEADER_BYTES, "xy", 2);
	for (uint32_t cuts = 0; cuts < UINT32_C(1) << (STREAM_BYTES - 1); cuts++) {
		struct sl_deframer s = {0};
		struct seen seen = {0};
		size_t from = 0;
		for (size_t to = 1; to <= STREAM_BYTES; to++) {
			if (to < STREAM_BYTES && (cuts >> (to - 1) & 1) == 0)
				continue;
			feed(&s, stream + from, to - from, &seen);
			assert_int_equal(sl_deframer_between(&s), to == seen.total);
			from = to;
		}
		assert_int_equal(seen.frames, 2);
		sl_deframer_close(&s);
	}
}
