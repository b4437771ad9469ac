#include "test/graph/unit.h"
#include "test/lib/test.h"

#include "common/graph/graph.h"

TEST(lists_are_sorted_sets)
{
	struct sl_arena arena = arena_of(4096);
	struct sl_graph g;
	const struct sl_edge edges[] = {{3, 1}, {0, 1}, {1, 3}, {1, 0}, {2, 1}, {3, 1}, {4, 3}};
	assert_int_equal(sl_graph_init(&g, 6, edges, 7, &arena), SL_OK);
	assert_true(g.n == 6 && g.edges == 4);
	const uint32_t of1[] = {0, 2, 3}, of3[] = {1, 4};
	assert_int_equal(sl_graph_degree(&g, 1), 3);
	assert_memory_equal(sl_graph_neighbours(&g, 1), of1, sizeof of1);
	assert_int_equal(sl_graph_degree(&g, 3), 2);
	assert_memory_equal(sl_graph_neighbours(&g, 3), of3, sizeof of3);
	assert_int_equal(sl_graph_degree(&g, 5), 0);
	assert_int_equal(sl_graph_degree_min(&g), 0);
	assert_int_equal(sl_graph_degree_max(&g), 3);
	assert_int_equal(sl_graph_metropolis(&g, 1, 0), 4);
	assert_int_equal(sl_graph_metropolis(&g, 3, 4), 3);
	arena_free(&arena);
}

TEST(refusals)
{
	struct sl_arena arena = arena_of(4096);
	struct sl_graph g;
	assert_int_equal(sl_graph_init(&g, 3, &(struct sl_edge){1, 1}, 1, &arena), SL_ERR_INVALID);
	assert_int_equal(sl_graph_init(&g, 3, &(struct sl_edge){1, 3}, 1, &arena), SL_ERR_RANGE);
	assert_int_equal(sl_graph_init(&g, 100000, NULL, 0, &arena), SL_ERR_NOMEM);
	assert_int_equal(arena.used, 0);
	assert_int_equal(sl_graph_init(&g, 1, NULL, 0, &arena), SL_OK);
	assert_int_equal(sl_graph_components(&g, NULL, &arena), 1);
	arena_free(&arena);
}

/* Components against repeated merging, on random sparse graphs. */
TEST(components)
{
	uint64_t seed = 8;
	struct sl_arena arena = arena_of(65536);
	for (int round = 0; round < 2000; round++) {
		uint32_t n = 1 + (uint32_t)(any64(&seed) % 12), component[12], parent[12], want = n;
		struct sl_edge edges[12];
		size_t count = 0;
		for (uint32_t v = 0; v < n; v++)
			parent[v] = v;
		for (size_t e = 0; e < any64(&seed) % 12 && n > 1; e++) {
			uint32_t a = (uint32_t)(any64(&seed) % n), b = (uint32_t)(any64(&seed) % n);
			if (a == b)
				continue;
			edges[count++] = (struct sl_edge){a, b};
			uint32_t from = parent[b], to = parent[a];
			want -= from != to;
			for (uint32_t v = 0; v < n; v++)
				parent[v] = parent[v] == from ? to : parent[v];
		}
		struct sl_graph g;
		sl_arena_reset(&arena, 0);
		assert_int_equal(sl_graph_init(&g, n, edges, count, &arena), SL_OK);
		size_t used = sl_arena_mark(&arena);
		assert_int_equal(sl_graph_components(&g, component, &arena), want);
		assert_int_equal(sl_graph_components(&g, NULL, &arena), want);
		assert_int_equal(sl_arena_mark(&arena), used);
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = 0; b < n; b++)
				assert_int_equal(component[a] == component[b], parent[a] == parent[b]);
		struct sl_arena none = {.base = arena.base, .size = 0};
		assert_int_equal(sl_graph_components(&g, NULL, &none), 0);
	}
	arena_free(&arena);
}
