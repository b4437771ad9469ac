/* codec_fields.h - the fields of a message as protobuf-c packs them, for codec.c alone.
 *
 * The list of fields in message.h is walked over both structs, ours and protobuf-c's. The elements of a
 * chunk, the last field of its list, are left out: codec.c copies them neither into nor out of protobuf-c's
 * struct.
 *
 * The reader accepts exactly what protobuf libraries write for proto/messages.proto: no unknown field, no
 * field twice or out of order, no overlong varint, no default value spelled out. So each message has one
 * encoding, and no field is ignored.
 */
#pragma once

#include "common/protocol/message.h"

size_t sl_codec_fields_bytes(const struct sl_message *message);
/* Write the fields of `message`; `size` is what sl_codec_fields_bytes returned. */
void sl_codec_fields_write(const struct sl_message *message, uint8_t *payload, size_t size);

/* The bytes of memory for reading a payload of `size` bytes. Honest messages need about 4 times their
 * size (a packed id of one byte becomes four) and a few structs. Thousands of empty unknown fields would need
 * 30 times their size and are refused. */
#define SL_CODEC_FIELDS_MEMORY(size) (8u * (size) + 4096u)
/* Read `payload` into `message`, whose kind is set; lists and spans point into `memory`. Return NULL or the
 * reason of a refusal. sl_check_message still has to check the ranges. */
const char *sl_codec_fields_read(const uint8_t *payload, size_t size, struct sl_message *message,
				 void *memory);
