#include "test/graph/graphs.h"

#include "common/graph/generate.h"

#define ARENA_BYTES ((size_t)192 << 20) /* all pairs of 2000 vertices, the graph, and work */

struct sl_arena arena;

int open_arena(void **state)
{
	(void)state;
	arena = arena_of(ARENA_BYTES);
	return 0;
}

int close_arena(void **state)
{
	(void)state;
	arena_free(&arena);
	return 0;
}

struct sl_graph graph_in(struct sl_arena *own, const char *topology, uint32_t n)
{
	struct sl_family parsed;
	struct sl_graph graph;
	const char *error;
	size_t count, room = pairs_of(n);
	struct sl_edge *edges = SL_ARENA_TAKE(own, room, struct sl_edge);
	assert_int_equal(sl_family_parse(topology, n, &parsed, &error), SL_OK);
	assert_int_equal(sl_generate(&parsed, n, 1, 0, edges, room, &count, own), SL_OK);
	assert_int_equal(sl_graph_init(&graph, n, edges, count, own), SL_OK);
	return graph;
}

struct sl_graph graph_of(const char *topology, uint32_t n)
{
	sl_arena_reset(&arena, 0);
	return graph_in(&arena, topology, n);
}

struct sl_graph graph_of_edges(uint32_t n, const struct sl_edge *edges, size_t count)
{
	struct sl_graph graph;
	sl_arena_reset(&arena, 0);
	assert_int_equal(sl_graph_init(&graph, n, edges, count, &arena), SL_OK);
	return graph;
}

struct sl_graph graph_of_brute(const struct brute *b)
{
	struct sl_edge edges[BRUTE_MOST * BRUTE_MOST / 2];
	return graph_of_edges(b->n, edges, brute_edges(b, edges));
}

struct sl_graph graph_of_number(uint32_t n, uint64_t number)
{
	struct brute b = brute_numbered(n, number);
	return graph_of_brute(&b);
}

struct sl_edge any_edge(uint32_t n, uint64_t *seed)
{
	uint32_t a = (uint32_t)(any64(seed) % n), b = (uint32_t)(any64(seed) % (n - 1));
	return (struct sl_edge){a, b < a ? b : b + 1};
}
