/* A payload that is accepted is encoded back to the same bytes; test_fields compares messages with literal
 * payloads. A payload that is cut short or damaged is refused, or is that of another message. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/codec.h"
#include "common/wire/frame.h"
#include "test/lib/test.h"
#include "test/wire/sample.h"

static struct sample sample;

/* --- verbs --- */

/* Return the sample as a frame, which the caller frees. */
static uint8_t *encode(size_t *size)
{
	*size = sl_codec_bytes(&sample.message);
	uint8_t *frame = malloc(*size);
	assert_non_null(frame);
	sl_codec_encode(&sample.message, frame, *size, NULL);
	return frame;
}

/* Decode a copy of exactly `size` bytes, so that a sanitizer sees a read beyond it. Return true if it was
 * accepted. A message has one encoding: it must then be encoded to the bytes that it came from. */
static bool decode(uint32_t kind, const uint8_t *payload, size_t size)
{
	struct sl_decoded decoded;
	const char *why;
	uint8_t *copy = malloc(size > 0 ? size : 1);
	assert_non_null(copy);
	if (size > 0)
		memcpy(copy, payload, size);
	int err = sl_codec_decode(kind, copy, size, &decoded, &why);
	if (err == SL_OK) {
		uint8_t *frame = malloc(SL_FRAME_HEADER_BYTES + size);
		assert_non_null(frame);
		assert_null(why);
		assert_int_equal(sl_codec_bytes(&decoded.message), SL_FRAME_HEADER_BYTES + size);
		sl_codec_encode(&decoded.message, frame, SL_FRAME_HEADER_BYTES + size, NULL);
		assert_true(size == 0 || memcmp(frame + SL_FRAME_HEADER_BYTES, payload, size) == 0);
		free(frame);
	} else {
		assert_int_equal(err, SL_ERR_FORMAT);
		assert_non_null(why);
		assert_null(decoded.memory);
	}
	sl_codec_close(&decoded);
	free(copy);
	return err == SL_OK;
}

static void expect_back(void)
{
	size_t size;
	uint8_t *frame = encode(&size);
	uint8_t header[SL_FRAME_HEADER_BYTES];
	sl_frame_header(header, sample.message.kind, size - sizeof header);
	assert_memory_equal(frame, header, sizeof header);
	assert_true(decode(sample.message.kind, frame + sizeof header, size - sizeof header));
	free(frame);
}

static int prepare(void **state)
{
	(void)state;
	sample_seed();
	return 0;
}
TEST_SETUP(prepare, NULL)

/* --- tests --- */

TEST(round_trip)
{
	SAMPLE_EACH_KIND(kind)
	for (int i = 0; i < 3000; i++) {
		sample_make(&sample, (enum sl_message_kind)kind);
		expect_back();
	}
}

/* The largest link state, and the room that limits.h leaves for its other fields. */
TEST(largest_link_state)
{
	sample_make(&sample, SL_MSG_LINK_STATE);
	struct sl_link_state *ls = &sample.message.link_state;
	ls->id = ls->incarnation = UINT32_MAX;
	ls->t = SL_ROUNDS_MAX + 1;
	ls->a = SL_ATTEMPTS_MAX;
	ls->roster_size = SL_LEARNERS_MAX;
	ls->n = SL_PARAMETERS_MAX;
	ls->model = ls->initial = UINT64_MAX;
	ls->values = 2;
	ls->failed = 1;
	ls->hop_bytes = SL_HOP_BYTES_MAX;
	ls->count = SL_LEARNERS_MAX;
	for (uint32_t i = 0; i < SL_LEARNERS_MAX; i++)
		sample.candidates[i] = UINT32_MAX - SL_LEARNERS_MAX + 1 + i;
	assert_in_range(sl_codec_bytes(&sample.message), SL_LEARNERS_MAX * 5,
			SL_FRAME_HEADER_BYTES + SL_LEARNERS_MAX * 5 + 1024);
	expect_back();
}

/* The largest Round and the largest Checksum fit a frame. */
TEST(largest_round)
{
	static uint32_t members[2 * SL_LEARNERS_MAX];
	sample_make(&sample, SL_MSG_ROUND);
	struct sl_round_head *round = &sample.message.round_head;
	round->t = SL_ROUNDS_MAX + 1;
	round->a = SL_ATTEMPTS_MAX;
	round->p = (UINT64_C(1) << 61) - 1;
	round->count = 2 * SL_LEARNERS_MAX;
	round->members = members;
	for (uint32_t i = 0; i < SL_LEARNERS_MAX; i++) {
		members[2 * i] = UINT32_MAX - SL_LEARNERS_MAX + 1 + i;
		members[2 * i + 1] = UINT32_MAX;
	}
	assert_in_range(sl_codec_bytes(&sample.message), SL_LEARNERS_MAX * 10,
			SL_FRAME_HEADER_BYTES + SL_CONTROL_BYTES_MAX);
	expect_back();
	sample_make(&sample, SL_MSG_CHECKSUM);
	sample.message.checksums.size = SL_CHECKSUM_BYTES_MAX;
	assert_true(sl_codec_bytes(&sample.message) <= SL_FRAME_HEADER_BYTES + SL_CONTROL_BYTES_MAX);
	expect_back();
}

/* Fields of zero take no bytes: the header is the whole frame. */
TEST(asking_for_the_last_result)
{
	sample.message = (struct sl_message){.kind = SL_MSG_REQUEST};
	assert_int_equal(sl_codec_bytes(&sample.message), SL_FRAME_HEADER_BYTES);
	expect_back();
}

/* With every number at its largest, a frame holds it. */
TEST(largest_chunk)
{
	for (uint32_t kind = SL_MSG_SHARE; kind <= SL_MSG_DEPOSIT; kind++)
		for (uint32_t index = 0; index < SL_ELEMENTS_MAX / SL_CHUNK_ELEMENTS; index += 8191) {
			sample_make(&sample, (enum sl_message_kind)kind);
			struct sl_chunk *chunk = &sample.message.chunk;
			chunk->t = SL_ROUNDS_MAX + 1;
			chunk->a = SL_ATTEMPTS_MAX;
			chunk->index = index;
			chunk->origin = kind == SL_MSG_DEPOSIT ? UINT32_MAX : 0;
			chunk->iteration = kind == SL_MSG_STATE ? SL_ITERATIONS_MAX - 1 : 0;
			chunk->size = SL_CHUNK_BYTES_MAX;
			for (size_t i = 0; i < SL_CHUNK_BYTES_MAX; i++)
				sample.piece[i] = (uint8_t)sample_random();
			assert_true(sl_codec_bytes(&sample.message) <=
				    SL_FRAME_HEADER_BYTES + sl_frame_limit(kind));
			expect_back();
		}
}

/* The caller fills in the elements afterwards; the decoder leaves them in place. */
TEST(piece_is_not_copied)
{
	sample_make(&sample, SL_MSG_SHARE);
	struct sl_message message = sample.message;
	message.chunk.bytes = NULL;
	size_t want, size = sl_codec_bytes(&message);
	uint8_t *piece = NULL, *whole = encode(&want), *frame = malloc(size);
	assert_non_null(frame);
	assert_int_equal(size, want);
	sl_codec_encode(&message, frame, size, &piece);
	assert_ptr_equal(piece, frame + size - message.chunk.size);
	memcpy(piece, sample.piece, message.chunk.size);
	assert_memory_equal(frame, whole, size);

	struct sl_decoded decoded;
	const char *why;
	const uint8_t *payload = frame + SL_FRAME_HEADER_BYTES;
	size -= SL_FRAME_HEADER_BYTES;
	assert_int_equal(sl_codec_decode(SL_MSG_SHARE, payload, size, &decoded, &why), SL_OK);
	assert_ptr_equal(decoded.message.chunk.bytes, piece);
	assert_null(decoded.memory);
	sl_codec_close(&decoded);
	free(frame);
	free(whole);
}

/* A Request that lost its last number is another valid Request; the frame knows where it ends. */
TEST(cut_short_anywhere)
{
	SAMPLE_EACH_KIND(kind)
	for (int i = 0; i < 30; i++) {
		size_t size;
		sample_make(&sample, (enum sl_message_kind)kind);
		uint8_t *frame = encode(&size);
		for (size_t n = 0; n < size - SL_FRAME_HEADER_BYTES; n++)
			assert_true(!decode(kind, frame + SL_FRAME_HEADER_BYTES, n) ||
				    kind == SL_MSG_REQUEST); /* without its last number: a Request for
								0 */
		free(frame);
	}
}

/* Any flipped bit gives a refusal or another message. */
TEST(any_bit_flipped)
{
	SAMPLE_EACH_KIND(kind)
	for (int i = 0; i < 30; i++) {
		size_t size, taken = 0;
		sample_make(&sample, (enum sl_message_kind)kind);
		uint8_t *frame = encode(&size), *payload = frame + SL_FRAME_HEADER_BYTES;
		size -= SL_FRAME_HEADER_BYTES;
		for (size_t bit = 0; bit < 8 * size; bit++) {
			payload[bit / 8] = (uint8_t)(payload[bit / 8] ^ 1u << bit % 8);
			taken += decode(kind, payload, size);
			payload[bit / 8] = (uint8_t)(payload[bit / 8] ^ 1u << bit % 8);
		}
		if (kind != SL_MSG_REQUEST)
			assert_in_range(taken, 8, 8 * size - 8); /* hashes may differ, lengths may not */
		else if (size > 0)
			assert_in_range(taken, 1, 8 * size - 8); /* numbers may, tags may not */
		free(frame);
	}
}

TEST(damage)
{
	for (int i = 0; i < 20000; i++) {
		uint32_t kind = (uint32_t)sample_range(SL_MSG_HELLO, SL_MSG_KEY_SHARE);
		size_t size;
		if (sl_message_type(kind) == NULL)
			continue;
		sample_make(&sample, (enum sl_message_kind)kind);
		uint8_t *frame = encode(&size), *payload = frame + SL_FRAME_HEADER_BYTES;
		for (uint64_t n = size == SL_FRAME_HEADER_BYTES ? 0 : sample_range(1, 3); n > 0; n--)
			payload[sample_range(0, size - SL_FRAME_HEADER_BYTES - 1)] = (uint8_t)sample_random();
		decode(kind, payload, size - SL_FRAME_HEADER_BYTES);
		free(frame);
	}
}

TEST(noise_is_no_message)
{
	uint8_t bytes[200];
	for (int i = 0; i < 50000; i++) {
		size_t size = (size_t)sample_range(0, sizeof bytes);
		for (size_t j = 0; j < size; j++)
			bytes[j] = (uint8_t)(sample_random() >> (sample_random() % 8));
		decode((uint32_t)sample_range(0, SL_MESSAGE_KINDS), bytes, size);
	}
}
