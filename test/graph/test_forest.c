/* The spanning trees of the forest engine, and how far their largest load is from the lower bound. */
#include "test/graph/graphs.h"
#include "test/lib/test.h"

#include <math.h>
#include <string.h>

#include "common/graph/forest.h"
#include "common/graph/generate.h"

#define SMALL 60u

static bool adjacent(const struct sl_graph *g, uint32_t v, uint32_t u)
{
	for (uint32_t k = 0; k < sl_graph_degree(g, v); k++)
		if (sl_graph_neighbours(g, v)[k] == u)
			return true;
	return false;
}

/* Return the depth of a tree after checking that it spans; add its edges to load[]. */
static uint32_t depth_of(const struct sl_graph *g, const uint32_t *parent, uint32_t *load)
{
	uint32_t roots = 0, depth = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t steps = 0;
		for (uint32_t u = v; parent[u] != u; u = parent[u])
			assert_true(++steps < g->n);
		depth = steps > depth ? steps : depth;
		roots += parent[v] == v;
		if (parent[v] == v)
			continue;
		assert_true(adjacent(g, v, parent[v]));
		load[v]++;
		load[parent[v]]++;
	}
	assert_int_equal(roots, 1);
	return depth;
}

static struct sl_forest forest_of(const struct sl_graph *g, uint32_t most)
{
	struct sl_forest f;
	uint32_t load[SL_LEARNERS_MAX] = {0}, depth = 0, busiest = 0;
	assert_int_equal(sl_forest_init(&f, g, most, &arena), SL_OK);
	assert_int_equal(f.n, g->n);
	assert_int_equal(f.trees, g->edges + 1 == g->n ? 1 : most < g->n ? most : g->n);
	for (uint32_t t = 0; t < f.trees; t++) {
		uint32_t of_tree = depth_of(g, f.parent + (size_t)t * f.n, load);
		depth = of_tree > depth ? of_tree : depth;
	}
	for (uint32_t v = 0; v < f.n; v++) {
		busiest = load[v] > busiest ? load[v] : busiest;
		assert_true(f.n == 1 || adjacent(g, v, f.keeper[v]));
	}
	assert_int_equal(f.depth, depth);
	assert_int_equal(f.busiest, busiest);
	assert_true(f.depth <= g->n / 2);
	return f;
}

static double bound_of(const struct sl_graph *g)
{
	double bound = 0;
	assert_int_equal(sl_forest_bound(g, &bound, &arena), SL_OK);
	assert_true(g->n == 1 || bound >= 2.0 * (g->n - 1) / g->n - 1e-9);
	return bound;
}

/* Return the largest load, in vectors, divided by the lower bound. */
static double ratio_of(const struct sl_graph *g, uint32_t most)
{
	struct sl_forest f = forest_of(g, most);
	double load = (double)f.busiest / f.trees, bound = bound_of(g);
	assert_true(load >= bound - 1e-9);
	return load / bound;
}

TEST_SETUP(open_arena, close_arena)

TEST(complete_graphs)
{
	for (uint32_t n = 3; n <= SL_FOREST_TREES_MAX; n++) {
		struct sl_graph g = graph_of("complete", n);
		struct sl_forest f = forest_of(&g, SL_FOREST_TREES_MAX);
		assert_int_equal(f.trees, n);
		assert_int_equal(f.depth, 1);
		assert_int_equal(f.busiest, 2 * (n - 1));
		assert_true(fabs(bound_of(&g) - 2.0 * (n - 1) / n) < 1e-9);
	}
}

TEST(all_small_graphs)
{
	for (uint32_t n = 2; n <= 6; n++)
		for (uint64_t number = 0; number < graphs_on(n); number++) {
			struct sl_graph g = graph_of_number(n, number);
			if (sl_graph_components(&g, NULL, &arena) != 1)
				continue;
			double ratio = ratio_of(&g, SL_FOREST_TREES_MAX);
			if (ratio > 1.3)
				fail_msg("%u: graph %ju: %.3f times the bound", n, (uintmax_t)number, ratio);
		}
}

static const char *const families[] = {"complete",  "ring",	 "line",	 "star",      "grid",
				       "nearest:4", "nearest:8", "neighbours",	 "regular:3", "regular:4",
				       "regular:8", "geometric", "geometric:0.3"};
#define FAMILIES (sizeof families / sizeof *families)

/* Make a graph of a family on `n` vertices. Return false if there is none, or if it is not connected. */
static bool family_graph(const char *text, uint32_t n, uint64_t seed, struct sl_graph *g)
{
	struct sl_family family;
	struct sl_edge edges[SMALL * SMALL / 2];
	const char *error;
	size_t count;
	sl_arena_reset(&arena, 0);
	if (sl_family_parse(text, n, &family, &error) != SL_OK || sl_family_fault(&family, n) != NULL ||
	    sl_generate(&family, n, seed, 0, edges, sizeof edges / sizeof *edges, &count, &arena) != SL_OK)
		return false;
	*g = graph_of_edges(n, edges, count);
	return sl_graph_components(g, NULL, &arena) == 1;
}

TEST(graphs_of_families)
{
	uint64_t seed = 7;
	uint32_t graphs = 0;
	double worst = 0;
	while (graphs < 300) {
		const char *text = families[any64(&seed) % FAMILIES];
		uint32_t n = 4 + (uint32_t)(any64(&seed) % (SMALL - 3));
		struct sl_graph g;
		if (!family_graph(text, n, seed, &g))
			continue;
		double ratio = ratio_of(&g, SL_FOREST_TREES_MAX);
		if (ratio > 1.3)
			fail_msg("%s on %u, seed %ju: %.3f times the bound", text, n, (uintmax_t)seed, ratio);
		worst = ratio > worst ? ratio : worst;
		graphs++;
	}
	print_message("largest load of 300 graphs: at most %.3f times the bound\n", worst);
}

/* A random tree with some more edges: bridges and cut vertices force loads. */
TEST(sparse_graphs)
{
	uint64_t seed = 9;
	double worst = 0;
	for (int round = 0; round < 300; round++) {
		struct sl_edge edges[2 * SMALL];
		uint32_t n = 4 + (uint32_t)(any64(&seed) % (SMALL - 3)), count = 0,
			 hubs = 1 + (uint32_t)round % 8;
		for (uint32_t v = 1; v < n; v++)
			edges[count++] =
				(struct sl_edge){v, (uint32_t)(any64(&seed) % (v < hubs ? v : hubs))};
		for (uint32_t more = (uint32_t)(any64(&seed) % n); more > 0; more--)
			edges[count++] = any_edge(n, &seed);
		struct sl_graph g = graph_of_edges(n, edges, count);
		double ratio = ratio_of(&g, SL_FOREST_TREES_MAX);
		if (ratio > 1.3)
			fail_msg("round %d: %.3f times the bound", round, ratio);
		worst = ratio > worst ? ratio : worst;
	}
	print_message("largest load of 300 sparse graphs: at most %.3f times the bound\n", worst);
}

/* Short vectors have few trees. These are shallow, and the load is still near two vectors. */
TEST(few_trees)
{
	static const char *const texts[] = {"complete", "regular:4", "regular:8", "nearest:8"};
	for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
		for (uint32_t most = 1; most <= 16; most++) {
			struct sl_graph g = graph_of(texts[k], SMALL);
			struct sl_forest f = forest_of(&g, most);
			assert_true(f.depth <= 8);
			assert_true(most == 1 || f.busiest <= 5 + 22 * most / 10);
		}
}

static void expect_forest(const char *text, uint32_t n, uint32_t most, uint32_t trees, uint32_t depth)
{
	struct sl_graph g = graph_of(text, n);
	struct sl_forest f = forest_of(&g, most);
	if (f.trees != trees || f.depth > depth)
		fail_msg("%s on %u: %u trees, depth %u", text, n, f.trees, f.depth);
}

TEST(known_graphs)
{
	expect_forest("line", 2, 64, 1, 1);
	expect_forest("line", 101, 64, 1, 50);
	expect_forest("star", 65, 64, 1, 1);
	expect_forest("ring", 10, 64, 10, 5);
	expect_forest("ring", 64, 64, 64, 32);
	expect_forest("complete", 10, 1, 1, 1);
	expect_forest("regular:4", 8, 64, 8, 3);
	expect_forest("regular:16", SL_LEARNERS_MAX, 64, 64, 10);
	expect_forest("complete", 300, 64, 64, 4);
	expect_forest("line", SL_LEARNERS_MAX, 64, 1, 1000);
}

TEST(one_learner)
{
	struct sl_graph g = graph_of_edges(1, NULL, 0);
	struct sl_forest f = forest_of(&g, 64);
	assert_int_equal(f.trees, 1);
	assert_int_equal(f.busiest, 0);
	assert_int_equal(f.keeper[0], 0);
	assert_true(bound_of(&g) < 1e-9);
}

TEST(repeated)
{
	struct sl_graph g = graph_of("geometric", 50);
	struct sl_forest a = forest_of(&g, 24), b = forest_of(&g, 24);
	assert_memory_equal(a.parent, b.parent, 24 * 50 * sizeof(uint32_t));
	assert_memory_equal(a.keeper, b.keeper, 50 * sizeof(uint32_t));
}

/* All learners must get the same trees: a change of the rule is a change of the protocol. */
TEST(these_trees)
{
	static const uint32_t parents[4][6] = {
		{0, 0, 1, 2, 5, 0}, {1, 2, 3, 3, 3, 4}, {0, 0, 1, 2, 5, 0}, {1, 2, 3, 3, 3, 4}};
	struct sl_graph g = graph_of("ring", 6);
	struct sl_forest f = forest_of(&g, 4);
	assert_memory_equal(f.parent, parents, sizeof parents);
}

TEST(refusals)
{
	struct sl_graph g = {.n = 0};
	struct sl_forest f;
	double bound;
	assert_int_equal(sl_forest_init(&f, &g, 4, &arena), SL_ERR_INVALID);
	assert_int_equal(sl_forest_bound(&g, &bound, &arena), SL_ERR_INVALID);
	g = graph_of("ring", 70);
	size_t used = sl_arena_mark(&arena), bytes = sl_forest_bytes(70, 4);
	struct sl_arena enough = {.base = arena.base + used + 1, .size = bytes};
	struct sl_arena tiny = {.base = arena.base + used + 1, .size = bytes / 2};
	assert_int_equal(sl_forest_init(&f, &g, 4, &tiny), SL_ERR_NOMEM);
	assert_int_equal(tiny.used, 0);
	assert_int_equal(sl_forest_init(&f, &g, 4, &enough), SL_OK);
	assert_true(sl_arena_mark(&enough) <= 5 * 70 * sizeof(uint32_t) + 128); /* the rest is given back */
	sl_arena_reset(&enough, 0);
	assert_int_equal(sl_forest_bound(&g, &bound, &enough), SL_OK);
	assert_int_equal(enough.used, 0);
	g = graph_of_edges(3, &(struct sl_edge){0, 1}, 1);
	used = sl_arena_mark(&arena);
	assert_int_equal(sl_forest_init(&f, &g, 4, &arena), SL_ERR_INVALID);
	assert_int_equal(sl_forest_bound(&g, &bound, &arena), SL_ERR_INVALID);
	assert_int_equal(sl_arena_mark(&arena), used);
}
