/* canonical.h - the bytes that are hashed or signed: fixed little-endian layouts, defined here alone.
 *
 * Every layout starts with its domain string, the run id and the roster hash; protobuf output is never
 * hashed. Signatures are Ed25519 over these 32-byte hashes (BLAKE2b-256); the shell makes and checks them.
 * PROTOCOL.md §6.14 What is hashed and signed.
 */
#pragma once

#include "common/graph/graph.h"
#include "common/protocol/message.h"

struct sl_scope {
	uint8_t run[SL_RUN_BYTES];
	uint8_t roster[SL_HASH_BYTES];
};

/* Write to `hash` what the signature of `message` covers: its fields in the order of its list, with the
 * message's own roster hash in the place of the scope's if it has one. Return false if messages of its kind
 * are not signed. */
bool sl_canonical_message(const struct sl_scope *scope, const struct sl_message *message,
			  uint8_t hash[static SL_HASH_BYTES]);

/* Write H(s_i(0) || nonce) to `hash`, where `state` is s_i(0) packed at the width of p (PROTOCOL.md §5.4
 * Masked states). */
void sl_canonical_commitment(const struct sl_scope *scope, const uint8_t *state, size_t bytes,
			     const uint8_t nonce[static SL_NONCE_BYTES], uint8_t hash[static SL_HASH_BYTES]);
/* Write D = BLAKE2b(h || Z) to `hash`, where `view` is h and the `count` elements `z` are packed at `width`
 * bytes, the width of p (PROTOCOL.md §7.14 Confirm). */
void sl_canonical_result(const struct sl_scope *scope, const uint8_t view[static SL_HASH_BYTES],
			 const uint64_t *z, size_t count, uint32_t width, uint8_t hash[static SL_HASH_BYTES]);
/* Write h to `hash`, over the view's bytes (view_codec.h). */
void sl_canonical_view(const struct sl_scope *scope, const uint8_t *bytes, size_t size,
		       uint8_t hash[static SL_HASH_BYTES]);
