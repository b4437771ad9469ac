/* The formulas of families against the graphs themselves: what is exact is equal, a bound holds, an estimate
 * is near. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "test/lib/test.h"
#include "tools/estimate/graph.h"

/* false: not connected, as may happen to a geometric one. */
static bool look_at(const struct sl_family *topology, uint32_t n, struct sl_estimate_figures *figures)
{
	struct sl_arena arena;
	struct sl_graph graph;
	struct sl_field field;
	size_t count, room = (size_t)n * (n - 1) / 2, bytes = 64 * room + (1 << 20);
	sl_arena_init(&arena, malloc(bytes), bytes);
	struct sl_edge *edges = SL_ARENA_TAKE(&arena, room, struct sl_edge);
	assert_non_null(edges);
	assert_int_equal(sl_generate(topology, n, 7, 0, edges, room, &count, &arena), SL_OK);
	assert_int_equal(sl_graph_init(&graph, n, edges, count, &arena), SL_OK);
	assert_int_equal(sl_field_init(&field, SL_P_MERSENNE31), SL_OK);
	int rc = sl_estimate_graph_figures(&graph, &field, 1000000, figures);
	free(arena.base);
	return rc == SL_OK;
}

static void expect_whole(enum sl_certainty certainty, double formula, double real, double estimate_off,
			 const char *what)
{
	bool good = certainty == SL_EXACTLY   ? formula == real
		    : certainty == SL_AT_MOST ? formula >= real
					      : fabs(formula - real) <= estimate_off;
	if (!good)
		fail_msg("%s: %g by the formula, and it is %g", what, formula, real);
}

static void expect_mu(const struct sl_estimate_figures *formula, const struct sl_estimate_figures *real)
{
	double off = formula->mu - real->mu, gap = (1 - formula->mu) / (1 - real->mu);
	bool good = formula->mu_is == SL_EXACTLY   ? fabs(off) < 1e-9
		    : formula->mu_is == SL_AT_MOST ? off > -1e-9
						   : gap > 0.5 && gap < 2;
	if (!good)
		fail_msg("mu %.9f by the formula, and it is %.9f", formula->mu, real->mu);
}

static void expect_family(const char *text, uint32_t n)
{
	struct sl_family topology;
	struct sl_estimate_figures formula, real;
	const char *why;
	if (sl_family_parse(text, n, &topology, &why) != SL_OK)
		fail_msg("%s of %u: %s", text, n, why);
	print_message("%s of %u\n", text, n);
	assert_int_equal(sl_estimate_family_figures(&topology, n, &formula, NULL), SL_OK);
	if (!look_at(&topology, n, &real))
		fail_msg("not connected");
	expect_mu(&formula, &real);
	expect_whole(formula.degree_r_is, (double)formula.degree_r, (double)real.degree_r, 0, "deg r");
	expect_whole(formula.depth_is, (double)formula.depth, (double)real.depth,
		     fmax(2, 0.8 * (double)real.depth), "depth");
	if (topology.kind == SL_FAMILY_GEOMETRIC) {
		assert_true(fabs(formula.degree_mean - real.degree_mean) < 0.15 * real.degree_mean);
		return;
	}
	assert_true(fabs(formula.edges - real.edges) < 1e-6);
	assert_true(fabs(formula.degree_mean - real.degree_mean) < 1e-9);
	assert_true(formula.degree_most == real.degree_most);
}

TEST(families_of_all_sizes)
{
	static const char *const any[] = {"complete", "ring", "line", "star"};
	for (size_t i = 0; i < 4; i++)
		for (uint32_t n = i == 1 ? 3 : 2; n < 40; n++)
			expect_family(any[i], n);
	for (uint32_t n = 9; n < 60; n++)
		expect_family("grid", n);
}

TEST(lattices)
{
	for (uint32_t n = 7; n < 30; n++) {
		expect_family("nearest:4", n);
		expect_family("nearest:6", n);
	}
	expect_family("nearest:10", 100);
}

/* The paper's own among them: 40, 20 and 10 neighbours of 100. */
TEST(classes)
{
	expect_family("neighbours:40", 100);
	expect_family("neighbours:20", 100);
	expect_family("neighbours:10", 100);
	expect_family("neighbours:4", 12);
	expect_family("neighbours:4", 14);
	expect_family("neighbours:4", 16);
	expect_family("neighbours:2", 9);
	expect_family("neighbours:8", 12);
}

TEST(random_ones)
{
	expect_family("regular:3", 100);
	expect_family("regular:4", 400);
	expect_family("regular:10", 100);
	expect_family("regular:16", 500);
	expect_family("regular:2", 20);
	expect_family("regular:9", 10);
	expect_family("geometric:0.3", 100);
	expect_family("geometric:0.2", 300);
	expect_family("geometric:0.15", 500);
}

/* The formulas give the trees of the real forest, and the edges of the busiest learner in them. */
TEST(what_the_forest_asks)
{
	static const char *const any[] = {"complete", "ring", "line", "star"};
	struct sl_family topology;
	struct sl_estimate_figures formula, real;
	const char *why;
	for (size_t i = 0; i < 4; i++)
		for (uint32_t n = 3; n < 12; n++) {
			assert_int_equal(sl_family_parse(any[i], n, &topology, &why), SL_OK);
			assert_int_equal(sl_estimate_family_figures(&topology, n, &formula, NULL), SL_OK);
			assert_true(look_at(&topology, n, &real));
			assert_int_equal(formula.trees, real.trees);
			assert_true(formula.load == real.load || (i == 1 && formula.load >= real.load));
			assert_true(fabs(formula.bound - real.bound) < 0.01 * real.bound);
		}
}

TEST(what_has_no_figures)
{
	struct sl_family apart = {SL_FAMILY_GEOMETRIC, 0.01};
	struct sl_estimate_figures figures;
	struct sl_error error = {0};
	assert_false(look_at(&apart, 30, &figures));
	assert_int_equal(sl_estimate_family_figures(&apart, 30, &figures, &error), SL_ERR_INVALID);
	assert_non_null(strstr(error.text, "at least 0.18997 is needed"));
	apart.parameter = 0.1899;
	assert_int_equal(sl_estimate_family_figures(&apart, 30, &figures, &error), SL_ERR_INVALID);
	apart.parameter = 0.18997; /* sqrt(ln 30 / (30 pi)) */
	assert_int_equal(sl_estimate_family_figures(&apart, 30, &figures, &error), SL_OK);
}
