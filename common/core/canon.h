/* canon.h - everything that is hashed or signed, as fixed little-endian layouts: the one place that defines them.
 *
 * Every layout opens with its domain string, the run id and the roster hash; never protobuf output. Signatures are
 * Ed25519 over these 32-byte hashes (BLAKE2b-256), made and checked by the shell.
 */
#pragma once

#include "common/core/message.h"
#include "common/math/graph.h"

struct sl_scope {
	uint8_t run[SL_RUN_BYTES];
	uint8_t roster[SL_HASH_BYTES];
};

/* What each signed record's signature covers; a link state speaks for its signer's own roster. */
void sl_canon_link_state(const struct sl_scope *scope, const struct sl_link_state *ls, uint8_t hash[static SL_HASH_BYTES]);
void sl_canon_ready(const struct sl_scope *scope, const struct sl_ready *ready, uint8_t hash[static SL_HASH_BYTES]);
void sl_canon_digest(const struct sl_scope *scope, const struct sl_digest *digest, uint8_t hash[static SL_HASH_BYTES]);

/* H(s_i(0) || nonce) of `count` elements (protocol 6, READY). */
void sl_canon_commitment(const struct sl_scope *scope, const uint64_t *s, size_t count,
			 const uint8_t nonce[static SL_NONCE_BYTES], uint8_t hash[static SL_HASH_BYTES]);
/* D = BLAKE2b(h || Z) (protocol 8, DIGEST). */
void sl_canon_result(const struct sl_scope *scope, const uint8_t view[static SL_HASH_BYTES], const uint64_t *z,
		     size_t count, uint8_t hash[static SL_HASH_BYTES]);

/* h, piece by piece: header, then every participant ascending by id, then every edge (a < b, ascending). */
struct sl_canon_view {
	_Alignas(64) uint8_t state[384]; /* crypto_generichash_state */
};
void sl_canon_view_open(struct sl_canon_view *v, const struct sl_scope *scope, sl_round t, sl_attempt a, uint64_t p,
			const struct sl_parameters *parameters, const uint8_t previous[static SL_HASH_BYTES], uint32_t n);
void sl_canon_view_member(struct sl_canon_view *v, sl_id id, uint32_t incarnation);
void sl_canon_view_edge(struct sl_canon_view *v, sl_id a, sl_id b);
void sl_canon_view_close(struct sl_canon_view *v, uint8_t hash[static SL_HASH_BYTES]);
