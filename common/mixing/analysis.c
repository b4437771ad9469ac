#include "common/mixing/analysis.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "common/graph/augment.h"
#include "common/graph/connectivity.h"
#include "common/graph/prune.h"
#include "common/graph/forest.h"
#include "common/mixing/minimal_polynomial.h"
#include "common/mixing/spectrum.h"

static_assert(SL_TREES_MAX == SL_FOREST_TREES_MAX, "a bit for each tree of a forest");
static_assert(SL_LEARNERS_MAX <= UINT16_MAX, "a parent fits");

#define SLACK_BYTES 4096u /* alignment of the arrays that are taken here */

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Return the connectivity that tolerates c colluders, or 0 where no graph of n vertices has it. */
static uint32_t target_of(uint32_t n, uint64_t c)
{
	return n > c + 1 ? (uint32_t)c + 1 : 0;
}

size_t sl_analysis_scratch(uint32_t n, uint32_t edges, uint64_t tolerance)
{
	uint32_t target = target_of(n, tolerance);
	size_t missing = (size_t)n * target * sizeof(struct sl_edge) + sl_augment_scratch(n, edges, target);
	size_t most = larger(sl_connectivity_scratch(n, edges), missing);
	most = larger(most, sl_prune_scratch(n, edges));
	most = larger(most, larger(sl_spectrum_scratch(n), sl_minimal_polynomial_scratch(n, edges)));
	return larger(most, sl_forest_bytes(n, SL_TREES_MAX)) + 12 * (size_t)n + SLACK_BYTES;
}

/* ---- privacy ---- */

static int find_components(const struct sl_graph *graph, struct sl_analysis *a, struct sl_arena *scratch)
{
	uint32_t *part = SL_ARENA_TAKE(scratch, graph->n, uint32_t),
		 *size = SL_ARENA_TAKE(scratch, graph->n, uint32_t);
	if (part == NULL || size == NULL)
		return SL_ERR_NOMEM;
	a->components = sl_graph_components(graph, part, scratch);
	for (uint32_t v = 0; a->components > 0 && v < graph->n; v++)
		if (++size[part[v]] > a->largest)
			a->largest = size[part[v]];
	return a->components > 0 ? SL_OK : SL_ERR_NOMEM;
}

static int find_kappa(const struct sl_graph *graph, const struct sl_analysis_request *request,
		      struct sl_analysis *a, struct sl_arena *scratch)
{
	uint32_t most = request->kappa_most < graph->n ? request->kappa_most : graph->n - 1;
	int rc = sl_connectivity(graph, most, &a->kappa, a->cut, scratch);
	if (rc != SL_OK)
		return rc;
	if (a->kappa <= 1)
		return sl_connectivity_articulation(graph, a->cut, &a->cut_count, scratch);
	a->cut_count = a->kappa < most ? a->kappa : 0;
	return SL_OK;
}

static int find_missing(const struct sl_graph *graph, uint32_t target, struct sl_analysis *a,
			struct sl_arena *scratch)
{
	size_t count = 0, room = (size_t)graph->n * target;
	struct sl_edge *edges = SL_ARENA_TAKE(scratch, room, struct sl_edge);
	int rc = edges == NULL ? SL_ERR_NOMEM : sl_augment(graph, target, edges, room, &count, scratch);
	if (rc != SL_OK)
		return rc;
	a->missing_count = (uint32_t)count;
	memcpy(a->missing, edges, (count < SL_ADVICE_MAX ? count : SL_ADVICE_MAX) * sizeof *edges);
	return SL_OK;
}

static int analyse_privacy(const struct sl_graph *graph, const struct sl_analysis_request *request,
			   struct sl_analysis *a, struct sl_arena *scratch)
{
	uint32_t target = target_of(graph->n, request->tolerance);
	int rc = find_kappa(graph, request, a, scratch);
	if (rc != SL_OK || a->kappa >= target)
		return rc;
	size_t mark = sl_arena_mark(scratch);
	if (request->least > 0)
		rc = sl_prune(graph, target, request->least, a->kept, &a->kept_count, scratch);
	sl_arena_reset(scratch, mark);
	return rc == SL_OK && request->missing ? find_missing(graph, target, a, scratch) : rc;
}

/* ---- mixing ---- */

static int analyse_exact(const struct sl_graph *graph, const struct sl_analysis_request *request,
			 struct sl_analysis *a, struct sl_arena *scratch)
{
	static const uint8_t zeros[SL_HASH_BYTES];
	uint32_t degree = 0;
	int rc = sl_minimal_polynomial(graph, request->field, request->seed != NULL ? request->seed : zeros,
				       a->r, &degree, scratch);
	assert(rc != SL_OK || degree > 0 ||
	       graph->n == 1); /* of two vertices, not every vector that sums to 0 is 0 */
	if (rc == SL_OK)
		a->degree = degree;
	return rc == SL_ERR_INVALID ? SL_OK : rc; /* p <= n or r(1) = 0 mod p: another engine has to mix */
}

static int analyse_metropolis(const struct sl_graph *graph, const struct sl_analysis_request *request,
			      struct sl_analysis *a, struct sl_arena *scratch)
{
	(void)request;
	return sl_spectrum_mu(graph, scratch, &a->mu);
}

static int analyse_forest(const struct sl_graph *graph, const struct sl_analysis_request *request,
			  struct sl_analysis *a, struct sl_arena *scratch)
{
	struct sl_forest forest;
	int rc = sl_forest_init(&forest, graph, request->trees > 0 ? request->trees : 1, scratch);
	if (rc != SL_OK)
		return rc;
	a->depth = forest.depth;
	a->trees = forest.trees;
	a->load = forest.busiest;
	for (size_t k = 0; k < (size_t)forest.trees * graph->n; k++)
		a->parent[k] = (uint16_t)forest.parent[k];
	memcpy(a->keeper, forest.keeper, graph->n * sizeof *a->keeper);
	return SL_OK;
}

/* The analysis of each engine. */
static int (*const engines[])(const struct sl_graph *graph, const struct sl_analysis_request *request,
			      struct sl_analysis *a, struct sl_arena *scratch) = {
	[SL_ENGINE_EXACT] = analyse_exact,
	[SL_ENGINE_METROPOLIS] = analyse_metropolis,
	[SL_ENGINE_FOREST] = analyse_forest,
};
static_assert(sizeof engines / sizeof *engines == SL_ENGINES, "an analysis for each engine");

static int analyse_engines(const struct sl_graph *graph, const struct sl_analysis_request *request,
			   struct sl_analysis *a, struct sl_arena *scratch)
{
	size_t mark = sl_arena_mark(scratch);
	int rc = SL_OK;
	for (enum sl_engine e = 0; rc == SL_OK && e < SL_ENGINES; e++) {
		if (request->exact_first && a->degree > 0)
			break;
		if (request->engines & SL_ENGINE_SET(e))
			rc = engines[e](graph, request, a, scratch);
		sl_arena_reset(scratch, mark);
	}
	return rc;
}

struct sl_engine_costs sl_analysis_costs(const struct sl_analysis *analysis, const struct sl_graph *graph,
					 uint64_t elements, uint32_t bits)
{
	return (struct sl_engine_costs){.degree = analysis->degree,
					.depth = analysis->depth,
					.trees = analysis->trees,
					.load = analysis->load,
					.busiest = sl_graph_degree_max(graph),
					.elements = elements,
					.bits = bits};
}

/* ---- both ---- */

int sl_analysis_run(const struct sl_graph *graph, const struct sl_analysis_request *request,
		    struct sl_analysis *analysis, struct sl_arena *scratch)
{
	assert(graph->n >= 1 && graph->n <= SL_LEARNERS_MAX);
	size_t mark = sl_arena_mark(scratch);
	memset(analysis, 0, offsetof(struct sl_analysis, parent));
	analysis->mu = 1;
	int rc = find_components(graph, analysis, scratch);
	sl_arena_reset(scratch, mark);
	if (rc == SL_OK && analysis->components == 1)
		rc = analyse_engines(graph, request, analysis, scratch);
	if (rc == SL_OK && request->kappa_most > 0)
		rc = analyse_privacy(graph, request, analysis, scratch);
	sl_arena_reset(scratch, mark);
	return rc;
}
