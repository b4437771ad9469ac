/* augment.h - the edges that a graph lacks for a given vertex connectivity (ROUND.md §7.9 Privacy check).
 */
#pragma once

#include "common/graph/graph.h"

/* Find edges whose addition raises the vertex connectivity to `target`: as few as possible for target 1 and
 * 2, above that a set of which none can be left out. Write *count of them to `edges`, a < b, sorted, none
 * present already; 0 when none is missing. The same graph and target always give the same edges.
 * SL_ERR_INVALID when n < target + 1 (no graph has it), SL_ERR_FULL when `capacity` is too small (target * n
 * is always enough, by Mader 1972), SL_ERR_NOMEM when scratch is too small. */
int sl_augment(const struct sl_graph *graph, uint32_t target, struct sl_edge *edges, size_t capacity,
	       size_t *count, struct sl_arena *scratch);
/* Return the bytes of scratch that sl_augment needs. */
size_t sl_augment_scratch(uint32_t n, uint32_t edges, uint32_t target);
