/* canonical.h - the bytes that are hashed or signed: fixed little-endian layouts, defined here alone.
 *
 * Every layout starts with its domain string and the run id; signed records, D and `initial` go on without a
 * roster hash, all others with one. Protobuf output is never hashed. Signatures are Ed25519 over these
 * 32-byte hashes (BLAKE2b-256); the shell makes and checks them. LINKS.md §6.14 What is hashed and signed.
 */
#pragma once

#include "common/field/vector_hash.h"
#include "common/graph/graph.h"
#include "common/protocol/message.h"

struct sl_scope {
	uint8_t run[SL_RUN_BYTES];
	uint8_t roster[SL_HASH_BYTES];
};

/* Write the id of the run with this name to `run`: BLAKE2b-128 of the name (LINKS.md §6.14 What is hashed
 * and signed). */
void sl_canonical_run(const char *name, uint8_t run[static SL_RUN_BYTES]);

/* Write to `hash` what the signature of `message` covers: its fields in the order of its list,
 * its roster hash first if it has one. The scope's does not count: a record is valid under each roster that
 * pins its signer. Return false if messages of its kind are not signed. */
bool sl_canonical_message(const struct sl_scope *scope, const struct sl_message *message,
			  uint8_t hash[static SL_HASH_BYTES]);

/* Write the hash of a deposit to `hash`: e_i, packed, of `bytes` bytes (ROUND.md §5.6
 * Deposits). Call `used`, if it is not NULL, for each part that is hashed. */
void sl_canonical_deposit(const struct sl_scope *scope, const uint8_t *deposit, size_t bytes,
			  void (*used)(const uint8_t *bytes, size_t size),
			  uint8_t hash[static SL_HASH_BYTES]);
/* Write the key_hash of learner `id` with the deposit key `key` to `hash`. */
void sl_canonical_key(const struct sl_scope *scope, sl_id id, const uint8_t key[static SL_KEY_BYTES],
		      uint8_t hash[static SL_HASH_BYTES]);
/* Write the challenge_hash of learner `id` with the challenge `value` to `hash`. */
void sl_canonical_challenge(const struct sl_scope *scope, sl_id id, const uint8_t value[static SL_KEY_BYTES],
			    uint8_t hash[static SL_HASH_BYTES]);
/* Write the leaf of the hash tree of share_root to `hash`: the key share `share`, SL_KEY_SHARE_BYTES, that
 * `owner` gave to `holder`. */
void sl_canonical_share_leaf(const struct sl_scope *scope, sl_round t, sl_attempt a, sl_id owner,
			     sl_id holder, const uint8_t share[static SL_KEY_SHARE_BYTES],
			     uint8_t hash[static SL_HASH_BYTES]);
/* Write the inner node over `left` and `right` to `hash`, which may be one of them. */
void sl_canonical_share_node(const struct sl_scope *scope, const uint8_t left[static SL_HASH_BYTES],
			     const uint8_t right[static SL_HASH_BYTES], uint8_t hash[static SL_HASH_BYTES]);
/* Write the hash of the Readys of all `n` participants, by position: of h and what each signs (ROUND.md
 * §7.12 Release). */
void sl_canonical_readys(const struct sl_scope *scope, const uint8_t view[static SL_HASH_BYTES],
			 const struct sl_ready *readys, uint32_t n, uint8_t hash[static SL_HASH_BYTES]);
/* Write the seed of the points of the checksums to `hash`: of h and the challenges of all `n` participants,
 * by position (ROUND.md §8.7 Checking what was passed on). */
void sl_canonical_points(const struct sl_scope *scope, const uint8_t view[static SL_HASH_BYTES],
			 const uint8_t (*challenges)[SL_KEY_BYTES], uint32_t n,
			 uint8_t hash[static SL_HASH_BYTES]);
/* Write the strands of `bytes` bytes to `strands`: of the packed Z, of a model. */
void sl_canonical_strands(const void *vector, size_t bytes, uint8_t strands[static SL_STRANDS_BYTES]);
/* Write D to `hash`: of h, `view`; of Z, by its total weight and its strands; and of the model that Z is
 * decoded to, `bytes` bytes (ROUND.md §7.14 Confirm). */
void sl_canonical_result(const struct sl_scope *scope, const uint8_t view[static SL_HASH_BYTES],
			 uint64_t total, const uint8_t strands[static SL_STRANDS_BYTES], const void *model,
			 size_t bytes, uint8_t hash[static SL_HASH_BYTES]);
/* The same, of a model of `bytes` bytes by its strands. */
void sl_canonical_result_of(const struct sl_scope *scope, const uint8_t view[static SL_HASH_BYTES],
			    uint64_t total, const uint8_t strands[static SL_STRANDS_BYTES],
			    const uint8_t model[static SL_STRANDS_BYTES], size_t bytes,
			    uint8_t hash[static SL_HASH_BYTES]);
/* Return the hash of the model before the first round and of its exponents, `bytes` bytes: not 0. */
uint64_t sl_canonical_initial(const struct sl_scope *scope, const void *model, size_t bytes);
/* Write the hash of a view's edges to `hash`: their bytes as view_codec.h writes them. */
void sl_canonical_edges(const struct sl_scope *scope, const uint8_t *edges, size_t size,
			uint8_t hash[static SL_HASH_BYTES]);
/* Write h to `hash`: over t, a, p, SL_VIEW_NUMBERS, `previous`, N, the hash of the members and that of the
 * edges, with the roster hash of `round` in the place of the scope's. */
void sl_canonical_round(const struct sl_scope *scope, const struct sl_round_head *round,
			uint8_t hash[static SL_HASH_BYTES]);
