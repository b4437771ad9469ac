/* Keepers of deposits, by the analysis of a graph (ROUND.md §5.6 Deposits): what each learner concludes of
 * itself and its neighbours is what all others conclude. */
#include <stdlib.h>

#include "common/compute/job_analysis.h"
#include "test/graph/unit.h"
#include "test/lib/test.h"

#define N 9u

struct fixture {
	struct sl_graph graph;
	struct sl_view views[N];
	uint64_t up[N][N], down[N][N];
	uint32_t keepers[N][N];
	struct sl_analysis analysis;
	struct sl_arena arena, scratch;
};

static void open_fixture(struct fixture *f, uint64_t *seed, enum sl_engine mixing, bool failed)
{
	struct sl_edge edges[N * N];
	size_t count = 0;
	for (uint32_t a = 0; a < N; a++) /* a ring, so that everybody has two neighbours, and some more */
		for (uint32_t b = a + 1; b < N; b++)
			if (b == a + 1 || (a == 0 && b == N - 1) || any64(seed) % 5 == 0)
				edges[count++] = (struct sl_edge){a, b};
	sl_arena_init(&f->arena, malloc(8192), 8192);
	assert_int_equal(sl_graph_init(&f->graph, N, edges, count, &f->arena), SL_OK);
	size_t bytes = sl_analysis_scratch(N, (uint32_t)count, 1);
	sl_arena_init(&f->scratch, malloc(bytes), bytes);
	for (uint32_t i = 0; i < N; i++) {
		struct sl_view *view = &f->views[i];
		*view = (struct sl_view){.n = N,
					 .graph = f->graph,
					 .self = i,
					 .degree = sl_graph_degree(&f->graph, i),
					 .neighbours = sl_graph_neighbours(&f->graph, i),
					 .up = f->up[i],
					 .down = f->down[i],
					 .keeper = f->keepers[i],
					 .elements = 1000000,
					 .agreed = {.tolerance = 1, .mixing = mixing, .failed = failed}};
		view->field = field_of(SL_P_MERSENNE31);
		assert_int_equal(sl_job_analysis_run(view, &f->analysis, &f->scratch), SL_OK);
		sl_job_analysis_apply(&f->analysis, view);
	}
}

static void close_fixture(struct fixture *f)
{
	free(f->arena.base);
	free(f->scratch.base);
}

/* Compare what learner i says with what learner j says. Return the number of keepers of i. */
static uint32_t compare(const struct fixture *f, uint32_t i)
{
	const struct sl_view *view = &f->views[i];
	uint32_t keepers = 0;
	for (uint32_t j = 0; j < N; j++) {
		for (uint32_t k = 0; k < N; k++)
			assert_int_equal(sl_view_keeper(view, j, k), sl_view_keeper(&f->views[0], j, k));
		keepers += sl_view_keeper(view, i, j);
	}
	uint32_t near = 0;
	for (uint32_t r = 0; r < view->degree; r++) {
		uint32_t j = view->neighbours[r];
		assert_int_equal(sl_view_keeps(view, r), sl_view_keeper(view, j, i));
		assert_int_equal(sl_view_is_keeper(view, r), sl_view_keeper(view, i, j));
		near += sl_view_is_keeper(view, r);
	}
	assert_int_equal(near, keepers); /* only neighbours keep */
	return keepers;
}

static void expect_keepers(enum sl_engine mixing, bool failed, bool forest)
{
	uint64_t seed = 5;
	for (int time = 0; time < 40; time++) {
		struct fixture f;
		open_fixture(&f, &seed, mixing, failed);
		for (uint32_t i = 0; i < N; i++) {
			uint32_t keepers = compare(&f, i);
			assert_int_equal(f.views[i].deposits_forest, forest);
			if (!forest)
				assert_int_equal(keepers, f.views[i].degree);
			else
				assert_int_equal(keepers, 1);
		}
		close_fixture(&f);
	}
}

TEST(of_neighbours)
{
	expect_keepers(SL_ENGINE_EXACT, false, false);
	expect_keepers(SL_ENGINE_METROPOLIS, false, false);
}

TEST(of_the_forest)
{
	expect_keepers(SL_ENGINE_FOREST, false, true);
	expect_keepers(SL_ENGINE_AUTO, false, true); /* cheaper for so many elements */
}

/* The attempt may have failed through an owner and its only keeper. */
TEST(after_a_failed_attempt)
{
	expect_keepers(SL_ENGINE_FOREST, true, false);
	expect_keepers(SL_ENGINE_AUTO, true, false);
}

/* c + 1, or more than half of the holders. */
TEST(threshold)
{
	static const struct {
		uint32_t degree, c, theta;
	} rows[] = {{2, 1, 2}, {3, 1, 2}, {4, 1, 3}, {5, 1, 3}, {9, 1, 5}, {3, 2, 3}, {4, 3, 4}, {9, 6, 7}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct sl_edge edges[10];
		uint8_t memory[4096];
		struct sl_arena edges_arena;
		struct sl_view view = {.agreed = {.tolerance = rows[i].c}};
		for (uint32_t r = 0; r < rows[i].degree; r++)
			edges[r] = (struct sl_edge){0, r + 1};
		sl_arena_init(&edges_arena, memory, sizeof memory);
		assert_int_equal(
			sl_graph_init(&view.graph, rows[i].degree + 1, edges, rows[i].degree, &edges_arena),
			SL_OK);
		assert_int_equal(sl_view_threshold(&view, 0), rows[i].theta);
	}
}
