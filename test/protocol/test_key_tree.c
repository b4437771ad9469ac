/* The hash tree over key shares (ROUND.md §5.7 Key shares): every path leads to the root, and no other
 * share, holder, place or attempt does. */
#include "common/protocol/key_tree.h"
#include "test/lib/test.h"

#include <string.h>

#define MOST 70u

static const struct sl_scope scope = {.run = {1}, .roster = {2}};

struct tree {
	uint32_t count;
	sl_id holders[MOST];
	struct sl_held_share shares[MOST];
	uint8_t root[SL_HASH_BYTES];
};

static void build(struct tree *tree, uint32_t count)
{
	uint8_t nodes[128][SL_HASH_BYTES];
	*tree = (struct tree){.count = count};
	assert_true(sl_key_tree_nodes(count) <= 128);
	for (uint32_t r = 0; r < count; r++) {
		tree->holders[r] = 10 * r + 3;
		memset(tree->shares[r].bytes, (int)r + 1, SL_KEY_SHARE_BYTES);
	}
	sl_key_tree_build(&scope, 5, 6, 7, tree->holders, count, tree->shares, tree->root, nodes);
}

static bool leads(const struct tree *tree, uint32_t r)
{
	const uint8_t *share = tree->shares[r].bytes;
	return sl_key_tree_check(&scope, 5, 6, 7, tree->holders[r], r, tree->count, share,
				 share + SL_KEY_SHARE_BYTES, tree->shares[r].size - SL_KEY_SHARE_BYTES,
				 tree->root);
}

TEST(every_path)
{
	for (uint32_t count = 1; count <= MOST; count++) {
		struct tree tree;
		build(&tree, count);
		assert_true(1u << sl_key_tree_depth(count) >= count);
		assert_true(count == 1 || 1u << (sl_key_tree_depth(count) - 1) < count);
		for (uint32_t r = 0; r < count; r++) {
			assert_int_equal(tree.shares[r].size, sl_key_tree_share_bytes(count));
			assert_true(leads(&tree, r));
		}
	}
	assert_int_equal(sl_key_tree_depth(SL_LEARNERS_MAX), SL_KEY_SHARE_PATH_MAX);
}

/* The root of three shares, by hand. */
TEST(root_of_three)
{
	struct tree tree;
	uint8_t h[4][SL_HASH_BYTES] = {{0}};
	build(&tree, 3);
	for (uint32_t r = 0; r < 3; r++)
		sl_canonical_share_leaf(&scope, 5, 6, 7, tree.holders[r], tree.shares[r].bytes, h[r]);
	sl_canonical_share_node(&scope, h[0], h[1], h[0]);
	sl_canonical_share_node(&scope, h[2], h[3], h[2]);
	sl_canonical_share_node(&scope, h[0], h[2], h[0]);
	assert_memory_equal(tree.root, h[0], SL_HASH_BYTES);
}

TEST(any_other_bit)
{
	struct tree tree;
	build(&tree, 5);
	for (uint32_t r = 0; r < 5; r++)
		for (uint32_t bit = 0; bit < 8 * tree.shares[r].size; bit++) {
			tree.shares[r].bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_false(leads(&tree, r));
			tree.shares[r].bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
}

TEST(anywhere_else)
{
	struct tree tree;
	build(&tree, 5);
	const uint8_t *share = tree.shares[1].bytes, *path = share + SL_KEY_SHARE_BYTES;
	const size_t size = 3 * SL_HASH_BYTES;
	static const struct {
		uint32_t t, a, owner, holder, place, count;
		size_t size;
		bool good;
	} rows[] = {
		{5, 6, 7, 13, 1, 5, 96, true},	{4, 6, 7, 13, 1, 5, 96, false},
		{5, 5, 7, 13, 1, 5, 96, false}, {5, 6, 8, 13, 1, 5, 96, false},
		{5, 6, 7, 14, 1, 5, 96, false}, {5, 6, 7, 13, 2, 5, 96, false},
		{5, 6, 7, 13, 1, 4, 96, false}, {5, 6, 7, 13, 1, 5, 64, false},
		{5, 6, 7, 13, 1, 9, 96, false},
	};
	assert_int_equal(tree.shares[1].size, SL_KEY_SHARE_BYTES + size);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(sl_key_tree_check(&scope, rows[i].t, rows[i].a, rows[i].owner,
						   rows[i].holder, rows[i].place, rows[i].count, share, path,
						   rows[i].size, tree.root),
				 rows[i].good);
}
