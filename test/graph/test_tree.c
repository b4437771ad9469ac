/* The tree of the tree engine, against distances by Floyd and Warshall. */
#include "test/graph/graphs.h"
#include "test/lib/test.h"

#include "common/graph/tree.h"

#define SMALL 40u
#define FAR 1000u

static void distances(const struct sl_graph *g, uint32_t d[SMALL][SMALL])
{
	for (uint32_t a = 0; a < g->n; a++)
		for (uint32_t b = 0; b < g->n; b++)
			d[a][b] = a == b ? 0 : FAR;
	for (uint32_t a = 0; a < g->n; a++)
		for (uint32_t k = 0; k < sl_graph_degree(g, a); k++)
			d[a][sl_graph_neighbours(g, a)[k]] = 1;
	for (uint32_t via = 0; via < g->n; via++)
		for (uint32_t a = 0; a < g->n; a++)
			for (uint32_t b = 0; b < g->n; b++)
				if (d[a][via] + d[via][b] < d[a][b])
					d[a][b] = d[a][via] + d[via][b];
}

static uint32_t farthest(uint32_t d[SMALL][SMALL], uint32_t n, uint32_t v)
{
	uint32_t most = 0;
	for (uint32_t u = 0; u < n; u++)
		most = d[v][u] > most ? d[v][u] : most;
	return most;
}

static uint32_t expected_parent(const struct sl_graph *g, uint32_t d[SMALL][SMALL], uint32_t root, uint32_t v)
{
	for (uint32_t u = 0; u < g->n; u++)
		if (d[u][v] == 1 && d[root][u] + 1 == d[root][v])
			return u;
	return v;
}

static void expect_tree(const struct sl_graph *g)
{
	static uint32_t d[SMALL][SMALL];
	struct sl_tree tree;
	uint32_t root = 0;
	distances(g, d);
	for (uint32_t v = 1; v < g->n; v++)
		if (farthest(d, g->n, v) < farthest(d, g->n, root))
			root = v;
	if (farthest(d, g->n, root) >= FAR) {
		assert_int_equal(sl_tree_init(&tree, g, &arena), SL_ERR_INVALID);
		return;
	}
	assert_int_equal(sl_tree_init(&tree, g, &arena), SL_OK);
	assert_int_equal(tree.n, g->n);
	assert_int_equal(tree.root, root);
	assert_int_equal(tree.depth, farthest(d, g->n, root));
	for (uint32_t v = 0; v < g->n; v++) {
		assert_int_equal(tree.level[v], d[root][v]);
		assert_int_equal(tree.parent[v], expected_parent(g, d, root, v));
	}
}

TEST_SETUP(open_arena, close_arena)

TEST(all_small_graphs)
{
	for (uint32_t n = 1; n <= 6; n++) {
		for (uint64_t number = 0; number < graphs_on(n); number++) {
			struct sl_graph g = graph_of_number(n, number);
			expect_tree(&g);
		}
	}
}

TEST(random_graphs)
{
	uint64_t seed = 11;
	for (int round = 0; round < 1000; round++) {
		uint32_t n = 2 + (uint32_t)(any64(&seed) % (SMALL - 1));
		size_t count = any64(&seed) % (3 * n);
		struct sl_edge edges[3 * SMALL];
		for (size_t e = 0; e < count; e++)
			edges[e] = any_edge(n, &seed);
		struct sl_graph g = graph_of_edges(n, edges, count);
		expect_tree(&g);
	}
}

/* The backup of a learner is its next neighbour that is not its parent, if it has one. */
static void expect_backups(const struct sl_graph *g)
{
	struct sl_tree tree;
	if (sl_tree_init(&tree, g, &arena) != SL_OK)
		return;
	for (uint32_t v = 0; v < g->n; v++) {
		const uint32_t *neighbours = sl_graph_neighbours(g, v);
		uint32_t backup = sl_tree_backup(tree.parent, g, v), others = 0, first = v, after = v;
		for (uint32_t k = sl_graph_degree(g, v); k-- > 0;) {
			if (v != tree.root && neighbours[k] == tree.parent[v])
				continue;
			others++;
			first = neighbours[k];
			after = neighbours[k] > v ? neighbours[k] : after;
		}
		assert_int_equal(backup, others == 0 ? v : after != v ? after : first);
	}
}

TEST(backups)
{
	uint64_t seed = 5;
	static const char *const texts[] = {"complete", "ring", "line", "star"};
	for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
		for (uint32_t n = 3; n < 20; n++) {
			struct sl_graph g = graph_of(texts[k], n);
			expect_backups(&g);
		}
	for (int time = 0; time < 500; time++) {
		struct sl_edge edges[3 * SMALL];
		uint32_t n = 2 + (uint32_t)(any64(&seed) % (SMALL - 1));
		size_t count = n + any64(&seed) % n;
		for (size_t e = 0; e < count; e++)
			edges[e] = any_edge(n, &seed);
		struct sl_graph g = graph_of_edges(n, edges, count);
		expect_backups(&g);
	}
	struct sl_graph ring = graph_of("ring", 10);
	struct sl_tree tree;
	assert_int_equal(sl_tree_init(&tree, &ring, &arena), SL_OK);
	for (uint32_t v = 0; v < 10; v++) /* the backup is the next vertex, unless that is the parent */
		assert_int_equal(sl_tree_backup(tree.parent, &ring, v),
				 v != tree.root && tree.parent[v] == (v + 1) % 10 ? (v + 9) % 10
										  : (v + 1) % 10);
}

static void expect_centre(const char *text, uint32_t n, uint32_t root, uint32_t depth)
{
	struct sl_graph g = graph_of(text, n);
	struct sl_tree tree;
	assert_int_equal(sl_tree_init(&tree, &g, &arena), SL_OK);
	if (tree.root != root || tree.depth != depth)
		fail_msg("%s on %u: root %u, depth %u", text, n, tree.root, tree.depth);
}

TEST(known_graphs)
{
	expect_centre("line", 100, 49, 50);
	expect_centre("line", 101, 50, 50);
	expect_centre("ring", 63, 0, 31);
	expect_centre("ring", 64, 0, 32);
	expect_centre("star", 65, 0, 1);
	expect_centre("complete", 64, 0, 1);
	expect_centre("complete", SL_LEARNERS_MAX, 0, 1);
	expect_centre("line", SL_LEARNERS_MAX, 999, 1000);
}

TEST(refusals)
{
	struct sl_graph g = {.n = 0};
	struct sl_tree tree;
	assert_int_equal(sl_tree_init(&tree, &g, &arena), SL_ERR_INVALID);
	g = graph_of("ring", 70);
	size_t used = sl_arena_mark(&arena);
	struct sl_arena enough = {.base = arena.base + used + 1, .size = sl_tree_bytes(70)};
	struct sl_arena tiny = {.base = arena.base + used + 1, .size = sl_tree_bytes(70) / 2};
	assert_int_equal(sl_tree_init(&tree, &g, &tiny), SL_ERR_NOMEM);
	assert_int_equal(tiny.used, 0);
	assert_int_equal(sl_tree_init(&tree, &g, &enough), SL_OK);
	assert_true(sl_arena_mark(&enough) <= 2 * 70 * sizeof(uint32_t) + 128); /* the rest is given back */
	g = graph_of_edges(3, &(struct sl_edge){0, 1}, 1);
	used = sl_arena_mark(&arena);
	assert_int_equal(sl_tree_init(&tree, &g, &arena), SL_ERR_INVALID);
	assert_int_equal(sl_arena_mark(&arena), used);
}
