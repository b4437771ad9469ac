/* prune.h - the part of a graph that is connected well enough (ROUND.md §7.9 Privacy check). */
#pragma once

#include "common/graph/graph.h"

/* Choose vertices whose induced subgraph has vertex connectivity of at least `target`, and remove the others:
 * vertices of degree below `target`, again and again; then, while a cut of fewer than `target` vertices
 * remains, all but this cut and the largest component that it leaves (of equal ones that with the smallest
 * vertex). Write the vertices that are left to `kept`, a bit set over n; return their number in `count`: 0 if
 * fewer than `least` would be left. SL_ERR_NOMEM when scratch is too small. */
int sl_prune(const struct sl_graph *graph, uint32_t target, uint32_t least, uint64_t *kept, uint32_t *count,
	     struct sl_arena *scratch);
/* Return the bytes of scratch that sl_prune needs. */
size_t sl_prune_scratch(uint32_t n, uint32_t edges);
