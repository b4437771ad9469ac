#include "test/graph/graphs.h"
#include "test/lib/test.h"

#include <stdio.h>

#include "common/graph/generate.h"

#define EDGES_MOST (1000 * 999 / 2)

static struct sl_edge edges[EDGES_MOST], again[EDGES_MOST];
static size_t count;
static struct sl_graph graph;

/* The graph of step `step`, sorted edges a < b checked. */
static void generate(const char *text, uint32_t n, uint64_t seed, uint32_t step)
{
	struct sl_family topology;
	const char *error;
	sl_arena_reset(&arena, 0);
	if (sl_family_parse(text, n, &topology, &error) != SL_OK)
		fail_msg("%s on %u: %s", text, n, error);
	assert_null(error);
	assert_int_equal(sl_generate(&topology, n, seed, step, edges, EDGES_MOST, &count, &arena), SL_OK);
	assert_int_equal(arena.used, 0);
	for (size_t e = 0; e < count; e++) {
		assert_true(edges[e].a < edges[e].b && edges[e].b < n);
		assert_true(e == 0 || edges[e - 1].a < edges[e].a ||
			    (edges[e - 1].a == edges[e].a && edges[e - 1].b < edges[e].b));
	}
	assert_int_equal(sl_graph_init(&graph, n, edges, count, &arena), SL_OK);
}

static void expect(uint32_t edge_count, uint32_t least, uint32_t most)
{
	assert_int_equal(count, edge_count);
	assert_int_equal(sl_graph_degree_min(&graph), least);
	assert_int_equal(sl_graph_degree_max(&graph), most);
	assert_int_equal(sl_graph_components(&graph, NULL, &arena), 1);
}

TEST_SETUP(open_arena, close_arena)

TEST(families_by_a_rule)
{
	static const struct {
		const char *text;
		uint32_t n, edges, least, most;
	} cases[] = {
		{"complete", 10, 45, 9, 9},
		{"ring", 10, 10, 2, 2},
		{"ring", 2, 1, 1, 1},
		{"line", 10, 9, 1, 2},
		{"star", 10, 9, 1, 9},
		{"grid", 9, 12, 2, 4},
		{"grid", 8, 10, 2, 4}, /* the last row is short: 3 + 3 + 2 */
		{"grid", 5, 5, 1, 3},
		{"nearest", 10, 20, 4, 4},
		{"nearest:6", 7, 21, 6, 6},
		{"neighbours:40", 100, 2000, 40, 40},
		{"neighbours:20", 100, 1000, 20, 20},
		{"neighbours", 100, 1000, 20, 20},
		{"neighbours:10", 100, 500, 10, 10},
		{"regular", 2, 1, 1, 1},
		{"regular", 3, 3, 2, 2},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		generate(cases[i].text, cases[i].n, 0, 0);
		expect(cases[i].edges, cases[i].least, cases[i].most);
	}
	generate("star", 10, 0, 0);
	assert_int_equal(sl_graph_degree(&graph, 0), 9);
	for (uint32_t n = 2; n < 60; n++) { /* the default always exists and is connected */
		generate("neighbours", n, 0, 0);
		assert_int_equal(sl_graph_components(&graph, NULL, &arena), 1);
	}
}

static void one_regular(uint32_t n, uint32_t d)
{
	char text[32];
	snprintf(text, sizeof text, "regular:%u", d);
	for (uint32_t step = 0; step < 3; step++) {
		generate(text, n, 11, step);
		expect(n * d / 2, d, d);
	}
}

TEST(regular)
{
	for (uint32_t n = 3; n <= 12; n++)
		for (uint32_t d = 2; d < n; d++)
			if (n * d % 2 == 0)
				one_regular(n, d);
	one_regular(100, 20);
	one_regular(100, 3);
	one_regular(100, 97);
	one_regular(1000, 10);
	one_regular(1000, 2);
	for (uint32_t step = 0; step < 5000; step++) { /* two separate tetrahedra turn up once in 553 */
		generate("regular:3", 8, 1, step);
		expect(12, 3, 3);
	}
}

/* The circulant it starts from has 4-cycles everywhere; after the switches few edges are short. */
TEST(regular_is_random)
{
	size_t near = 0;
	generate("regular:4", 1000, 5, 0);
	for (size_t e = 0; e < count; e++)
		near += edges[e].b - edges[e].a <= 2 || edges[e].b - edges[e].a >= 998;
	assert_true(near < 40);
}

TEST(steps_and_seeds)
{
	static const char *const drawn[] = {"regular:4", "geometric:0.3", "regular:2"};
	for (size_t i = 0; i < 3; i++) {
		const uint64_t seeds[] = {1, 1, 2, 1};
		const uint32_t steps[] = {4, 4, 4, 5};
		size_t first = 0;
		for (size_t k = 0; k < 4; k++) {
			generate(drawn[i], 50, seeds[k], steps[k]);
			if (k == 0)
				memcpy(again, edges, (first = count) * sizeof *edges);
			bool same = count == first && memcmp(again, edges, count * sizeof *edges) == 0;
			assert_int_equal(
				same, k < 2); /* the same again; another seed, another step: another graph */
		}
	}
}

TEST(geometric_moves_a_little)
{
	size_t common = 0, first;
	generate("geometric:0.35", 60, 3, 10);
	memcpy(again, edges, (first = count) * sizeof *edges);
	assert_in_range(count, 300, 1000); /* pi r^2 / 1 of 1770 pairs is 681, less at the borders */
	generate("geometric:0.35", 60, 3, 11);
	for (size_t a = 0; a < count; a++)
		for (size_t b = 0; b < first; b++)
			common += edges[a].a == again[b].a && edges[a].b == again[b].b;
	assert_true(common > first / 2 && common < first);
	generate("geometric:1.5", 30, 3, 7);
	assert_int_equal(count, 30 * 29 / 2);
}

static void refused(const char *text, uint32_t n)
{
	struct sl_family topology;
	const char *error = NULL;
	if (sl_family_parse(text, n, &topology, &error) != SL_ERR_INVALID || error == NULL)
		fail_msg("%s on %u was not refused", text, n);
}

TEST(refusals)
{
	static const char *const never[] = {"",
					    "rings",
					    "ring:3",
					    "regular:",
					    "regular:4x",
					    "regular:-2",
					    "nearest:3",
					    "nearest:2.5",
					    "regular:1",
					    "regular:10",
					    "nearest:10",
					    "nearest:0",
					    "neighbours:7",
					    "geometric:0",
					    "geometric:.",
					    "geometric:1.2.3",
					    "regular:nan",
					    "neighbours:0",
					    "neighbours:20",
					    "geometric:3"};
	for (size_t i = 0; i < sizeof never / sizeof *never; i++)
		refused(never[i], 10);
	refused("regular:3", 9);
	refused("complete", 1);
	refused("nearest", 2);
	struct sl_family topology = {SL_FAMILY_REGULAR, 3};
	assert_int_equal(sl_generate(&topology, 9, 0, 0, edges, EDGES_MOST, &count, &arena), SL_ERR_INVALID);
	topology.kind = SL_FAMILY_COMPLETE;
	assert_int_equal(sl_generate(&topology, 10, 0, 0, edges, 44, &count, &arena), SL_ERR_FULL);
	topology = (struct sl_family){SL_FAMILY_REGULAR, 4};
	struct sl_arena tiny = {.base = arena.base, .size = 256};
	assert_int_equal(sl_generate(&topology, 100, 0, 0, edges, EDGES_MOST, &count, &tiny), SL_ERR_NOMEM);
	size_t lines = 0;
	while (sl_family_help()[lines] != NULL)
		lines++;
	assert_int_equal(lines, SL_FAMILY_GEOMETRIC + 1);
}
