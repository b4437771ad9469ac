#include "tools/topology/figures.h"

#include <stdlib.h>

#include "common/graph/forest.h"
#include "common/report/privacy_text.h"
#include "tools/lib/schedule_graph.h"
#include "tools/topology/ids.h"

int sl_figures_open(struct sl_figures *figures, const struct sl_schedule *schedule,
		    const struct sl_figures_request *request)
{
	uint32_t n = schedule->learners, edges = sl_schedule_graph_edges_most(schedule);
	size_t bytes = sl_schedule_graph_bytes(n, edges) +
		       sl_analysis_scratch(n, edges, request->analysis.tolerance);
	*figures = (struct sl_figures){
		.schedule = schedule, .request = *request, .memory = malloc(bytes), .bytes = bytes};
	figures->request.analysis.field = &figures->field;
	figures->request.analysis.trees = sl_engine_trees_most((uint64_t)figures->request.floats + 1);
	return figures->memory == NULL ? SL_ERR_NOMEM : sl_field_init(&figures->field, request->p);
}

void sl_figures_close(struct sl_figures *figures)
{
	free(figures->memory);
	figures->memory = NULL;
}

int sl_figures_step(struct sl_figures *figures, uint32_t step)
{
	struct sl_arena arena;
	sl_arena_init(&arena, figures->memory, figures->bytes);
	int rc = sl_schedule_graph(figures->schedule, step, &figures->graph, &arena);
	if (rc == SL_OK)
		rc = sl_analysis_run(&figures->graph, &figures->request.analysis, &figures->analysis, &arena);
	figures->forest_bound = 0;
	if (rc != SL_OK || figures->analysis.components > 1 || figures->request.analysis.engines == 0)
		return rc;
	return sl_forest_bound(&figures->graph, &figures->forest_bound, &arena);
}

void sl_figures_refusal(const struct sl_figures *figures, uint64_t c, char *text, size_t size)
{
	const struct sl_analysis *a = &figures->analysis;
	struct sl_edge links[SL_ADVICE_MAX];
	char cut[256] = "";
	struct sl_privacy_refusal refusal = {.privacy = sl_privacy_check(figures->graph.n, a->kappa, c),
					     .learners = figures->graph.n,
					     .kappa = a->kappa,
					     .c = c,
					     .cut = cut,
					     .cut_count = a->cut_count,
					     .links = links,
					     .link_count = a->missing_count < SL_ADVICE_MAX ? a->missing_count
											    : SL_ADVICE_MAX,
					     .missing = a->missing_count};
	*text = '\0';
	if (a->components > 1)
		snprintf(text, size, "not connected: %u parts, the largest of %u learner%s", a->components,
			 a->largest, a->largest == 1 ? "" : "s");
	if (a->components > 1 || refusal.privacy == SL_PRIVACY_KEPT)
		return;
	for (uint32_t e = 0; e < refusal.link_count; e++)
		links[e] = (struct sl_edge){a->missing[e].a + 1, a->missing[e].b + 1};
	sl_ids_text(a->cut, a->cut_count, cut, sizeof cut);
	sl_privacy_text(&refusal, text, size);
}
