/* codec_parts.h - the two halves of the codec, for codec.c alone.
 *
 * Control messages go through protobuf-c, which allocates. Chunks are written and read by hand, so that 256
 * KiB of elements are neither copied nor allocated. Both walk the field lists of message.h, and both accept
 * exactly what protobuf libraries write for proto/messages.proto: no unknown field, no field twice or out of
 * order, no overlong varint, no default value spelled out. So each message has one encoding, and no field is
 * ignored.
 *
 * The readers set `why` to NULL or to the reason of a refusal. sl_check_message still has to check the
 * ranges.
 */
#pragma once

#include "common/wire/codec.h"

size_t sl_codec_control_bytes(const struct sl_message *message);
/* Write the payload of `message`; `size` is what sl_codec_control_bytes returned. */
void sl_codec_control_write(const struct sl_message *message, uint8_t *payload, size_t size);
/* Read `payload` into `message`, whose kind is set. The caller frees *memory (at most 8 * size + 4 KiB) in
 * any case. */
int sl_codec_control_read(const uint8_t *payload, size_t size, struct sl_message *message, void **memory,
			  const char **why);

size_t sl_codec_chunk_bytes(const struct sl_chunk *chunk);
/* Write the payload of `chunk` without its elements. Return the place of the elements, the last chunk->size
 * bytes. */
uint8_t *sl_codec_chunk_write(const struct sl_chunk *chunk, uint8_t *payload, size_t size);
/* Read `payload` into `chunk`, whose `bytes` then point into the payload. Return NULL or the reason of a
 * refusal. */
const char *sl_codec_chunk_read(const uint8_t *payload, size_t size, struct sl_chunk *chunk);
