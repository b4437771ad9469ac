#include "common/compute/job_analysis.h"

#include <assert.h>
#include <string.h>

#include "common/field/vector.h"
#include "common/graph/connectivity.h"
#include "common/mixing/minimal_polynomial.h"
#include "common/graph/augment.h"
#include "common/mixing/spectrum.h"
#include "common/graph/tree.h"

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

size_t sl_job_analysis_scratch(const struct sl_view *view)
{
	const struct sl_graph *g = &view->graph;
	uint32_t target = (uint32_t)view->agreed.tolerance + 1;
	size_t missing = (size_t)view->n * target * sizeof(struct sl_edge) +
			 sl_augment_scratch(g->n, g->edges, target);
	size_t privacy_check = larger(sl_connectivity_scratch(g->n, g->edges), missing);
	size_t tree = sl_tree_bytes(g->n) + 12 * (size_t)g->n + 64;
	return larger(larger(privacy_check, tree),
		      larger(sl_spectrum_scratch(view->n), sl_minimal_polynomial_scratch(g->n, g->edges))) +
	       4096;
}

/* --- the gate --- */

/* Whom c colluders cut off from the others: every cut vertex when one is enough, else the members of a
 * smallest cut. */
static int find_weak(const struct sl_graph *graph, struct sl_analysis *analysis, struct sl_arena *scratch)
{
	if (analysis->kappa != 1)
		return SL_OK; /* they are known already, or there are none */
	return sl_connectivity_articulation(graph, analysis->weak, &analysis->weak_count, scratch);
}

/* Edges that would make the graph tolerate c colluders. */
static int find_missing(const struct sl_view *view, struct sl_analysis *analysis, struct sl_arena *scratch)
{
	size_t mark = sl_arena_mark(scratch), count = 0,
	       room = (size_t)view->n * (view->agreed.tolerance + 1);
	struct sl_edge *edges = SL_ARENA_TAKE(scratch, room, struct sl_edge);
	int rc = edges == NULL ? SL_ERR_NOMEM
			       : sl_augment(&view->graph, (uint32_t)view->agreed.tolerance + 1, edges, room,
					    &count, scratch);
	if (rc == SL_OK) {
		analysis->missing_count = (uint32_t)count;
		memcpy(analysis->missing, edges,
		       (count < SL_ADVICE_MAX ? count : SL_ADVICE_MAX) * sizeof *edges);
	}
	sl_arena_reset(scratch, mark);
	return rc;
}

static int analyse_connectivity(const struct sl_view *view, struct sl_analysis *analysis,
				struct sl_arena *scratch)
{
	uint32_t wanted = (uint32_t)view->agreed.tolerance + 1;
	if (view->n <= wanted)
		return SL_OK; /* no graph of so few would do: the gate says that */
	int rc = sl_connectivity(&view->graph, wanted, &analysis->kappa, analysis->weak, scratch);
	if (rc != SL_OK || analysis->kappa >= wanted)
		return rc;
	analysis->weak_count = analysis->kappa;
	rc = find_weak(&view->graph, analysis, scratch);
	return rc == SL_OK ? find_missing(view, analysis, scratch) : rc;
}

/* --- mixing --- */

/* r, each coefficient times N / r(1). */
static int analyse_exact(const struct sl_view *view, struct sl_analysis *analysis, struct sl_arena *scratch)
{
	const struct sl_field *field = &view->field;
	uint32_t degree = 0;
	int rc = sl_minimal_polynomial(&view->graph, field, view->h, analysis->part, &degree, scratch);
	if (rc != SL_OK)
		return rc == SL_ERR_INVALID ? SL_OK : rc; /* r(1) = 0 mod p: another engine has to do */
	assert(degree > 0); /* two vertices, and a vector that sums to 0 is not always 0 */
	analysis->degree = degree;
	sl_vector_scale(field, analysis->part, degree + 1,
			sl_minimal_polynomial_scale(field, analysis->part, degree, view->n));
	return SL_OK;
}

static int analyse_metropolis(const struct sl_view *view, struct sl_analysis *analysis,
			      struct sl_arena *scratch)
{
	if (view->field.bits > SL_MIXING_P_BITS_MAX)
		return SL_OK;
	return sl_spectrum_mu(&view->graph, scratch, &analysis->mu);
}

static int analyse_tree(const struct sl_view *view, struct sl_analysis *analysis, struct sl_arena *scratch)
{
	struct sl_tree tree;
	int rc = sl_tree_init(&tree, &view->graph, scratch);
	uint32_t *children = SL_ARENA_TAKE(scratch, view->n, uint32_t);
	if (rc != SL_OK || children == NULL)
		return rc != SL_OK ? rc : SL_ERR_NOMEM;
	analysis->depth = tree.depth;
	for (uint32_t v = 0; v < view->n; v++)
		if (v != tree.root && ++children[tree.parent[v]] > analysis->children)
			analysis->children = children[tree.parent[v]];
	memcpy(analysis->parent, tree.parent, view->n * sizeof *analysis->parent);
	return SL_OK;
}

/* What the view's engine may come to, and no more. */
static int analyse_mixing(const struct sl_view *view, struct sl_analysis *analysis, struct sl_arena *scratch)
{
	enum sl_engine wanted = (enum sl_engine)view->agreed.mixing;
	size_t mark = sl_arena_mark(scratch);
	int rc = SL_OK;
	if (wanted == SL_ENGINE_EXACT || wanted == SL_ENGINE_AUTO)
		rc = analyse_exact(view, analysis, scratch);
	bool other = wanted == SL_ENGINE_AUTO || (wanted == SL_ENGINE_EXACT && analysis->degree == 0);
	sl_arena_reset(scratch, mark);
	if (rc == SL_OK && (other || wanted == SL_ENGINE_METROPOLIS))
		rc = analyse_metropolis(view, analysis, scratch);
	sl_arena_reset(scratch, mark);
	if (rc == SL_OK && (other || wanted == SL_ENGINE_TREE))
		rc = analyse_tree(view, analysis, scratch);
	sl_arena_reset(scratch, mark);
	return rc;
}

int sl_job_analysis_run(const struct sl_view *view, struct sl_analysis *analysis, struct sl_arena *scratch)
{
	*analysis = (struct sl_analysis){.mu = 1};
	int rc = analyse_mixing(view, analysis, scratch);
	return rc == SL_OK ? analyse_connectivity(view, analysis, scratch) : rc;
}

static bool is_leaf(const struct sl_view *view, const uint32_t *parent, uint32_t v)
{
	const uint32_t *neighbours = sl_graph_neighbours(&view->graph, v);
	for (uint32_t k = 0; k < sl_graph_degree(&view->graph, v); k++)
		if (parent[neighbours[k]] == v)
			return false;
	return true;
}

/* What u is to this learner, its neighbour. */
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
	view->costs = (struct sl_engine_costs){.degree = analysis->degree,
					       .depth = analysis->depth,
					       .children = analysis->children,
					       .busiest = sl_graph_degree_max(&view->graph),
					       .elements = view->elements,
					       .width = view->field.bytes};
	view->children = 0;
	for (uint32_t r = 0; r < view->degree; r++) {
		view->roles[r] =
			analysis->depth > 0 ? role_of(view, analysis->parent, view->neighbours[r]) : 0;
		view->children += (view->roles[r] & SL_ROLE_CHILD) != 0;
	}
}
