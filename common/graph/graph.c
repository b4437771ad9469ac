#include "common/graph/graph.h"

#include <string.h>

/* Count neighbours in start[v+1] and sum up: start[v] is where the list of v begins. */
static void place_lists(uint32_t *start, uint32_t n, const struct sl_edge *edges, size_t count)
{
	for (size_t e = 0; e < count; e++) {
		start[edges[e].a + 1]++;
		start[edges[e].b + 1]++;
	}
	for (uint32_t v = 0; v < n; v++)
		start[v + 1] += start[v];
}

/* Sort all lists: visit the vertices in order and append each to the lists of its neighbours. */
static void sort_lists(const uint32_t *start, const uint32_t *unsorted, uint32_t *fill, uint32_t n,
		       uint32_t *adjacent)
{
	memcpy(fill, start, n * sizeof *fill);
	for (uint32_t v = 0; v < n; v++)
		for (uint32_t k = start[v]; k < start[v + 1]; k++)
			adjacent[fill[unsorted[k]]++] = v;
}

static void drop_duplicates(uint32_t *start, uint32_t *adjacent, uint32_t n)
{
	uint32_t kept = 0, from = 0;
	for (uint32_t v = 0; v < n; v++) {
		uint32_t first = kept, to = start[v + 1];
		for (uint32_t k = from; k < to; k++)
			if (kept == first || adjacent[kept - 1] != adjacent[k])
				adjacent[kept++] = adjacent[k];
		from = to;
		start[v + 1] = kept;
	}
}

static int check_edges(uint32_t n, const struct sl_edge *edges, size_t count)
{
	if (count > UINT32_MAX / 2 || n == UINT32_MAX)
		return SL_ERR_RANGE;
	for (size_t e = 0; e < count; e++) {
		if (edges[e].a >= n || edges[e].b >= n)
			return SL_ERR_RANGE;
		if (edges[e].a == edges[e].b)
			return SL_ERR_INVALID;
	}
	return SL_OK;
}

int sl_graph_init(struct sl_graph *graph, uint32_t n, const struct sl_edge *edges, size_t count,
		  struct sl_arena *arena)
{
	int err = check_edges(n, edges, count);
	if (err != SL_OK)
		return err;
	size_t before = sl_arena_mark(arena);
	uint32_t *start = SL_ARENA_TAKE(arena, (size_t)n + 1, uint32_t);
	uint32_t *adjacent = SL_ARENA_TAKE(arena, 2 * count, uint32_t);
	size_t mark = sl_arena_mark(arena);
	uint32_t *unsorted = SL_ARENA_TAKE(arena, 2 * count, uint32_t);
	uint32_t *fill = SL_ARENA_TAKE(arena, (size_t)n + 1, uint32_t);
	if (start == NULL || adjacent == NULL || unsorted == NULL || fill == NULL) {
		sl_arena_reset(arena, before);
		return SL_ERR_NOMEM;
	}
	place_lists(start, n, edges, count);
	memcpy(fill, start, n * sizeof *fill);
	for (size_t e = 0; e < count; e++) {
		unsorted[fill[edges[e].a]++] = edges[e].b;
		unsorted[fill[edges[e].b]++] = edges[e].a;
	}
	sort_lists(start, unsorted, fill, n, adjacent);
	drop_duplicates(start, adjacent, n);
	sl_arena_reset(arena, mark);
	*graph = (struct sl_graph){.n = n, .edges = start[n] / 2, .start = start, .adjacent = adjacent};
	return SL_OK;
}

bool sl_graph_adjacent(const struct sl_graph *graph, uint32_t a, uint32_t b)
{
	const uint32_t *neighbours = sl_graph_neighbours(graph, a);
	uint32_t low = 0, high = sl_graph_degree(graph, a);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (neighbours[middle] < b)
			low = middle + 1;
		else
			high = middle;
	}
	return low < sl_graph_degree(graph, a) && neighbours[low] == b;
}

uint32_t sl_graph_degree_min(const struct sl_graph *graph)
{
	uint32_t least = graph->n == 0 ? 0 : UINT32_MAX;
	for (uint32_t v = 0; v < graph->n; v++)
		if (sl_graph_degree(graph, v) < least)
			least = sl_graph_degree(graph, v);
	return least;
}

uint32_t sl_graph_degree_max(const struct sl_graph *graph)
{
	uint32_t most = 0;
	for (uint32_t v = 0; v < graph->n; v++)
		if (sl_graph_degree(graph, v) > most)
			most = sl_graph_degree(graph, v);
	return most;
}

uint32_t sl_graph_component(const struct sl_graph *graph, uint32_t v, uint32_t label, const bool *out,
			    uint32_t *component, uint32_t *members)
{
	uint32_t count = 1;
	members[0] = v;
	component[v] = label;
	for (uint32_t at = 0; at < count; at++) {
		const uint32_t *neighbours = sl_graph_neighbours(graph, members[at]);
		for (uint32_t k = 0; k < sl_graph_degree(graph, members[at]); k++) {
			uint32_t u = neighbours[k];
			if (component[u] != UINT32_MAX || (out != NULL && out[u]))
				continue;
			component[u] = label;
			members[count++] = u;
		}
	}
	return count;
}

uint32_t sl_graph_components(const struct sl_graph *graph, uint32_t *component, struct sl_arena *scratch)
{
	size_t mark = sl_arena_mark(scratch);
	uint32_t components = 0;
	uint32_t *members = SL_ARENA_TAKE(scratch, graph->n, uint32_t);
	if (component == NULL)
		component = SL_ARENA_TAKE(scratch, graph->n, uint32_t);
	if (members != NULL && component != NULL) {
		memset(component, 0xff, graph->n * sizeof *component);
		for (uint32_t v = 0; v < graph->n; v++)
			if (component[v] == UINT32_MAX)
				sl_graph_component(graph, v, components++, NULL, component, members);
	}
	sl_arena_reset(scratch, mark);
	return components;
}
