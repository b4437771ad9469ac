#include "common/compute/job_analysis.h"

#include <string.h>

#include "common/field/vector.h"
#include "common/mixing/minimal_polynomial.h"

size_t sl_job_analysis_scratch(const struct sl_view *view)
{
	return sl_analysis_scratch(view->graph.n, view->graph.edges, view->agreed.tolerance);
}

int sl_job_analysis_run(const struct sl_view *view, struct sl_analysis *analysis, struct sl_arena *scratch)
{
	uint64_t wanted = view->agreed.tolerance + 1,
		 least = view->agreed.quorum > wanted ? view->agreed.quorum : wanted + 1;
	enum sl_engine mixing = (enum sl_engine)view->agreed.mixing;
	struct sl_analysis_request request = {.tolerance = view->agreed.tolerance,
					      .kappa_most = view->n > wanted ? (uint32_t)wanted
									     : 0, /* else too few anyway */
					      .missing = true,
					      .least = view->agreed.privacy_check ? (uint32_t)least : 0,
					      .engines = sl_engine_candidates(mixing, view->field.bits),
					      .trees = sl_engine_trees_most(view->elements),
					      .exact_first = sl_engine_rows[mixing].choice == SL_CHOICE_FIRST,
					      .field = &view->field,
					      .seed = view->h};
	int rc = sl_analysis_run(&view->graph, &request, analysis, scratch);
	if (rc == SL_OK && analysis->degree > 0)
		sl_vector_scale(
			&view->field, analysis->r, analysis->degree + 1,
			sl_minimal_polynomial_scale(&view->field, analysis->r, analysis->degree, view->n));
	return rc;
}

/* Return the trees in which `parent` is the parent of `v`: a bit for each. */
static uint64_t trees_below(const struct sl_analysis *analysis, const struct sl_view *view, uint32_t v,
			    uint32_t parent)
{
	uint64_t trees = 0;
	for (uint32_t t = 0; t < analysis->trees; t++)
		trees |= (uint64_t)(analysis->parent[(size_t)t * view->n + v] == parent) << t;
	return trees;
}

void sl_job_analysis_apply(const struct sl_analysis *analysis, struct sl_view *view)
{
	view->costs = sl_analysis_costs(analysis, &view->graph, view->elements, view->field.bits);
	view->costs.failed = view->agreed.failed;
	view->costs.hop_bytes = view->agreed.hop_bytes;
	view->deposits_forest = sl_engine_deposits_forest((enum sl_engine)view->agreed.mixing, &view->costs);
	if (analysis->depth == 0)
		return;
	memcpy(view->keeper, analysis->keeper, view->n * sizeof *view->keeper);
	for (uint32_t r = 0; r < view->degree; r++) {
		view->up[r] = trees_below(analysis, view, view->self, view->neighbours[r]);
		view->down[r] = trees_below(analysis, view, view->neighbours[r], view->self);
	}
}
