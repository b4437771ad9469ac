/* connectivity.h - how many learners may collude, and who holds a graph together (protocol 4 F2, 5 GATE). */
#pragma once

#include "common/graph/graph.h"

/* min(kappa(G), limit), kappa = vertex connectivity; n-1 for a complete graph, 0 when not connected or n
 * <= 1. When the answer is below limit and the graph is not complete, `cut` (room for `limit` vertices) gets
 * a smallest separating set, ascending, of exactly kappa vertices; it may be NULL. SL_ERR_NOMEM when scratch
 * is too small. For the few colluders of a gate: tens of ms at most for n = SL_LEARNERS_MAX and limit 4, but
 * minutes for 200. */
int sl_connectivity(const struct sl_graph *graph, uint32_t limit, uint32_t *kappa, uint32_t *cut,
		    struct sl_arena *scratch);
/* Bytes of scratch for either function here. min(edges, limit * n) will do as edges, 2 n for
 * sl_connectivity_articulation. */
size_t sl_connectivity_scratch(uint32_t n, uint32_t edges);

/* Cut vertices (articulation points) of every component, ascending, into `vertices` (room for n); *count of
 * them. */
int sl_connectivity_articulation(const struct sl_graph *graph, uint32_t *vertices, uint32_t *count,
				 struct sl_arena *scratch);
