/* canonical.h - everything that is hashed or signed, as fixed little-endian layouts: the one place that
 * defines them.
 *
 * Every layout opens with its domain string, the run id and the roster hash; never protobuf output.
 * Signatures are Ed25519 over these 32-byte hashes (BLAKE2b-256), made and checked by the shell.
 */
#pragma once

#include "common/protocol/message.h"
#include "common/graph/graph.h"

struct sl_scope {
	uint8_t run[SL_RUN_BYTES];
	uint8_t roster[SL_HASH_BYTES];
};

/* What each signed record's signature covers; a link state speaks for its signer's own roster. */
void sl_canonical_link_state(const struct sl_scope *scope, const struct sl_link_state *ls,
			     uint8_t hash[static SL_HASH_BYTES]);
void sl_canonical_ready(const struct sl_scope *scope, const struct sl_ready *ready,
			uint8_t hash[static SL_HASH_BYTES]);
void sl_canonical_digest(const struct sl_scope *scope, const struct sl_digest *digest,
			 uint8_t hash[static SL_HASH_BYTES]);

void sl_canonical_abort(const struct sl_scope *scope, const struct sl_abort *abort_record,
			uint8_t hash[static SL_HASH_BYTES]);

/* H(s_i(0) || nonce), of the elements as they are packed at p's width (protocol 6, READY). */
void sl_canonical_commitment(const struct sl_scope *scope, const uint8_t *state, size_t bytes,
			     const uint8_t nonce[static SL_NONCE_BYTES], uint8_t hash[static SL_HASH_BYTES]);
/* D = BLAKE2b(h || Z) (protocol 8, DIGEST), Z packed at p's width, which h says. */
void sl_canonical_result(const struct sl_scope *scope, const uint8_t view[static SL_HASH_BYTES],
			 const uint64_t *z, size_t count, uint32_t width, uint8_t hash[static SL_HASH_BYTES]);

/* h, over the view's bytes (view_bytes.h). */
void sl_canonical_view(const struct sl_scope *scope, const uint8_t *bytes, size_t size,
		       uint8_t hash[static SL_HASH_BYTES]);
