#include "common/wire/codec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/check.h"
#include "common/wire/codec_fields.h"
#include "common/wire/frame.h"

/* ---- chunks: protobuf-c packs the other fields, the elements follow as the last field ---- */

#define HEAD_BYTES_MAX 128u  /* fields of a chunk before its elements: 69 at most */
#define PREFIX_BYTES_MAX 11u /* tag and length of the elements */
#define VARINT 0u	     /* protobuf's wire types */
#define LENGTH_DELIMITED 2u
#define WIRE_TYPE(tag) ((tag)&7)

/* Write the tag and the length of `size` bytes of elements to `prefix`. Return how many bytes they take. */
static size_t put_prefix(uint8_t prefix[static PREFIX_BYTES_MAX], size_t size)
{
	const struct sl_message_type *type = sl_message_type(SL_MSG_SHARE);
	size_t used = 0;
	prefix[used++] = (uint8_t)(type->fields[type->count - 1].number << 3 | LENGTH_DELIMITED);
	for (; size >= 0x80; size >>= 7)
		prefix[used++] = (uint8_t)(size | 0x80);
	prefix[used++] = (uint8_t)size;
	return used;
}

struct reader {
	const uint8_t *at;
	size_t left;
};

/* Read a varint. Return false if it is cut short or longer than ten bytes. */
static bool take_varint(struct reader *r, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && r->left > 0; shift += 7) {
		uint8_t byte = *r->at++;
		r->left--;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

/* Find the elements of a chunk: they begin behind `*head` bytes and a prefix, and are the rest of the
 * payload. */
static const char *split(const uint8_t *payload, size_t size, size_t *head, struct sl_chunk *chunk)
{
	struct reader r = {.at = payload, .left = size};
	uint8_t prefix[PREFIX_BYTES_MAX];
	uint64_t tag, value;
	put_prefix(prefix, 0);
	while (r.left > 0) {
		*head = size - r.left;
		if (*head > HEAD_BYTES_MAX || !take_varint(&r, &tag) || !take_varint(&r, &value))
			return "not protobuf";
		if (tag == prefix[0]) {
			chunk->bytes = r.at;
			chunk->size = r.left;
			return value == r.left && put_prefix(prefix, r.left) + r.left == size - *head
				       ? NULL
				       : "the elements are not the rest of the payload";
		}
		if (WIRE_TYPE(tag) == LENGTH_DELIMITED && value <= r.left) {
			r.at += value;
			r.left -= (size_t)value;
		} else if (WIRE_TYPE(tag) != VARINT) {
			return "not protobuf";
		}
	}
	*head = size;
	return *head > HEAD_BYTES_MAX ? "not protobuf" : NULL;
}

static const char *read_chunk(const uint8_t *payload, size_t size, struct sl_message *message)
{
	_Alignas(max_align_t) uint8_t memory[SL_CODEC_FIELDS_MEMORY(HEAD_BYTES_MAX)];
	struct sl_chunk elements = {.size = 0};
	size_t head = 0;
	const char *why = split(payload, size, &head, &elements);
	if (why == NULL)
		why = sl_codec_fields_read(payload, head, message, memory);
	message->chunk.bytes = elements.bytes;
	message->chunk.size = elements.size;
	return why;
}

/* ---- all messages ---- */

size_t sl_codec_bytes(const struct sl_message *message)
{
	uint8_t prefix[PREFIX_BYTES_MAX];
	assert(sl_check_message(message) == NULL); /* a peer would refuse it */
	size_t payload = sl_codec_fields_bytes(message);
	if (sl_message_type(message->kind)->vector)
		payload += put_prefix(prefix, message->chunk.size) + message->chunk.size;
	assert(payload <= sl_frame_limit(message->kind));
	return SL_FRAME_HEADER_BYTES + payload;
}

void sl_codec_encode(const struct sl_message *message, uint8_t *frame, size_t size, uint8_t **piece)
{
	assert(size >= SL_FRAME_HEADER_BYTES); /* the payload of a Request for the last result is empty */
	const struct sl_chunk *chunk = &message->chunk;
	uint8_t prefix[PREFIX_BYTES_MAX], *payload = frame + SL_FRAME_HEADER_BYTES;
	size_t bytes = size - SL_FRAME_HEADER_BYTES;
	sl_frame_header(frame, message->kind, bytes);
	if (!sl_message_type(message->kind)->vector) {
		sl_codec_fields_write(message, payload, bytes);
		return;
	}
	assert(chunk->bytes != NULL || piece != NULL);
	size_t length = put_prefix(prefix, chunk->size), head = bytes - chunk->size - length;
	sl_codec_fields_write(message, payload, head);
	memcpy(payload + head, prefix, length);
	if (chunk->bytes != NULL)
		memcpy(payload + head + length, chunk->bytes, chunk->size);
	if (piece != NULL)
		*piece = payload + head + length;
}

static int read_payload(const uint8_t *payload, size_t size, struct sl_decoded *decoded, const char **why)
{
	struct sl_message *message = &decoded->message;
	if (sl_message_type(message->kind)->vector) {
		*why = read_chunk(payload, size, message);
	} else {
		decoded->memory = malloc(SL_CODEC_FIELDS_MEMORY(size));
		if (decoded->memory == NULL) {
			*why = "out of memory";
			return SL_ERR_NOMEM;
		}
		*why = sl_codec_fields_read(payload, size, message, decoded->memory);
	}
	return *why == NULL ? SL_OK : SL_ERR_FORMAT;
}

static int refuse(struct sl_decoded *decoded, int err)
{
	sl_codec_close(decoded);
	return err;
}

int sl_codec_decode(uint32_t kind, const uint8_t *payload, size_t size, struct sl_decoded *decoded,
		    const char **why)
{
	*decoded = (struct sl_decoded){0};
	*why = NULL;
	if (sl_message_type(kind) == NULL) {
		*why = "not a message";
		return SL_ERR_FORMAT;
	}
	if (size > sl_frame_limit(kind)) {
		*why = "payload too large";
		return SL_ERR_FORMAT;
	}
	decoded->message.kind = (enum sl_message_kind)kind;
	int err = read_payload(payload, size, decoded, why);
	if (err != SL_OK)
		return refuse(decoded, err);
	*why = sl_check_message(&decoded->message);
	return *why == NULL ? SL_OK : refuse(decoded, SL_ERR_FORMAT);
}

void sl_codec_close(struct sl_decoded *decoded)
{
	free(decoded->memory);
	*decoded = (struct sl_decoded){0};
}
