#include "test/graph/graphs.h"
#include "test/lib/test.h"

#include "common/graph/connectivity.h"
#include "common/graph/disjoint_paths.h"

static uint32_t mask_of(const uint32_t *vertices, uint32_t count)
{
	uint32_t mask = 0;
	for (uint32_t i = 0; i < count; i++) {
		assert_true(i == 0 || vertices[i] > vertices[i - 1]);
		mask |= 1u << vertices[i];
	}
	return mask;
}

/* The answer for one limit, and that the cut parts the graph. */
static void expect_kappa(const struct brute *b, const struct sl_graph *graph, uint32_t limit, uint32_t want)
{
	uint32_t cut[BRUTE_MOST + 1], kappa = SL_LEARNERS_MAX;
	memset(cut, 0xee, sizeof cut);
	assert_int_equal(sl_connectivity(graph, limit, &kappa, cut, &arena), SL_OK);
	assert_int_equal(kappa, want < limit ? want : limit);
	assert_int_equal(cut[limit], 0xeeeeeeee); /* no more than was asked for */
	if (kappa < limit && graph->n > 1 && graph->edges < pairs_of(graph->n))
		assert_true(brute_components(b, mask_of(cut, kappa)) > 1);
	kappa = SL_LEARNERS_MAX;
	assert_int_equal(sl_connectivity(graph, limit, &kappa, NULL, &arena), SL_OK);
	assert_int_equal(kappa, want < limit ? want : limit);
}

static void expect_cut_vertices(const struct brute *b, const struct sl_graph *graph)
{
	uint32_t vertices[BRUTE_MOST], count, want = 0, whole = brute_components(b, 0);
	for (uint32_t v = 0; v < b->n; v++)
		want |= (uint32_t)(brute_components(b, 1u << v) > whole) << v;
	assert_int_equal(sl_connectivity_articulation(graph, vertices, &count, &arena), SL_OK);
	assert_int_equal(mask_of(vertices, count), want);
	assert_int_equal(count, __builtin_popcount(want));
}

static void check(const struct brute *b, uint32_t limits)
{
	uint32_t kappa = brute_kappa(b);
	struct sl_graph graph = graph_of_brute(b);
	size_t used = sl_arena_mark(&arena);
	for (uint32_t limit = 0; limit <= limits; limit++)
		expect_kappa(b, &graph, limit, kappa);
	expect_cut_vertices(b, &graph);
	assert_int_equal(sl_arena_mark(&arena), used);
}

TEST_SETUP(open_arena, close_arena)

TEST(every_graph_up_to_six)
{
	for (uint32_t n = 0; n <= 6; n++) {
		for (uint64_t g = 0; g < graphs_on(n); g++) {
			struct brute b = brute_numbered(n, g);
			check(&b, n + 1);
		}
	}
}

TEST(random_graphs)
{
	uint64_t seed = 10;
	for (int round = 0; round < 600; round++) {
		uint32_t n = 7 + (uint32_t)(any64(&seed) % 5);
		struct brute b = brute_random(n, 15 + (uint32_t)(any64(&seed) % 80), &seed);
		check(&b, n);
		uint32_t hinge = (uint32_t)(any64(&seed) % 5);
		b = brute_hinged(n + 3 + n % 5, hinge, 60 + (uint32_t)(any64(&seed) % 41), &seed);
		check(&b, 6);
	}
}

/* Put the vertices in the order of ROUND.md §7.9 Privacy check, "Which cut", step 1. */
static void put_in_order(const struct brute *b, uint32_t k, uint32_t *order)
{
	uint32_t number[BRUTE_MOST] = {0}, changed[BRUTE_MOST] = {0}, changes = 0, done = 0;
	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t next = BRUTE_MOST;
		for (uint32_t v = 0; v < b->n; v++)
			if (!(done >> v & 1) && (next == BRUTE_MOST || number[v] > number[next] ||
						 (number[v] == number[next] && changed[v] > changed[next])))
				next = v;
		order[i] = next;
		done |= 1u << next;
		for (uint32_t u = 0; u < b->n; u++)
			if (brute_has(b, next, u) && !(done >> u & 1) && number[u] < k) {
				number[u]++;
				changed[u] = ++changes;
			}
	}
}

/* Return the smallest set without the vertices of `kept` that every path from `v` to `ends` meets; of
 * several, the one that leaves the fewest vertices connected to v. 0: every such set has `bound` vertices or
 * more. */
static uint32_t nearest_cut(const struct brute *b, uint32_t v, uint32_t ends, uint32_t kept, uint32_t bound)
{
	uint32_t best = 0;
	int fewest = BRUTE_MOST + 1;
	for (uint32_t size = 1; size < bound && best == 0; size++)
		for (uint32_t set = (1u << size) - 1; set >> b->n == 0; set = brute_next(set)) {
			uint32_t reached = brute_reach(b, v, set);
			if ((set & kept) == 0 && (reached & ends) == 0 &&
			    __builtin_popcount(reached) < fewest) {
				fewest = __builtin_popcount(reached);
				best = set;
			}
		}
	return best;
}

/* Return the cut of a connected graph whose degrees are k at least, by the steps 2 to 4. 0: none is below k.
 */
static uint32_t cut_by_rule(const struct brute *b, uint32_t k)
{
	uint32_t order[BRUTE_MOST], cut = 0, bound = k, before = 0;
	put_in_order(b, k, order);
	for (uint32_t r = 0; r < b->n; before |= 1u << order[r++])
		for (uint32_t i = 0, v = order[r]; r > 0 && i < (r < bound ? r : 1); i++) {
			uint32_t w = order[i], found = 0;
			if (r >= bound)
				found = nearest_cut(b, v, before, 1u << v, bound);
			else if (!brute_has(b, v, w))
				found = nearest_cut(b, v, 1u << w, 1u << v | 1u << w, bound);
			if (found != 0) {
				cut = found;
				bound = (uint32_t)__builtin_popcount(found);
			}
		}
	return cut;
}

static bool may_be_pruned(const struct brute *b, uint32_t k)
{
	for (uint32_t v = 0; v < b->n; v++)
		if ((uint32_t)__builtin_popcount(b->adjacent[v]) < k)
			return false;
	return brute_components(b, 0) == 1;
}

/* Two dense parts, and few edges between them. */
static struct brute two_parts(uint32_t n, uint64_t *seed)
{
	struct brute b = {.n = n};
	uint32_t part = (uint32_t)any64(seed), few = 8 + (uint32_t)(any64(seed) % 14);
	for (uint32_t u = 0; u < n; u++)
		for (uint32_t v = u + 1; v < n; v++)
			if (any64(seed) % 100 < ((part >> u & 1) == (part >> v & 1) ? 90 : few))
				brute_join(&b, u, v);
	return b;
}

TEST(the_cut_is_the_one_of_the_protocol)
{
	uint64_t seed = 11;
	uint32_t cuts = 0;
	for (int round = 0; round < 12000; round++) {
		uint32_t n = 5 + (uint32_t)(any64(&seed) % 7), k = 2 + (uint32_t)(any64(&seed) % 3);
		struct brute b = two_parts(n, &seed);
		if (!may_be_pruned(&b, k))
			continue;
		struct sl_graph graph = graph_of_brute(&b);
		uint32_t cut[BRUTE_MOST], kappa, want = cut_by_rule(&b, k);
		assert_int_equal(sl_connectivity(&graph, k, &kappa, cut, &arena), SL_OK);
		assert_int_equal(kappa, want != 0 ? (uint32_t)__builtin_popcount(want) : k);
		if (want == 0)
			continue;
		assert_int_equal(mask_of(cut, kappa), want);
		cuts++;
	}
	assert_true(cuts > 1000);
}

/* The fewest vertices without which `from` does not reach `to`. */
static uint32_t least_between(const struct brute *b, uint32_t from, uint32_t to)
{
	for (uint32_t size = 1; brute_reach(b, from, 0) >> to & 1; size++)
		for (uint32_t gone = (1u << size) - 1; gone >> b->n == 0; gone = brute_next(gone))
			if (!(gone >> from & 1) && !(gone >> to & 1) &&
			    !(brute_reach(b, from, gone) >> to & 1))
				return size;
	return 0;
}

static void expect_paths(const struct brute *b, uint32_t to)
{
	uint32_t cut[BRUTE_MOST], n = b->n;
	struct sl_sparse_certificate sparse;
	struct sl_disjoint_paths disjoint;
	struct sl_graph graph = graph_of_brute(b);
	assert_int_equal(sl_sparse_certificate_init(&sparse, &graph, n, 0, &arena), SL_OK);
	assert_int_equal(sl_disjoint_paths_init(&disjoint, n, &arena), SL_OK);
	uint32_t paths = sl_disjoint_paths_pair(&disjoint, &sparse, 0, to, n);
	assert_int_equal(paths, least_between(b, 0, to));
	sl_disjoint_paths_cut(&disjoint, &sparse, cut);
	assert_false(brute_reach(b, 0, mask_of(cut, paths)) >> to & 1);
	assert_int_equal(sl_disjoint_paths_pair(&disjoint, &sparse, 0, to, 2), paths < 2 ? paths : 2);
}

TEST(paths_are_as_many_as_their_cut)
{
	uint64_t seed = 14;
	for (int round = 0; round < 400; round++) {
		uint32_t n = 8 + (uint32_t)(any64(&seed) % 7);
		struct brute b = brute_hinged(n, n / 2, 30 + (uint32_t)(any64(&seed) % 60), &seed);
		for (uint32_t to = 1; to < n; to++)
			if (!brute_has(&b, 0, to))
				expect_paths(&b, to);
	}
}

/* The smallest found, among millions, in which a vertex that a path gave up must serve another. */
TEST(a_vertex_given_up_is_free)
{
	const struct sl_edge edges[] = {{0, 11}, {0, 12}, {0, 16},  {1, 6},   {1, 14},	{1, 17},
					{3, 9},	 {3, 12}, {5, 14},  {5, 15},  {6, 11},	{7, 12},
					{7, 13}, {9, 17}, {12, 14}, {12, 15}, {13, 17}, {15, 16}};
	struct brute b = {.n = 18};
	for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
		brute_join(&b, edges[e].a, edges[e].b);
	expect_paths(&b, 17);
}

static uint32_t kappa_of(const struct sl_graph *graph, uint32_t limit)
{
	uint32_t kappa = SL_LEARNERS_MAX;
	assert_int_equal(sl_connectivity(graph, limit, &kappa, NULL, &arena), SL_OK);
	return kappa;
}

TEST(closed_forms)
{
	const struct {
		const char *topology;
		uint32_t n, kappa;
	} cases[] = {
		{"star", 100, 1},     {"line", 100, 1},		  {"ring", 100, 2},
		{"nearest:6", 60, 6}, {"neighbours:20", 100, 20}, {"neighbours:40", 100, 40},
		{"grid", 100, 2},     {"complete", 40, 39},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sl_graph graph = graph_of(cases[i].topology, cases[i].n);
		for (uint32_t limit = 0; limit <= 5; limit++)
			assert_int_equal(kappa_of(&graph, limit),
					 limit < cases[i].kappa ? limit : cases[i].kappa);
		assert_int_equal(kappa_of(&graph, cases[i].n), cases[i].kappa);
	}
}

TEST(as_many_as_may_be)
{
	uint32_t vertices[SL_LEARNERS_MAX], count;
	struct sl_graph graph = graph_of("complete", SL_LEARNERS_MAX);
	assert_int_equal(kappa_of(&graph, SL_LEARNERS_MAX), SL_LEARNERS_MAX - 1);
	graph = graph_of("nearest:1000", SL_LEARNERS_MAX);
	assert_int_equal(kappa_of(&graph, 4), 4);
	graph = graph_of("ring", SL_LEARNERS_MAX);
	assert_int_equal(kappa_of(&graph, 4), 2);
	graph = graph_of("line", SL_LEARNERS_MAX);
	assert_int_equal(kappa_of(&graph, 4), 1);
	assert_int_equal(sl_connectivity_articulation(&graph, vertices, &count, &arena), SL_OK);
	assert_int_equal(count, SL_LEARNERS_MAX - 2);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(vertices[i], i + 1);
}

TEST(needs_its_scratch)
{
	struct sl_graph graph = graph_of("grid", 60);
	struct sl_arena tight = {.base = arena.base + arena.used + 1, /* misaligned on purpose */
				 .size = sl_connectivity_scratch(60, graph.edges)};
	uint32_t kappa, count, vertices[60];
	assert_int_equal(sl_connectivity(&graph, 4, &kappa, NULL, &tight), SL_OK);
	assert_int_equal(sl_connectivity_articulation(&graph, vertices, &count, &tight), SL_OK);
	assert_true(kappa == 2 && count == 0);
	tight.size /= 2;
	assert_int_equal(sl_connectivity(&graph, 4, &kappa, NULL, &tight), SL_ERR_NOMEM);
	assert_int_equal(sl_connectivity_articulation(&graph, vertices, &count, &tight), SL_ERR_NOMEM);
	assert_int_equal(tight.used, 0);
}
