/* step.h - the graphs of a part of the report: steps of a schedule, by name. */
#pragma once

#include "tools/lib/schedule.h"

/* Adds the step that "regular:40" or "star" names. */
int sl_step_add(struct sl_schedule *schedule, const char *topology, uint64_t seed, struct sl_error *error);

/* A step as a graph; to close. */
struct sl_step_graph {
	struct sl_graph graph;
	void *memory;
};
int sl_step_graph_open(struct sl_step_graph *graph, const struct sl_schedule *schedule, uint32_t step);
/* The graph that "regular:40" or "star" names. */
int sl_step_graph_named(struct sl_step_graph *graph, const char *topology, uint32_t learners,
			struct sl_error *error);
void sl_step_graph_close(struct sl_step_graph *graph);
