#include "common/graph/connectivity.h"

#include <string.h>

#include "common/graph/blocks.h"
#include "common/graph/disjoint_paths.h"

size_t sl_connectivity_scratch(uint32_t n, uint32_t edges)
{
	size_t flow = sl_disjoint_paths_bytes(n), blocks = sl_blocks_bytes(n);
	return sl_sparse_certificate_bytes(n, edges) + (flow > blocks ? flow : blocks);
}

/* What is known so far: kappa <= least, and `cut` says why. */
struct bound {
	uint32_t least;
	uint32_t *cut;
	struct sl_disjoint_paths disjoint;
	struct sl_sparse_certificate sparse;
};

static void lower(struct bound *b, uint32_t paths)
{
	if (paths >= b->least)
		return;
	b->least = paths;
	if (b->cut != NULL)
		sl_disjoint_paths_cut(&b->disjoint, &b->sparse, b->cut);
}

/* Whoever has a vertex of the least degree alone is cut off by its neighbours. */
static uint32_t lonely(const struct sl_graph *graph, uint32_t degree, uint32_t *cut)
{
	uint32_t v = 0;
	while (sl_graph_degree(graph, v) != degree)
		v++;
	if (cut != NULL)
		memcpy(cut, sl_graph_neighbours(graph, v), degree * sizeof *cut);
	return degree;
}

/* Even 1975: no cut below `least` parts the vertices of lower rank from each other. With as many disjoint
 * paths to them, v joins them; where they are still too few to take so many, v is compared with each. */
static void join(struct bound *b, uint32_t v)
{
	struct sl_sparse_certificate *s = &b->sparse;
	if (s->rank[v] >= b->least) {
		if (sl_sparse_certificate_earlier(s, v) < b->least)
			lower(b, sl_disjoint_paths_fan(&b->disjoint, s, v, b->least));
		return;
	}
	for (uint32_t i = 0; i < s->rank[v]; i++)
		if (!sl_sparse_certificate_has(s, v, s->order[i]))
			lower(b, sl_disjoint_paths_pair(&b->disjoint, s, v, s->order[i], b->least));
}

int sl_connectivity(const struct sl_graph *graph, uint32_t limit, uint32_t *kappa, uint32_t *cut,
		    struct sl_arena *scratch)
{
	uint32_t n = graph->n, degree = sl_graph_degree_min(graph);
	struct bound b = {.least = limit, .cut = cut};
	if (n <= 1 || degree == n - 1) {
		*kappa = degree < limit ? degree : limit;
		return SL_OK;
	}
	if (degree < limit)
		b.least = lonely(graph, degree, cut);
	*kappa = b.least;
	if (b.least == 0)
		return SL_OK;
	size_t mark = sl_arena_mark(scratch);
	int err = sl_sparse_certificate_init(&b.sparse, graph, b.least, 0, scratch);
	if (err == SL_OK)
		err = sl_disjoint_paths_init(&b.disjoint, n, scratch);
	for (uint32_t i = 1; err == SL_OK && i < n && b.least > 0; i++)
		join(&b, b.sparse.order[i]);
	*kappa = b.least;
	sl_arena_reset(scratch, mark);
	return err;
}

static uint32_t list_cuts(const struct sl_blocks *blocks, uint32_t n, uint32_t *vertices)
{
	uint32_t count = 0;
	for (uint32_t v = 0; v < n; v++)
		if (sl_blocks_cut(blocks, v))
			vertices[count++] = v;
	return count;
}

int sl_connectivity_articulation(const struct sl_graph *graph, uint32_t *vertices, uint32_t *count,
				 struct sl_arena *scratch)
{
	struct sl_sparse_certificate sparse;
	struct sl_blocks blocks;
	*count = 0;
	if (graph->n == 0)
		return SL_OK;
	size_t mark = sl_arena_mark(scratch);
	int err = sl_sparse_certificate_init(&sparse, graph, 2, 0, scratch);
	if (err == SL_OK)
		err = sl_blocks_init(&blocks, graph->n, scratch);
	if (err == SL_OK) {
		sl_blocks_find(&blocks, &sparse, 0);
		*count = list_cuts(&blocks, graph->n, vertices);
	}
	sl_arena_reset(scratch, mark);
	return err;
}
