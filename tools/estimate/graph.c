#include "tools/estimate/graph.h"

#include <stdlib.h>

#include "common/graph/forest.h"
#include "common/mixing/analysis.h"

int sl_estimate_graph_figures(const struct sl_graph *graph, const struct sl_field *field, uint64_t elements,
			      struct sl_estimate_figures *figures)
{
	const struct sl_analysis_request request = {
		.engines = SL_ENGINE_SET_ALL, .field = field, .trees = sl_engine_trees_most(elements)};
	struct sl_analysis a;
	struct sl_arena arena;
	if (graph->n > SL_LEARNERS_MAX)
		return SL_ERR_RANGE;
	size_t bytes = sl_analysis_scratch(graph->n, graph->edges, 0);
	void *memory = malloc(bytes);
	sl_arena_init(&arena, memory, bytes);
	double bound = 0;
	int rc = memory == NULL ? SL_ERR_NOMEM : sl_analysis_run(graph, &request, &a, &arena);
	if (rc == SL_OK)
		rc = a.components > 1 ? SL_ERR_INVALID : sl_forest_bound(graph, &bound, &arena);
	free(memory);
	if (rc == SL_OK)
		*figures = (struct sl_estimate_figures){.learners = graph->n,
							.edges = graph->edges,
							.degree_mean = 2.0 * graph->edges / graph->n,
							.degree_most = sl_graph_degree_max(graph),
							.mu = a.mu,
							.degree_r = a.degree,
							.depth = a.depth,
							.trees = a.trees,
							.load = a.load,
							.bound = bound};
	return rc;
}
