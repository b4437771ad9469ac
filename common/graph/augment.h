/* augment.h - which edges a graph lacks to bear more colluders (protocol 5 GATE). */
#pragma once

#include "common/graph/graph.h"

/* Edges to add so that the vertex connectivity reaches `target`: as few as possible for target 1 and 2, for
 * larger ones a set of which none can be left out. *count of them into `edges`, a < b, sorted, none present
 * already; 0 when nothing is missing. The same graph and target always give the same edges. SL_ERR_INVALID
 * when n < target + 1 (no graph would do), SL_ERR_FULL when `capacity` is short (target * n is always enough,
 * by Mader 1972), SL_ERR_NOMEM when scratch is. */
int sl_augment(const struct sl_graph *graph, uint32_t target, struct sl_edge *edges, size_t capacity,
	       size_t *count, struct sl_arena *scratch);
size_t sl_augment_scratch(uint32_t n, uint32_t edges, uint32_t target);
