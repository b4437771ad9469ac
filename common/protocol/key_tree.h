/* key_tree.h - the hash tree over a learner's key shares, whose root its Ready names (ROUND.md §5.7 Key
 * shares).
 *
 *                    root
 *              h01          h23
 *           h0    h1     h2    zeros        leaf r: the share of the r-th neighbour, ascending
 *
 * Leaves are filled up with zeros to a power of two. The path of a leaf is the other child at each level,
 * from the leaf up.
 */
#pragma once

#include "common/protocol/canonical.h"
#include "common/protocol/secrets.h"

/* Return the hashes of a path: ceil(log2 holders). */
uint32_t sl_key_tree_depth(uint32_t holders);
/* Return the bytes of a key share with its path. */
static inline size_t sl_key_tree_share_bytes(uint32_t holders)
{
	return SL_KEY_SHARE_BYTES + (size_t)sl_key_tree_depth(holders) * SL_HASH_BYTES;
}
/* Return the hashes of scratch that sl_key_tree_build needs. */
static inline size_t sl_key_tree_nodes(uint32_t holders)
{
	return (size_t)1 << sl_key_tree_depth(holders);
}

/* Complete the shares of `owner` for `count` holders: shares[r].bytes begins with the key share of
 * holders[r]; append its path, set its size, and write the root. */
void sl_key_tree_build(const struct sl_scope *scope, sl_round t, sl_attempt a, sl_id owner,
		       const sl_id *holders, uint32_t count, struct sl_held_share *shares,
		       uint8_t root[static SL_HASH_BYTES], uint8_t (*nodes)[SL_HASH_BYTES]);

/* Return true if `share`, SL_KEY_SHARE_BYTES, and `path`, `path_size` bytes, lead to `root` as those of
 * holder number `r` of `count`, the learner `holder`. */
bool sl_key_tree_check(const struct sl_scope *scope, sl_round t, sl_attempt a, sl_id owner, sl_id holder,
		       uint32_t r, uint32_t count, const uint8_t *share, const uint8_t *path,
		       size_t path_size, const uint8_t root[static SL_HASH_BYTES]);
