/* How many losses an attempt tolerates: the count agrees with the rule of ROUND.md §10.4 How recovery
 * ends, applied to every set of losses, for all graphs of up to five participants. */
#include "common/base/bytes.h"
#include "common/graph/forest.h"
#include "common/protocol/view.h"
#include "test/lib/test.h"

#define MOST 10u

/* A view whose positions are the roster indices. */
struct fixture {
	uint8_t memory[65536];
	struct sl_arena arena;
	uint32_t members[MOST];
	struct sl_edge edges[MOST * MOST];
	struct sl_forest forest;
	struct sl_view view;
};

static void set_view(struct fixture *f, uint32_t n, uint32_t count, uint64_t c)
{
	sl_arena_init(&f->arena, f->memory, sizeof f->memory);
	f->view = (struct sl_view){.n = n, .members = f->members, .agreed.tolerance = c};
	for (uint32_t i = 0; i < n; i++)
		f->members[i] = i;
	assert_int_equal(sl_graph_init(&f->view.graph, n, f->edges, count, &f->arena), SL_OK);
}

/* Return false if the graph is not connected. */
static bool take_forest(struct fixture *f)
{
	f->view.deposits_forest = sl_forest_init(&f->forest, &f->view.graph, 1, &f->arena) == SL_OK;
	f->view.keeper = f->forest.keeper;
	return f->view.deposits_forest;
}

/* ---- the rule, set by set ---- */

static bool is_recoverable(const struct sl_view *view, uint64_t lost, uint32_t m)
{
	const uint32_t *neighbours = sl_graph_neighbours(&view->graph, m);
	uint32_t holders = 0;
	bool kept = false;
	for (uint32_t k = 0; k < sl_graph_degree(&view->graph, m); k++)
		holders += !(lost >> neighbours[k] & 1);
	for (uint32_t i = 0; i < view->n; i++)
		kept = kept || (!(lost >> i & 1) && sl_view_keeper(view, m, i));
	return kept && holders >= sl_view_threshold(view, m);
}

static bool completes(const struct sl_view *view, uint64_t lost)
{
	uint32_t left = view->n - (uint32_t)__builtin_popcountll(lost);
	bool all = left >= sl_view_digests(view->n, view->agreed.tolerance, view->agreed.forgetful);
	for (uint32_t m = 0; m < view->n; m++)
		all = all && (!(lost >> m & 1) || is_recoverable(view, lost, m));
	return all;
}

static uint32_t by_sets(const struct sl_view *view, uint64_t lost)
{
	uint32_t tolerates = view->n;
	for (uint64_t set = 0; set < UINT64_C(1) << view->n; set++) {
		uint32_t further = (uint32_t)__builtin_popcountll(set & ~lost);
		bool fails = (set & lost) == lost && !completes(view, set);
		if (fails && further <= tolerates)
			tolerates = further > 0 ? further - 1 : 0;
	}
	return tolerates;
}

static void expect_rule(const struct sl_view *view)
{
	for (uint64_t lost = 0; lost < UINT64_C(1) << view->n; lost++)
		assert_int_equal(sl_view_tolerates(view, &lost), by_sets(view, lost));
	assert_int_equal(sl_view_tolerates(view, NULL), by_sets(view, 0));
}

TEST(test_all_graphs_of_five)
{
	static struct fixture f;
	for (uint32_t n = 1; n <= 5; n++)
		for (uint32_t graph = 0; graph < 1u << n * (n - 1) / 2; graph++) {
			uint32_t count = 0, bit = 0;
			for (uint32_t a = 0; a < n; a++)
				for (uint32_t b = a + 1; b < n; b++, bit++)
					if (graph >> bit & 1)
						f.edges[count++] = (struct sl_edge){a, b};
			for (uint64_t c = 1; c <= 2; c++) {
				set_view(&f, n, count, c);
				expect_rule(&f.view);
				if (take_forest(&f))
					expect_rule(&f.view);
			}
		}
}

/* The examples of the protocol. */
TEST(test_examples)
{
	static struct fixture f;
	uint32_t count = 0;
	for (uint32_t i = 0; i < 6; i++)
		f.edges[i] = (struct sl_edge){i, (i + 1) % 6};
	set_view(&f, 6, 6, 1);
	assert_int_equal(sl_view_tolerates(&f.view, NULL), 1); /* a ring */
	assert_true(take_forest(&f));
	assert_int_equal(sl_view_tolerates(&f.view, NULL), 1);
	for (uint32_t a = 0; a < 10; a++)
		for (uint32_t b = a + 1; b < 10; b++)
			f.edges[count++] = (struct sl_edge){a, b};
	set_view(&f, 10, count, 1);
	assert_int_equal(sl_view_tolerates(&f.view, NULL), 4);
	const uint64_t lost = 6;
	assert_int_equal(sl_view_tolerates(&f.view, &lost), 2);
}
