/* codec_parts.h - the parts of the codec, for codec.c alone.
 *
 * Control messages go through protobuf-c, which allocates; vector chunks are written and read by hand, so
 * that a piece of 256 KiB is neither copied nor allocated. Both accept exactly what protobuf libraries write
 * for these .proto files and nothing else: no unknown field, no field twice or out of order, no overlong
 * varint, no default spelled out. So each message has one encoding, and what we do not understand is never
 * passed over in silence.
 *
 * Readers answer NULL in why, or why not; what they read is still to be checked by sl_check_message.
 */
#pragma once

#include "common/wire/codec.h"

size_t sl_codec_control_bytes(const struct sl_message *message);
void sl_codec_control_write(const struct sl_message *message, uint8_t *payload, size_t size);
/* message->kind is set. *memory: what the caller frees in any case, at most 8 * size + 4 KiB. */
int sl_codec_control_read(const uint8_t *payload, size_t size, struct sl_message *message, void **memory,
			  const char **why);

size_t sl_codec_chunk_bytes(const struct sl_chunk *chunk);
/* Returns where the piece belongs: the last chunk->size bytes. */
uint8_t *sl_codec_chunk_write(const struct sl_chunk *chunk, uint8_t *payload, size_t size);
/* chunk->bytes points into the payload. */
const char *sl_codec_chunk_read(const uint8_t *payload, size_t size, struct sl_chunk *chunk);
