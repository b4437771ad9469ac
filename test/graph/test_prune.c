/* The part of a graph that is kept (ROUND.md §7.9 Privacy check), against every choice of vertices. */
#include "test/graph/brute.h"
#include "test/graph/graphs.h"

#include "common/base/bytes.h"
#include "common/graph/prune.h"
#include "test/lib/test.h"

/* Return the graph on the vertices of `set` alone. */
static struct brute induced(const struct brute *b, uint32_t set)
{
	struct brute sub = {0};
	uint32_t name[BRUTE_MOST];
	for (uint32_t v = 0; v < b->n; v++)
		if (set >> v & 1)
			name[v] = sub.n++;
	for (uint32_t u = 0; u < b->n; u++)
		for (uint32_t v = u + 1; v < b->n; v++)
			if ((set >> u & 1) && (set >> v & 1) && brute_has(b, u, v))
				brute_join(&sub, name[u], name[v]);
	return sub;
}

static uint32_t pruned(const struct brute *b, uint32_t target, uint32_t least)
{
	static uint8_t memory[1 << 16];
	struct sl_edge edges[BRUTE_MOST * BRUTE_MOST];
	struct sl_arena room, scratch;
	struct sl_graph graph;
	uint64_t kept = 0;
	uint32_t count = 0;
	size_t edge_count = brute_edges(b, edges), need = sl_prune_scratch(b->n, (uint32_t)edge_count);
	sl_arena_init(&room, memory, sizeof memory / 2);
	assert_int_equal(sl_graph_init(&graph, b->n, edges, edge_count, &room), SL_OK);
	assert_true(need <= sizeof memory / 2);
	sl_arena_init(&scratch, memory + sizeof memory / 2, need);
	assert_int_equal(sl_prune(&graph, target, least, &kept, &count, &scratch), SL_OK);
	assert_int_equal(scratch.used, 0);
	assert_true(count == 0 || count == (uint32_t)__builtin_popcountll(kept));
	return count == 0 ? 0 : (uint32_t)kept;
}

/* What is kept is connected well enough and large enough. With a majority as the least size, something is
 * kept wherever some vertices would do. */
static void try_graph(const struct brute *b, uint32_t target)
{
	uint32_t least = b->n / 2 + 1 > target + 1 ? b->n / 2 + 1 : target + 1, best = 0;
	uint32_t kept = pruned(b, target, least);
	struct brute sub = induced(b, kept);
	assert_true(kept == 0 || (sub.n >= least && brute_kappa(&sub) >= target));
	for (uint32_t set = 1; set < 1u << b->n; set++) {
		uint32_t size = (uint32_t)__builtin_popcount(set);
		struct brute some = induced(b, set);
		if (size >= least && size > best && brute_kappa(&some) >= target)
			best = size;
	}
	assert_int_equal(sub.n, best);
}

TEST(every_graph_of_up_to_six)
{
	for (uint32_t n = 3; n <= 6; n++)
		for (uint64_t g = 0; g < graphs_on(n); g++)
			for (uint32_t target = 2; target <= 3; target++) {
				struct brute b = brute_numbered(n, g);
				try_graph(&b, target);
			}
}

static struct brute clique_with_tail(uint32_t clique, uint32_t tail)
{
	struct brute b = {.n = clique + tail};
	for (uint32_t u = 0; u < clique; u++)
		for (uint32_t v = u + 1; v < clique; v++)
			brute_join(&b, u, v);
	for (uint32_t v = clique; v < clique + tail; v++)
		brute_join(&b, v - 1, v);
	return b;
}

TEST(a_tail_goes)
{
	for (uint32_t tail = 1; tail <= 3; tail++) {
		struct brute b = clique_with_tail(5, tail);
		assert_int_equal(pruned(&b, 2, 5), 0x1f);
		assert_int_equal(pruned(&b, 2, 6), 0);
	}
}

/* Two cliques of 0 1 2 3 4 and 4 5 6 7 8: of equal sides, the one with the smallest vertex. */
TEST(of_equal_sides_the_first)
{
	struct brute b = clique_with_tail(5, 4);
	for (uint32_t u = 4; u < 9; u++)
		for (uint32_t v = u + 1; v < 9; v++)
			brute_join(&b, u, v);
	assert_int_equal(pruned(&b, 2, 5), 0x1f);
	for (uint32_t v = 4; v < 9; v++) /* a larger second side */
		b.n = 10, brute_join(&b, 9, v);
	assert_int_equal(pruned(&b, 2, 5), 0x3f0);
}
