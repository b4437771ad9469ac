#include "tools/topology/figures.h"

#include <stdlib.h>

#include "common/graph/connectivity.h"
#include "common/mixing/minimal_polynomial.h"
#include "common/mixing/spectrum.h"
#include "common/graph/tree.h"
#include "tools/lib/schedule_graph.h"

static size_t max(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* The graph, and whatever the hungriest of the questions works with. */
static size_t room(uint32_t n, uint32_t edges)
{
	size_t scratch = max(sl_spectrum_scratch(n), sl_connectivity_scratch(n, edges));
	scratch =
		max(scratch, max(sl_minimal_polynomial_scratch(n, edges) + 8 * (size_t)n, sl_tree_bytes(n)));
	return sl_schedule_graph_bytes(n, edges) + scratch;
}

int sl_figures_open(struct sl_figures *figures, const struct sl_schedule *schedule,
		    const struct sl_figures_request *request)
{
	size_t bytes = room(schedule->learners, sl_schedule_graph_edges_most(schedule));
	*figures = (struct sl_figures){schedule, *request, malloc(bytes), bytes};
	return figures->memory == NULL ? SL_ERR_NOMEM : SL_OK;
}

void sl_figures_close(struct sl_figures *figures)
{
	free(figures->memory);
	figures->memory = NULL;
}

static int parts_of(const struct sl_graph *graph, struct sl_arena *arena, struct sl_step_figures *f)
{
	size_t mark = sl_arena_mark(arena);
	uint32_t *part = SL_ARENA_TAKE(arena, graph->n, uint32_t),
		 *size = SL_ARENA_TAKE(arena, graph->n, uint32_t);
	if (part == NULL || size == NULL)
		return SL_ERR_NOMEM;
	f->parts = sl_graph_components(graph, part, arena);
	for (uint32_t v = 0; f->parts > 0 && v < graph->n; v++)
		if (++size[part[v]] > f->largest)
			f->largest = size[part[v]];
	sl_arena_reset(arena, mark);
	return f->parts > 0 ? SL_OK : SL_ERR_NOMEM;
}

static int connectivity_of(const struct sl_graph *graph, struct sl_arena *arena, struct sl_step_figures *f)
{
	uint32_t n = graph->n;
	uint32_t *cut = SL_ARENA_TAKE(arena, n, uint32_t), *articulation = SL_ARENA_TAKE(arena, n, uint32_t);
	if (cut == NULL || articulation == NULL)
		return SL_ERR_NOMEM;
	f->cut = cut;
	f->articulation = articulation;
	int rc = sl_connectivity(graph, n - 1, &f->kappa, cut, arena);
	f->cut_count = f->kappa < n - 1 ? f->kappa : 0;
	return rc == SL_OK ? sl_connectivity_articulation(graph, articulation, &f->articulation_count, arena)
			   : rc;
}

/* Shares, one to each neighbour, and a state an iteration to each of them. */
static void bytes_of(const struct sl_field *field, const struct sl_figures_request *request,
		     struct sl_step_figures *f)
{
	double elements = (double)request->floats + 1,
	       share = request->seeded ? SL_KEY_BYTES : field->bytes * elements;
	double edge = share + SL_STATE_BYTES * (double)f->k * elements;
	f->bytes_mean = f->degree_mean * edge;
	f->bytes_most = f->degree_max * edge;
}

static int metropolis_of(const struct sl_graph *graph, const struct sl_field *field,
			 const struct sl_figures_request *request, struct sl_arena *arena,
			 struct sl_step_figures *f)
{
	size_t mark = sl_arena_mark(arena);
	int rc = sl_spectrum_mu(graph, arena, &f->mu);
	sl_arena_reset(arena, mark);
	if (rc != SL_OK)
		return rc;
	f->p_bits = sl_spectrum_p_bits(sl_spectrum_width_need(graph, f->mu));
	f->k = sl_spectrum_iterations(field->p, graph->n, f->mu);
	if (f->k < UINT64_MAX)
		bytes_of(field, request, f);
	return SL_OK;
}

static int exact_of(const struct sl_graph *graph, const struct sl_field *field, struct sl_arena *arena,
		    struct sl_step_figures *f)
{
	static const uint8_t seed[SL_HASH_BYTES] = {0};
	size_t mark = sl_arena_mark(arena);
	uint32_t degree = 0;
	uint64_t *r = SL_ARENA_TAKE(arena, graph->n, uint64_t);
	int rc = r == NULL ? SL_ERR_NOMEM : sl_minimal_polynomial(graph, field, seed, r, &degree, arena);
	if (rc == SL_OK)
		f->exact = degree;
	sl_arena_reset(arena, mark);
	return rc == SL_ERR_INVALID ? SL_OK : rc;
}

static int tree_of(const struct sl_graph *graph, struct sl_arena *arena, struct sl_step_figures *f)
{
	struct sl_tree tree;
	size_t mark = sl_arena_mark(arena);
	int rc = sl_tree_init(&tree, graph, arena);
	if (rc == SL_OK)
		f->tree = sl_tree_steps(&tree);
	sl_arena_reset(arena, mark);
	return rc;
}

static int figures_of(const struct sl_graph *graph, const struct sl_figures_request *request,
		      struct sl_arena *arena, struct sl_step_figures *f)
{
	struct sl_field field;
	*f = (struct sl_step_figures){.learners = graph->n,
				      .edges = graph->edges,
				      .degree_min = sl_graph_degree_min(graph),
				      .degree_max = sl_graph_degree_max(graph),
				      .degree_mean = 2.0 * graph->edges / graph->n,
				      .mu = 1,
				      .k = UINT64_MAX,
				      .exact = SL_FIGURE_NONE,
				      .tree = SL_FIGURE_NONE};
	int rc = sl_field_init(&field, request->p);
	if (rc == SL_OK)
		rc = parts_of(graph, arena, f);
	if (rc == SL_OK)
		rc = connectivity_of(graph, arena, f);
	if (rc != SL_OK || f->parts > 1)
		return rc;
	rc = metropolis_of(graph, &field, request, arena, f);
	if (rc == SL_OK && request->exact)
		rc = exact_of(graph, &field, arena, f);
	return rc == SL_OK ? tree_of(graph, arena, f) : rc;
}

int sl_figures_step(struct sl_figures *figures, uint32_t step, struct sl_step_figures *f)
{
	struct sl_arena arena;
	struct sl_graph graph;
	sl_arena_init(&arena, figures->memory, figures->bytes);
	int rc = sl_schedule_graph(figures->schedule, step, &graph, &arena);
	return rc == SL_OK ? figures_of(&graph, &figures->request, &arena, f) : rc;
}

enum sl_privacy_verdict sl_figures_privacy_check(const struct sl_step_figures *f, uint32_t c)
{
	if (f->parts > 1)
		return SL_PRIVACY_PARTS;
	if (f->learners < (uint64_t)c + 2)
		return SL_PRIVACY_FEW;
	return f->kappa < c + 1 ? SL_PRIVACY_CUT : SL_PRIVACY_OPEN;
}
