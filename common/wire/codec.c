#include "common/wire/codec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/check.h"
#include "common/wire/codec_parts.h"
#include "common/wire/frame.h"

static bool vector_kind(uint32_t kind)
{
	return kind >= SL_MSG_SHARE && kind <= SL_MSG_MASKED;
}

size_t sl_codec_bytes(const struct sl_message *message)
{
	assert(sl_check_message(message) == NULL); /* ours: a peer would refuse it */
	size_t payload = vector_kind(message->kind) ? sl_codec_chunk_bytes(&message->chunk)
						    : sl_codec_control_bytes(message);
	assert(payload <= sl_frame_limit(message->kind));
	return SL_FRAME_HEADER_BYTES + payload;
}

void sl_codec_encode(const struct sl_message *message, uint8_t *frame, size_t size, uint8_t **piece)
{
	assert(size >= SL_FRAME_HEADER_BYTES); /* an Ask for the last result is no bytes at all */
	uint8_t *payload = frame + SL_FRAME_HEADER_BYTES;
	size_t bytes = size - SL_FRAME_HEADER_BYTES;
	sl_frame_header(frame, message->kind, bytes);
	if (!vector_kind(message->kind)) {
		sl_codec_control_write(message, payload, bytes);
		return;
	}
	const struct sl_chunk *chunk = &message->chunk;
	assert(chunk->bytes != NULL || piece != NULL);
	uint8_t *place = sl_codec_chunk_write(chunk, payload, bytes);
	if (chunk->bytes != NULL)
		memcpy(place, chunk->bytes, chunk->size);
	if (piece != NULL)
		*piece = place;
}

static int read_payload(const uint8_t *payload, size_t size, struct sl_decoded *decoded, const char **why)
{
	struct sl_message *message = &decoded->message;
	if (!vector_kind(message->kind))
		return sl_codec_control_read(payload, size, message, &decoded->memory, why);
	*why = sl_codec_chunk_read(payload, size, &message->chunk);
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
	if (sl_frame_limit(kind) == 0) {
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
