#include "tools/paper/step.h"

#include <stdlib.h>

#include "tools/topology/topology.h"

int sl_step_add(struct sl_schedule *schedule, const char *topology, uint64_t seed, struct sl_error *error)
{
	struct sl_topology_request request = {
		.text = topology, .learners = schedule->learners, .steps = 1, .seed = seed};
	struct sl_schedule one;
	int rc = sl_topology_schedule(&request, &one, error);
	if (rc != SL_OK)
		return rc;
	rc = sl_schedule_add(schedule, sl_schedule_edges(&one, 0), sl_schedule_count(&one, 0));
	sl_schedule_close(&one);
	return rc == SL_OK ? SL_OK : sl_err_set(error, rc, "%s", sl_err_text(rc));
}

int sl_step_graph_open(struct sl_step_graph *graph, const struct sl_schedule *schedule, uint32_t step)
{
	size_t edges = sl_schedule_count(schedule, step), bytes = 4096 + 64 * (edges + schedule->learners);
	struct sl_arena arena;
	graph->memory = malloc(bytes);
	if (graph->memory == NULL)
		return SL_ERR_NOMEM;
	sl_arena_init(&arena, graph->memory, bytes);
	return sl_graph_init(&graph->graph, schedule->learners, sl_schedule_edges(schedule, step), edges,
			     &arena);
}

int sl_step_graph_named(struct sl_step_graph *graph, const char *topology, uint32_t learners,
			struct sl_error *error)
{
	struct sl_schedule schedule;
	graph->memory = NULL;
	sl_schedule_init(&schedule, learners);
	int rc = sl_step_add(&schedule, topology, 1, error);
	if (rc == SL_OK && (rc = sl_step_graph_open(graph, &schedule, 0)) != SL_OK)
		sl_err_set(error, rc, "%s: %s", topology, sl_err_text(rc));
	sl_schedule_close(&schedule);
	return rc;
}

void sl_step_graph_close(struct sl_step_graph *graph)
{
	free(graph->memory);
	graph->memory = NULL;
}
