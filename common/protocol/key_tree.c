#include "common/protocol/key_tree.h"

#include <assert.h>
#include <string.h>

uint32_t sl_key_tree_depth(uint32_t holders)
{
	uint32_t depth = 0;
	while (UINT32_C(1) << depth < holders)
		depth++;
	return depth;
}

/* Replace the `width` hashes of a level by the width / 2 of the level above. */
static void climb(const struct sl_scope *scope, uint8_t (*nodes)[SL_HASH_BYTES], size_t width)
{
	for (size_t i = 0; i < width; i += 2)
		sl_canonical_share_node(scope, nodes[i], nodes[i + 1], nodes[i / 2]);
}

void sl_key_tree_build(const struct sl_scope *scope, sl_round t, sl_attempt a, sl_id owner,
		       const sl_id *holders, uint32_t count, struct sl_held_share *shares,
		       uint8_t root[static SL_HASH_BYTES], uint8_t (*nodes)[SL_HASH_BYTES])
{
	uint32_t depth = sl_key_tree_depth(count);
	assert(count >= 1 && depth <= SL_KEY_SHARE_PATH_MAX);
	memset(nodes, 0, sl_key_tree_nodes(count) * sizeof *nodes);
	for (uint32_t r = 0; r < count; r++) {
		sl_canonical_share_leaf(scope, t, a, owner, holders[r], shares[r].bytes, nodes[r]);
		shares[r].size = (uint32_t)sl_key_tree_share_bytes(count);
	}
	for (uint32_t level = 0; level < depth; level++) {
		for (uint32_t r = 0; r < count; r++)
			memcpy(shares[r].bytes + SL_KEY_SHARE_BYTES + (size_t)level * SL_HASH_BYTES,
			       nodes[(r >> level) ^ 1], SL_HASH_BYTES);
		climb(scope, nodes, (size_t)1 << (depth - level));
	}
	memcpy(root, nodes[0], SL_HASH_BYTES);
}

bool sl_key_tree_check(const struct sl_scope *scope, sl_round t, sl_attempt a, sl_id owner, sl_id holder,
		       uint32_t r, uint32_t count, const uint8_t *share, const uint8_t *path,
		       size_t path_size, const uint8_t root[static SL_HASH_BYTES])
{
	uint8_t node[SL_HASH_BYTES];
	if (path_size != sl_key_tree_share_bytes(count) - SL_KEY_SHARE_BYTES)
		return false;
	sl_canonical_share_leaf(scope, t, a, owner, holder, share, node);
	for (; path_size > 0; path_size -= SL_HASH_BYTES, path += SL_HASH_BYTES, r >>= 1)
		sl_canonical_share_node(scope, r & 1 ? path : node, r & 1 ? node : path, node);
	return memcmp(node, root, SL_HASH_BYTES) == 0;
}
