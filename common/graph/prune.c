#include "common/graph/prune.h"

#include <string.h>

#include "common/base/bytes.h"
#include "common/graph/connectivity.h"

#define SLACK_BYTES 1024u /* alignment of the arrays that are taken here */

struct pruning {
	const struct sl_graph *graph;
	uint32_t target, count;
	uint64_t *kept;
	/* The subgraph of the kept vertices: vertex v of it is vertex origin[v] of the graph. */
	struct sl_graph sub;
	struct sl_edge *edges;
	uint32_t *origin, *image;
	uint32_t *component, *members, *cut;
	bool *out; /* vertices of the cut */
};

size_t sl_prune_scratch(uint32_t n, uint32_t edges)
{
	size_t own = n * (5 * sizeof(uint32_t) + sizeof(bool)) + edges * sizeof(struct sl_edge);
	size_t sub = (n + 1 + 2 * (size_t)edges) * sizeof(uint32_t);
	return own + 2 * sub + sl_connectivity_scratch(n, edges) + SLACK_BYTES;
}

static uint32_t degree_of(const struct pruning *p, uint32_t v)
{
	uint32_t degree = 0;
	for (uint32_t k = 0; k < sl_graph_degree(p->graph, v); k++)
		degree += sl_bit(p->kept, sl_graph_neighbours(p->graph, v)[k]);
	return degree;
}

static void drop_low_degrees(struct pruning *p)
{
	bool dropped = true;
	while (dropped) {
		dropped = false;
		for (uint32_t v = 0; v < p->graph->n; v++) {
			if (!sl_bit(p->kept, v) || degree_of(p, v) >= p->target)
				continue;
			sl_bit_clear(p->kept, v);
			p->count--;
			dropped = true;
		}
	}
}

static int make_sub(struct pruning *p, struct sl_arena *scratch)
{
	uint32_t n = 0, count = 0;
	for (uint32_t v = 0; v < p->graph->n; v++)
		if (sl_bit(p->kept, v)) {
			p->image[v] = n;
			p->origin[n++] = v;
		}
	for (uint32_t v = 0; v < n; v++)
		for (uint32_t k = 0; k < sl_graph_degree(p->graph, p->origin[v]); k++) {
			uint32_t u = sl_graph_neighbours(p->graph, p->origin[v])[k];
			if (u > p->origin[v] && sl_bit(p->kept, u))
				p->edges[count++] = (struct sl_edge){v, p->image[u]};
		}
	return sl_graph_init(&p->sub, n, p->edges, count, scratch);
}

/* Keep the cut of `cut_count` vertices and the largest component without it. */
static void keep_largest_side(struct pruning *p, uint32_t cut_count)
{
	uint32_t n = p->sub.n, best = UINT32_MAX, most = 0;
	memset(p->out, 0, n * sizeof *p->out);
	memset(p->component, 0xff, n * sizeof *p->component);
	for (uint32_t k = 0; k < cut_count; k++)
		p->out[p->cut[k]] = true;
	for (uint32_t v = 0; v < n; v++) {
		if (p->out[v] || p->component[v] != UINT32_MAX)
			continue;
		uint32_t size = sl_graph_component(&p->sub, v, v, p->out, p->component, p->members);
		if (size > most) {
			most = size;
			best = v;
		}
	}
	for (uint32_t v = 0; v < n; v++)
		if (!p->out[v] && p->component[v] != best)
			sl_bit_clear(p->kept, p->origin[v]);
	p->count = most + cut_count;
}

static int prune(struct pruning *p, uint32_t least, struct sl_arena *scratch)
{
	size_t mark = sl_arena_mark(scratch);
	for (;;) {
		uint32_t kappa = 0;
		drop_low_degrees(p);
		if (p->count < least || p->count == 0) {
			p->count = 0;
			return SL_OK;
		}
		int rc = make_sub(p, scratch);
		uint32_t parts = rc == SL_OK ? sl_graph_components(&p->sub, NULL, scratch) : 0;
		if (rc == SL_OK && parts == 1)
			rc = sl_connectivity(&p->sub, p->target, &kappa, p->cut, scratch);
		if (parts == 0 || rc != SL_OK)
			return SL_ERR_NOMEM;
		if (kappa >= p->target)
			return SL_OK;
		keep_largest_side(p, kappa);
		sl_arena_reset(scratch, mark);
	}
}

int sl_prune(const struct sl_graph *graph, uint32_t target, uint32_t least, uint64_t *kept, uint32_t *count,
	     struct sl_arena *scratch)
{
	uint32_t n = graph->n;
	size_t mark = sl_arena_mark(scratch);
	struct pruning p = {.graph = graph, .target = target, .count = n, .kept = kept};
	p.edges = SL_ARENA_TAKE(scratch, graph->edges, struct sl_edge);
	p.origin = SL_ARENA_TAKE(scratch, n, uint32_t);
	p.image = SL_ARENA_TAKE(scratch, n, uint32_t);
	p.component = SL_ARENA_TAKE(scratch, n, uint32_t);
	p.members = SL_ARENA_TAKE(scratch, n, uint32_t);
	p.cut = SL_ARENA_TAKE(scratch, n > target ? n : target, uint32_t);
	p.out = SL_ARENA_TAKE(scratch, n, bool);
	*count = 0;
	memset(kept, 0, sl_bit_words(n) * sizeof *kept);
	for (uint32_t v = 0; v < n; v++)
		sl_bit_set(kept, v);
	bool room = p.edges != NULL && p.origin != NULL && p.image != NULL && p.component != NULL &&
		    p.members != NULL && p.cut != NULL && p.out != NULL;
	int rc = room ? prune(&p, least, scratch) : SL_ERR_NOMEM;
	sl_arena_reset(scratch, mark);
	*count = rc == SL_OK ? p.count : 0;
	return rc;
}
