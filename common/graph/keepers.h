/* keepers.h - which neighbour keeps the deposit of each learner (ROUND.md §5.6 Deposits). */
#pragma once

#include "common/graph/graph.h"

/* Write to keeper[v] a neighbour of every vertex, so that the largest number of vertices with the same keeper
 * is as small as possible; preferred is the next neighbour in cyclic order. A vertex without neighbours gets
 * itself. SL_ERR_NOMEM when scratch is too small. */
int sl_keepers_choose(const struct sl_graph *graph, uint32_t *keeper, struct sl_arena *scratch);
/* Return the bytes of scratch that sl_keepers_choose needs. */
size_t sl_keepers_scratch(uint32_t n);
