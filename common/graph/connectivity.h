/* connectivity.h - vertex connectivity, smallest cuts and cut vertices (ROUND.md §7.9 Privacy check). */
#pragma once

#include "common/graph/graph.h"

/* Compute min(kappa(G), limit), kappa = vertex connectivity; n-1 for a complete graph, 0 when not connected
 * or n <= 1. Below limit and for a graph that is not complete, `cut` (room for `limit` vertices; may be NULL)
 * gets a smallest separating set, ascending, of exactly kappa vertices. SL_ERR_NOMEM when scratch is too
 * small. Made for small limits: tens of ms at most for n = SL_LEARNERS_MAX and limit 4, but minutes for 200.
 */
int sl_connectivity(const struct sl_graph *graph, uint32_t limit, uint32_t *kappa, uint32_t *cut,
		    struct sl_arena *scratch);
/* Return the bytes of scratch for both functions here. min(edges, limit * n) is enough as edges, 2 n for
 * sl_connectivity_articulation. */
size_t sl_connectivity_scratch(uint32_t n, uint32_t edges);

/* Write the cut vertices (articulation points) of every component, ascending, to `vertices` (room for n). */
int sl_connectivity_articulation(const struct sl_graph *graph, uint32_t *vertices, uint32_t *count,
				 struct sl_arena *scratch);
