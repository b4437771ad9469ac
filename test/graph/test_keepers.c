/* The keepers of deposits, against the smallest possible number by Hall's theorem on small graphs. */
#include "test/graph/graphs.h"
#include "test/lib/test.h"

#include "common/graph/keepers.h"

static uint32_t most_kept(const struct sl_graph *g)
{
	uint32_t keeper[SL_LEARNERS_MAX], kept[SL_LEARNERS_MAX] = {0}, most = 0;
	size_t used = sl_arena_mark(&arena);
	struct sl_arena scratch = {.base = arena.base + used, .size = sl_keepers_scratch(g->n)};
	assert_int_equal(sl_keepers_choose(g, keeper, &scratch), SL_OK);
	assert_int_equal(scratch.used, 0);
	for (uint32_t v = 0; v < g->n; v++) {
		bool found = sl_graph_degree(g, v) == 0 && keeper[v] == v;
		for (uint32_t k = 0; k < sl_graph_degree(g, v); k++)
			found = found || sl_graph_neighbours(g, v)[k] == keeper[v];
		assert_true(found);
		if (keeper[v] != v && ++kept[keeper[v]] > most)
			most = kept[keeper[v]];
	}
	return most;
}

/* Return the least `most`: every set of vertices has at least 1/most times as many neighbours. */
static uint32_t least(const struct brute *b)
{
	uint32_t most = 0;
	for (uint32_t set = 1; set < 1u << b->n; set++) {
		uint32_t around = 0, size = 0;
		for (uint32_t v = 0; v < b->n; v++)
			if (set >> v & 1 && b->adjacent[v] != 0) {
				around |= b->adjacent[v];
				size++;
			}
		uint32_t places = (uint32_t)__builtin_popcount(around);
		if (places > 0 && (size + places - 1) / places > most)
			most = (size + places - 1) / places;
	}
	return most;
}

TEST_SETUP(open_arena, close_arena)

TEST(all_small_graphs)
{
	for (uint32_t n = 1; n <= 6; n++)
		for (uint64_t number = 0; number < graphs_on(n); number++) {
			struct brute b = brute_numbered(n, number);
			struct sl_graph g = graph_of_brute(&b);
			assert_int_equal(most_kept(&g), least(&b));
		}
}

TEST(random_graphs)
{
	uint64_t seed = 3;
	for (int round = 0; round < 200; round++) {
		struct brute b = brute_random(12, 10 + (uint32_t)(any64(&seed) % 30), &seed);
		struct sl_graph g = graph_of_brute(&b);
		assert_int_equal(most_kept(&g), least(&b));
	}
}

static void expect_kept(const char *text, uint32_t n, uint32_t most)
{
	struct sl_graph g = graph_of(text, n);
	assert_int_equal(most_kept(&g), most);
}

TEST(known_graphs)
{
	expect_kept("complete", 2, 1);
	expect_kept("complete", 10, 1);
	expect_kept("complete", SL_LEARNERS_MAX, 1);
	expect_kept("ring", 3, 1);
	expect_kept("ring", 11, 1);
	expect_kept("regular:3", 60, 1);
	expect_kept("regular:16", SL_LEARNERS_MAX, 1);
	expect_kept("star", 12, 11);
	expect_kept("star", SL_LEARNERS_MAX, SL_LEARNERS_MAX - 1);
	expect_kept("line", 5, 2);
	expect_kept("line", 6, 1);
}

TEST(next_in_cyclic_order)
{
	struct sl_graph g = graph_of("complete", 7);
	uint32_t keeper[7];
	assert_int_equal(sl_keepers_choose(&g, keeper, &arena), SL_OK);
	for (uint32_t v = 0; v < 7; v++)
		assert_int_equal(keeper[v], (v + 1) % 7);
}

TEST(too_little_memory)
{
	struct sl_graph g = graph_of("ring", 100);
	uint32_t keeper[100];
	uint8_t few[256];
	struct sl_arena tiny;
	sl_arena_init(&tiny, few, sizeof few);
	assert_int_equal(sl_keepers_choose(&g, keeper, &tiny), SL_ERR_NOMEM);
	assert_int_equal(tiny.used, 0);
}
