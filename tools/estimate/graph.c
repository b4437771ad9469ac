#include "tools/estimate/graph.h"

#include <stdlib.h>

#include "common/mixing/minimal_polynomial.h"
#include "common/mixing/spectrum.h"
#include "common/graph/tree.h"

static size_t scratch_bytes(const struct sl_graph *g)
{
	size_t most = sl_spectrum_scratch(g->n),
	       minimal_polynomial = sl_minimal_polynomial_scratch(g->n, g->edges) + 8 * (size_t)g->n + 64;
	most = minimal_polynomial > most ? minimal_polynomial : most;
	size_t tree = sl_tree_bytes(g->n) + 4 * (size_t)g->n + 64;
	return tree > most ? tree : most;
}

static int exact_of(const struct sl_graph *graph, const struct sl_field *field, struct sl_arena *arena,
		    struct sl_estimate_figures *f)
{
	static const uint8_t seed[SL_HASH_BYTES] = {0};
	uint32_t degree = 0;
	uint64_t *r = SL_ARENA_TAKE(arena, graph->n, uint64_t);
	int rc = r == NULL ? SL_ERR_NOMEM : sl_minimal_polynomial(graph, field, seed, r, &degree, arena);
	f->degree_r = rc == SL_OK ? degree : 0;
	return rc == SL_ERR_INVALID ? SL_OK : rc;
}

/* Who else than its parent could keep a learner's masked state (protocol 7, `tree`). */
static int tree_of(const struct sl_graph *graph, struct sl_arena *arena, struct sl_estimate_figures *f)
{
	struct sl_tree tree;
	int rc = sl_tree_init(&tree, graph, arena);
	if (rc != SL_OK)
		return rc;
	uint32_t *children = SL_ARENA_TAKE(arena, graph->n, uint32_t), most = 0;
	if (children == NULL)
		return SL_ERR_NOMEM;
	f->depth = tree.depth;
	for (uint32_t v = 0; v < graph->n; v++) {
		bool root = v == tree.root;
		f->backed_up += sl_graph_degree(graph, v) > (root ? 0 : 1);
		if (!root && ++children[tree.parent[v]] > most)
			most = children[tree.parent[v]];
	}
	f->children_most = most;
	return SL_OK;
}

static int figures_of(const struct sl_graph *graph, const struct sl_field *field, struct sl_arena *arena,
		      struct sl_estimate_figures *f)
{
	size_t mark = sl_arena_mark(arena);
	int rc = sl_spectrum_mu(graph, arena, &f->mu);
	sl_arena_reset(arena, mark);
	if (rc == SL_OK && !(f->mu < 1))
		return SL_ERR_INVALID;
	if (rc == SL_OK)
		rc = exact_of(graph, field, arena, f);
	sl_arena_reset(arena, mark);
	return rc == SL_OK ? tree_of(graph, arena, f) : rc;
}

int sl_estimate_graph_figures(const struct sl_graph *graph, const struct sl_field *field,
			      struct sl_estimate_figures *figures)
{
	struct sl_arena arena;
	if (graph->n > SL_LEARNERS_MAX)
		return SL_ERR_RANGE;
	size_t bytes = scratch_bytes(graph);
	*figures = (struct sl_estimate_figures){.learners = graph->n,
						.edges = graph->edges,
						.degree_mean = 2.0 * graph->edges / graph->n,
						.degree_most = sl_graph_degree_max(graph)};
	sl_arena_init(&arena, malloc(bytes), bytes);
	int rc = arena.base == NULL ? SL_ERR_NOMEM : figures_of(graph, field, &arena, figures);
	free(arena.base);
	return rc;
}
