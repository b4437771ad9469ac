#include "common/graph/augment.h"

#include "common/graph/blocks.h"
#include "common/graph/disjoint_paths.h"

/* Edges are added to the sparse certificate, which lacks the same edges as the graph. */
struct work {
	uint32_t target;
	uint32_t present; /* edges of the certificate before the additions */
	struct sl_sparse_certificate sparse;
	struct sl_blocks blocks;
	struct sl_disjoint_paths disjoint;
	uint32_t *branch;  /* n; per block, the block at the root that it hangs from */
	uint32_t *weight;  /* n; per block, by how much a path from the root to it lowers the bound below */
	uint32_t *lacking; /* n; vertices whose degree is below target */
};

static bool fewer(const struct work *w, uint32_t v, uint32_t than)
{
	return than == SL_NONE || w->sparse.degree[v] < w->sparse.degree[than];
}

/* ---- target 1 and 2. Every added edge lowers max(d - 1, ceil(p/2) + q) by one (Eswaran and Tarjan 1976; Hsu
 * and Ramachandran 1993), so no set is smaller. d: the most components that remain without one vertex; p:
 * leaves; q: components that are one block or one vertex. ---- */

/* Return whether components may be joined at `v`: inside a leaf, or in a component without leaves. */
static bool is_end(const struct sl_blocks *b, uint32_t v)
{
	return !sl_blocks_cut(b, v) && (b->above[v] == SL_NONE || b->cuts[b->above[v]] <= 1);
}

/* Return an end of the component that begins at `*i` in the order, and move `*i` to the next component. */
static uint32_t take_end(const struct work *w, uint32_t *i)
{
	const struct sl_blocks *b = &w->blocks;
	uint32_t end = SL_NONE;
	do {
		uint32_t v = b->order[*i];
		if (is_end(b, v) && fewer(w, v, end))
			end = v;
		++*i;
	} while (*i < w->sparse.n && b->parent[b->order[*i]] != SL_NONE);
	return end;
}

static void join_components(struct work *w)
{
	uint32_t i = 0, a = take_end(w, &i), b = take_end(w, &i);
	sl_sparse_certificate_add(&w->sparse, a, b);
}

static uint32_t any_cut(const struct work *w)
{
	for (uint32_t v = 0; v < w->sparse.n; v++)
		if (sl_blocks_cut(&w->blocks, v))
			return v;
	return SL_NONE;
}

/* Weigh blocks from the root down: a vertex or block with d others attached counts d - 2, as many as it loses
 * when a path through it becomes one block. */
static void weigh(struct work *w, uint32_t root)
{
	const struct sl_blocks *b = &w->blocks;
	for (uint32_t block = b->count; block-- > 0;) {
		uint32_t top = b->top[block], above = b->above[top];
		w->branch[block] = top == root ? block : w->branch[above];
		w->weight[block] = top == root ? 0 : w->weight[above] + b->degree[top] - 2;
		if (b->cuts[block] > 2)
			w->weight[block] += b->cuts[block] - 2;
	}
}

/* Pick the heaviest leaves of two branches. All leaves but two are counted somewhere, and a vertex that
 * decides the bound counts half of them: no path past it weighs as much. While there are more than three
 * leaves, this path weighs enough that the block it becomes is no new leaf. */
static void pick_leaves(const struct work *w, uint32_t *first, uint32_t *second)
{
	*first = *second = SL_NONE;
	for (uint32_t block = 0; block < w->blocks.count; block++) {
		if (w->blocks.cuts[block] != 1)
			continue;
		bool heavier = *first == SL_NONE || w->weight[block] > w->weight[*first];
		bool elsewhere = *first == SL_NONE || w->branch[block] != w->branch[*first];
		if (heavier && elsewhere)
			*second = *first;
		if (heavier)
			*first = block;
		else if (elsewhere && (*second == SL_NONE || w->weight[block] > w->weight[*second]))
			*second = block;
	}
}

static uint32_t end_of(const struct work *w, uint32_t leaf)
{
	uint32_t end = SL_NONE;
	for (uint32_t v = 0; v < w->sparse.n; v++)
		if (w->blocks.above[v] == leaf && !sl_blocks_cut(&w->blocks, v) && fewer(w, v, end))
			end = v;
	return end;
}

static bool join_leaves(struct work *w)
{
	uint32_t root = any_cut(w), first, second;
	if (root == SL_NONE)
		return false;
	sl_blocks_find(&w->blocks, &w->sparse, root);
	weigh(w, root);
	pick_leaves(w, &first, &second);
	sl_sparse_certificate_add(&w->sparse, end_of(w, first), end_of(w, second));
	return true;
}

static void biconnect(struct work *w)
{
	for (;;) {
		sl_blocks_find(&w->blocks, &w->sparse, 0);
		if (w->blocks.components > 1)
			join_components(w);
		else if (w->target < 2 || !join_leaves(w))
			return;
	}
}

/* ---- target 3 and more: raise degrees, then add missing paths, then drop edges that are not needed ---- */

static uint32_t list_lacking(struct work *w)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < w->sparse.n; i++)
		if (w->sparse.degree[w->blocks.order[i]] < w->target)
			w->lacking[count++] = w->blocks.order[i];
	return count;
}

/* Join pairs of the vertices whose degree is too low; a vertex that found a partner becomes SL_NONE. Vertices
 * far apart in the order are far apart in the graph, where an edge helps other vertices too. */
static bool pair_lacking(struct work *w, uint32_t count)
{
	bool any = false;
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t gap = 0; w->lacking[i] != SL_NONE && gap < count; gap++) {
			uint32_t a = w->lacking[i], *b = &w->lacking[(i + count / 2 + gap) % count];
			if (*b == SL_NONE || *b == a || sl_sparse_certificate_has(&w->sparse, a, *b))
				continue;
			sl_sparse_certificate_add(&w->sparse, a, *b);
			w->lacking[i] = *b = SL_NONE;
			any = true;
		}
	}
	return any;
}

static uint32_t non_neighbour(const struct work *w, uint32_t v)
{
	uint32_t best = SL_NONE;
	for (uint32_t u = 0; u < w->sparse.n; u++)
		if (u != v && fewer(w, u, best) && !sl_sparse_certificate_has(&w->sparse, v, u))
			best = u;
	return best;
}

/* Raise every degree to the target. A vertex below it has all its edges in the certificate, so that its
 * neighbours there are its neighbours in the graph. */
static void raise_degrees(struct work *w)
{
	for (;;) {
		sl_blocks_find(&w->blocks, &w->sparse, 0);
		uint32_t count = list_lacking(w);
		if (count == 0)
			return;
		uint32_t first = w->lacking[0];
		if (!pair_lacking(w, count))
			sl_sparse_certificate_add(&w->sparse, first, non_neighbour(w, first));
	}
}

/* Add one path: from this side of the cut to a vertex of lower rank beyond it that no path has reached. */
static void cross(struct work *w, uint32_t v)
{
	uint32_t near = v, far = SL_NONE;
	for (uint32_t u = 0; u < w->sparse.n; u++) {
		if (sl_disjoint_paths_near(&w->disjoint, u) && fewer(w, u, near))
			near = u;
		if (w->sparse.rank[u] < w->sparse.rank[v] && !sl_disjoint_paths_used(&w->disjoint, u) &&
		    fewer(w, u, far))
			far = u;
	}
	sl_sparse_certificate_add(&w->sparse, near, far);
}

/* Compare `v` with the vertices of lower rank, as sl_connectivity does, and add the missing paths. */
static void close_gaps(struct work *w, uint32_t v)
{
	const struct sl_sparse_certificate *s = &w->sparse;
	if (s->rank[v] >= w->target) {
		while (sl_sparse_certificate_earlier(s, v) < w->target &&
		       sl_disjoint_paths_fan(&w->disjoint, s, v, w->target) < w->target)
			cross(w, v);
		return;
	}
	for (uint32_t i = 0; i < s->rank[v]; i++)
		if (!sl_sparse_certificate_has(s, v, s->order[i]) &&
		    sl_disjoint_paths_pair(&w->disjoint, s, v, s->order[i], w->target) < w->target)
			sl_sparse_certificate_add(&w->sparse, v, s->order[i]);
}

/* Return whether the graph needs `edge`, and drop it if not. In a graph of the wanted connectivity, an edge
 * is needed iff its ends lack the wanted number of paths without it. A needed edge stays needed when others
 * go: one pass is enough. */
static bool is_needed(struct work *w, uint32_t edge)
{
	struct sl_sparse_certificate *s = &w->sparse;
	uint32_t a = sl_sparse_certificate_a(s, edge), b = sl_sparse_certificate_b(s, edge);
	if (s->degree[a] <= w->target || s->degree[b] <= w->target)
		return true;
	sl_sparse_certificate_drop(s, edge);
	bool needed = sl_disjoint_paths_pair(&w->disjoint, s, a, b, w->target) < w->target;
	if (needed)
		sl_sparse_certificate_restore(s, edge);
	return needed;
}

static int emit(struct work *w, bool prune, struct sl_edge *edges, size_t capacity, size_t *count)
{
	const struct sl_sparse_certificate *s = &w->sparse;
	*count = 0;
	for (uint32_t edge = w->present; edge < sl_sparse_certificate_edges(s); edge++) {
		if (prune && !is_needed(w, edge))
			continue;
		if (*count == capacity)
			return SL_ERR_FULL;
		edges[(*count)++] =
			(struct sl_edge){sl_sparse_certificate_a(s, edge), sl_sparse_certificate_b(s, edge)};
	}
	return SL_OK;
}

/* Sort the edges by way of a graph, whose lists are sorted. */
static int sort(uint32_t n, struct sl_edge *edges, size_t count, struct sl_arena *scratch)
{
	struct sl_graph sorted;
	size_t i = 0;
	int err = sl_graph_init(&sorted, n, edges, count, scratch);
	for (uint32_t a = 0; err == SL_OK && a < n; a++)
		for (uint32_t k = 0; k < sl_graph_degree(&sorted, a); k++)
			if (sl_graph_neighbours(&sorted, a)[k] > a)
				edges[i++] = (struct sl_edge){a, sl_graph_neighbours(&sorted, a)[k]};
	return err;
}

static void augment(struct work *w)
{
	biconnect(w);
	if (w->target < 3)
		return;
	raise_degrees(w);
	for (uint32_t i = 1; i < w->sparse.n; i++)
		close_gaps(w, w->sparse.order[i]);
}

/* Return a bound on the added edges: joining takes at most n, degrees and gaps target * n each, and there are
 * no more than pairs without an edge. */
static size_t most_added(uint32_t n, uint32_t edges, uint32_t target)
{
	size_t pairs = n == 0 ? 0 : (size_t)n * (n - 1) / 2 - edges;
	size_t most = target < 3 ? n : (2 * (size_t)target + 1) * n;
	return most < pairs ? most : pairs;
}

/* Return the connectivity for which the certificate is made: blocks need at least two. */
static uint32_t decisive(uint32_t target)
{
	return target < 2 ? 2 : target;
}

size_t sl_augment_scratch(uint32_t n, uint32_t edges, uint32_t target)
{
	size_t added = most_added(n, edges, target), kept = (size_t)decisive(target) * n;
	kept = kept < edges ? kept : edges;
	size_t own = 3 * (n * sizeof(uint32_t) + SL_ARENA_ALIGNMENT);
	size_t sorting = (2 * ((size_t)n + 1) + 4 * added) * sizeof(uint32_t) + 4 * SL_ARENA_ALIGNMENT;
	return sl_sparse_certificate_bytes(n, kept + added) + sl_blocks_bytes(n) +
	       sl_disjoint_paths_bytes(n) + own + sorting;
}

static int take(struct work *w, const struct sl_graph *graph, struct sl_arena *scratch)
{
	uint32_t n = graph->n;
	size_t added = most_added(n, graph->edges, w->target);
	w->branch = SL_ARENA_TAKE(scratch, n, uint32_t);
	w->weight = SL_ARENA_TAKE(scratch, n, uint32_t);
	w->lacking = SL_ARENA_TAKE(scratch, n, uint32_t);
	if (w->branch == NULL || w->weight == NULL || w->lacking == NULL)
		return SL_ERR_NOMEM;
	int err = sl_blocks_init(&w->blocks, n, scratch);
	if (err == SL_OK)
		err = sl_disjoint_paths_init(&w->disjoint, n, scratch);
	if (err == SL_OK)
		err = sl_sparse_certificate_init(&w->sparse, graph, decisive(w->target), added, scratch);
	w->present = err == SL_OK ? sl_sparse_certificate_edges(&w->sparse) : 0;
	return err;
}

int sl_augment(const struct sl_graph *graph, uint32_t target, struct sl_edge *edges, size_t capacity,
	       size_t *count, struct sl_arena *scratch)
{
	struct work w = {.target = target};
	*count = 0;
	if (graph->n <= target)
		return SL_ERR_INVALID;
	if (target == 0)
		return SL_OK;
	size_t mark = sl_arena_mark(scratch);
	int err = take(&w, graph, scratch);
	if (err == SL_OK) {
		augment(&w);
		err = emit(&w, target >= 3, edges, capacity, count);
	}
	if (err == SL_OK)
		err = sort(graph->n, edges, *count, scratch);
	sl_arena_reset(scratch, mark);
	return err;
}
