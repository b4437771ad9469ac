/* schedule_graph.h - the graph of one step of a schedule, and memory that is enough for any step. */
#pragma once

#include "tools/lib/schedule.h"

/* Edges of the step that has most. */
static inline uint32_t sl_schedule_graph_edges_most(const struct sl_schedule *schedule)
{
	size_t most = 0;
	for (uint32_t s = 0; s < schedule->steps; s++)
		if (sl_schedule_count(schedule, s) > most)
			most = sl_schedule_count(schedule, s);
	return (uint32_t)most;
}

/* Bytes for a graph and a few lists of its vertices. */
static inline size_t sl_schedule_graph_bytes(uint32_t n, uint32_t edges)
{
	return 8192 + 64 * (size_t)n + 24 * (size_t)edges;
}

static inline int sl_schedule_graph(const struct sl_schedule *schedule, uint32_t step, struct sl_graph *graph,
				    struct sl_arena *arena)
{
	return sl_graph_init(graph, schedule->learners, sl_schedule_edges(schedule, step),
			     sl_schedule_count(schedule, step), arena);
}
