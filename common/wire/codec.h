/* codec.h - convert message structs to protobuf payloads and back, with every field checked.
 *
 * Decoding accepts a message only if it keeps every range and rule of check.h and is in its canonical form.
 * Memory use is bounded by a small multiple of the payload, whatever the bytes are. LINKS.md §6.15
 * Handling of bad input.
 */
#pragma once

#include "common/base/err.h"
#include "common/protocol/message.h"

/* Return the number of bytes of the frame of `message`: header and payload. */
size_t sl_codec_bytes(const struct sl_message *message);
/* Write header and payload to `frame`; `size` is what sl_codec_bytes returned. If message->chunk.bytes of a
 * chunk is NULL, the caller fills in the elements afterwards, at *piece (chunk.size bytes inside `frame`).
 * Otherwise `piece` may be NULL. */
void sl_codec_encode(const struct sl_message *message, uint8_t *frame, size_t size, uint8_t **piece);

/* A decoded message. Its pointers are valid until sl_codec_close. */
struct sl_decoded {
	struct sl_message message;
	void *memory; /* owned; the pointers point into it, except chunk.bytes, which points into the payload
		       */
};
/* Decode `payload` of a frame of `kind`. Return SL_ERR_FORMAT for an invalid one, with a reason (a constant
 * string) in *why. */
int sl_codec_decode(uint32_t kind, const uint8_t *payload, size_t size, struct sl_decoded *decoded,
		    const char **why);
void sl_codec_close(struct sl_decoded *decoded);
