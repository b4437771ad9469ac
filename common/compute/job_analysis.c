#include "common/compute/job_analysis.h"

#include <string.h>

#include "common/field/vector.h"
#include "common/graph/tree.h"
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

/* Return true if `v` has no children. */
static bool is_leaf(const struct sl_view *view, const uint32_t *parent, uint32_t v)
{
	const uint32_t *neighbours = sl_graph_neighbours(&view->graph, v);
	for (uint32_t k = 0; k < sl_graph_degree(&view->graph, v); k++)
		if (parent[neighbours[k]] == v)
			return false;
	return true;
}

/* Return the SL_ROLE_ bits of the neighbour `u` of this learner. */
static uint8_t role_of(const struct sl_view *view, const uint32_t *parent, uint32_t u)
{
	uint8_t role = 0;
	if (parent[view->self] == u)
		role |= SL_ROLE_PARENT;
	if (parent[u] == view->self)
		role |= is_leaf(view, parent, u) ? SL_ROLE_CHILD | SL_ROLE_LEAF : SL_ROLE_CHILD;
	if (sl_tree_backup(parent, &view->graph, view->self) == u)
		role |= SL_ROLE_BACKUP;
	if (sl_tree_backup(parent, &view->graph, u) == view->self)
		role |= SL_ROLE_BACKED_UP;
	return role;
}

void sl_job_analysis_apply(const struct sl_analysis *analysis, struct sl_view *view)
{
	view->costs = sl_analysis_costs(analysis, &view->graph, view->elements, view->field.bytes);
	view->children = 0;
	view->deposits_tree = sl_engine_deposits_tree((enum sl_engine)view->agreed.mixing, &view->costs);
	if (analysis->depth > 0)
		memcpy(view->parent, analysis->parent, view->n * sizeof *view->parent);
	for (uint32_t r = 0; r < view->degree; r++) {
		view->roles[r] =
			analysis->depth > 0 ? role_of(view, analysis->parent, view->neighbours[r]) : 0;
		view->children += (view->roles[r] & SL_ROLE_CHILD) != 0;
	}
}
