/* graph.h - an undirected simple graph over vertices 0..n-1, as sorted neighbour lists. Lives in an arena. */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"

struct sl_edge {
	uint32_t a, b; /* vertices, either order */
};

struct sl_graph {
	uint32_t n;
	uint32_t edges;
	uint32_t
		*start; /* n+1; neighbours of v are adjacent[start[v]] .. adjacent[start[v+1]-1], ascending */
	uint32_t *adjacent;
};

/* Build the graph of `count` edges; duplicates (either order) count once. SL_ERR_INVALID for a loop,
 * SL_ERR_RANGE for a vertex >= n, SL_ERR_NOMEM. */
int sl_graph_init(struct sl_graph *graph, uint32_t n, const struct sl_edge *edges, size_t count,
		  struct sl_arena *arena);

static inline uint32_t sl_graph_degree(const struct sl_graph *g, uint32_t v)
{
	return g->start[v + 1] - g->start[v];
}
static inline const uint32_t *sl_graph_neighbours(const struct sl_graph *g, uint32_t v)
{
	return g->adjacent + g->start[v];
}
/* Return whether there is an edge a-b; by bisection. */
bool sl_graph_adjacent(const struct sl_graph *graph, uint32_t a, uint32_t b);
uint32_t sl_graph_degree_min(const struct sl_graph *graph);
uint32_t sl_graph_degree_max(const struct sl_graph *graph);

/* Return the number of components, 0 if the arena is too small. component[v], from 0, if not NULL (n
 * entries). Works in up to 2 n words of the arena, and gives them back. */
uint32_t sl_graph_components(const struct sl_graph *graph, uint32_t *component, struct sl_arena *scratch);

/* Label `v` and every vertex that it reaches around the vertices in `out` (NULL: none), and list them in
 * `members` (room for n). component[] is UINT32_MAX at vertices without a label. Return the number of
 * members. */
uint32_t sl_graph_component(const struct sl_graph *graph, uint32_t v, uint32_t label, const bool *out,
			    uint32_t *component, uint32_t *members);

/* Return the divisor max(|N_i|, |N_j|) + 1 of the Metropolis-Hastings weight (paper eq. Metropolis-Hastings).
 */
static inline uint32_t sl_graph_metropolis(const struct sl_graph *g, uint32_t i, uint32_t j)
{
	uint32_t a = sl_graph_degree(g, i), b = sl_graph_degree(g, j);
	return (a > b ? a : b) + 1;
}
