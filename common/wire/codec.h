/* codec.h - message structs <-> protobuf payloads, every field checked.
 *
 * Decoding validates everything a struct promises: lengths of hashes, ids >= 1, t >= 1 (an Ask's may be 0), a
 * >= 1, enum ranges, strictly ascending candidates, counts under limits.h, chunk sizes; unknown enum values
 * and missing fields are refused. Memory use is bounded by a small multiple of the payload (a budget
 * allocator), whatever the bytes are.
 */
#pragma once

#include "common/base/err.h"
#include "common/protocol/message.h"

/* Bytes of frame header plus payload that `message` needs. */
size_t sl_codec_bytes(const struct sl_message *message);
/* Writes header and payload; `size` is what sl_codec_bytes gave. For a chunk, message->chunk.bytes may be
 * NULL: then the space for the piece is left to the caller, who fills `*piece` (chunk.size bytes inside
 * `frame`) afterwards. piece may be NULL otherwise. */
void sl_codec_encode(const struct sl_message *message, uint8_t *frame, size_t size, uint8_t **piece);

/* A decoded message: its pointers stay valid until sl_codec_close. */
struct sl_decoded {
	struct sl_message message;
	void *memory; /* owned: what the pointers point into, except chunk bytes, */
		      /* which point into the payload itself */
};
/* SL_ERR_FORMAT with a one-line reason in *why (a constant string) for anything not valid. */
int sl_codec_decode(uint32_t kind, const uint8_t *payload, size_t size, struct sl_decoded *decoded,
		    const char **why);
void sl_codec_close(struct sl_decoded *decoded);
