#include "common/graph/tree.h"

#include <string.h>

#define WORD_BITS 64u

/* The graph as rows of bits: a breadth-first search costs n^2 / 64 steps, however dense the graph is. */
struct bits {
	uint32_t n, words;
	uint64_t *row;	/* n rows of `words` */
	uint64_t *seen; /* words */
	uint32_t *queue, *level;
};

static uint32_t words_of(uint32_t n)
{
	return n / WORD_BITS + 1;
}

size_t sl_tree_bytes(uint32_t n)
{
	return ((size_t)n + 1) * words_of(n) * sizeof(uint64_t) + (size_t)n * 4 * sizeof(uint32_t) +
	       6 * SL_ARENA_ALIGNMENT;
}

static int bits_init(struct bits *bits, const struct sl_graph *graph, struct sl_arena *arena)
{
	uint32_t n = graph->n, words = words_of(n);
	*bits = (struct bits){.n = n, .words = words};
	bits->row = SL_ARENA_TAKE(arena, (size_t)n * words, uint64_t);
	bits->seen = SL_ARENA_TAKE(arena, words, uint64_t);
	bits->queue = SL_ARENA_TAKE(arena, n, uint32_t);
	bits->level = SL_ARENA_TAKE(arena, n, uint32_t);
	if (bits->row == NULL || bits->seen == NULL || bits->queue == NULL || bits->level == NULL)
		return SL_ERR_NOMEM;
	for (uint32_t v = 0; v < n; v++)
		for (uint32_t k = 0; k < sl_graph_degree(graph, v); k++) {
			uint32_t u = sl_graph_neighbours(graph, v)[k];
			bits->row[(size_t)v * words + u / WORD_BITS] |= UINT64_C(1) << u % WORD_BITS;
		}
	return SL_OK;
}

/* Queue the neighbours of `v` that were not seen yet, one level below it. */
static uint32_t visit(struct bits *bits, uint32_t v, uint32_t queued)
{
	const uint64_t *row = bits->row + (size_t)v * bits->words;
	for (uint32_t w = 0; w < bits->words; w++) {
		uint64_t fresh = row[w] & ~bits->seen[w];
		bits->seen[w] |= fresh;
		for (; fresh != 0; fresh &= fresh - 1) {
			uint32_t u = w * WORD_BITS + (uint32_t)__builtin_ctzll(fresh);
			bits->level[u] = bits->level[v] + 1;
			bits->queue[queued++] = u;
		}
	}
	return queued;
}

/* Fill level[] from `root`. Return its eccentricity, or UINT32_MAX if a vertex is not reached within `most`
 * steps. */
static uint32_t search(struct bits *bits, uint32_t root, uint32_t most)
{
	uint32_t queued = 1;
	memset(bits->seen, 0, bits->words * sizeof *bits->seen);
	bits->seen[root / WORD_BITS] |= UINT64_C(1) << root % WORD_BITS;
	bits->queue[0] = root;
	bits->level[root] = 0;
	for (uint32_t at = 0; at < queued && queued < bits->n; at++) {
		if (bits->level[bits->queue[at]] >= most)
			return UINT32_MAX;
		queued = visit(bits, bits->queue[at], queued);
	}
	return queued < bits->n ? UINT32_MAX : bits->level[bits->queue[queued - 1]];
}

/* Find the least vertex of least eccentricity: a later one has to be strictly better. Return the
 * eccentricity. */
static uint32_t centre(struct bits *bits, uint32_t *root)
{
	uint32_t least = search(bits, 0, UINT32_MAX);
	*root = 0;
	if (least == UINT32_MAX)
		return UINT32_MAX;
	for (uint32_t v = 1; v < bits->n && least > 1; v++) {
		uint32_t eccentricity = search(bits, v, least - 1);
		if (eccentricity == UINT32_MAX)
			continue;
		least = eccentricity;
		*root = v;
	}
	return least;
}

static uint32_t parent_of(const struct sl_graph *graph, const uint32_t *level, uint32_t v)
{
	const uint32_t *neighbours = sl_graph_neighbours(graph, v); /* ascending: the first is the least */
	for (uint32_t k = 0; k < sl_graph_degree(graph, v); k++)
		if (level[neighbours[k]] + 1 == level[v])
			return neighbours[k];
	return v;
}

/* Set root and depth, fill level[] and parent[]; the bits stay in the arena. */
static int grow(struct sl_tree *tree, const struct sl_graph *graph, struct sl_arena *arena)
{
	struct bits bits;
	int err = bits_init(&bits, graph, arena);
	if (err != SL_OK)
		return err;
	tree->depth = centre(&bits, &tree->root);
	if (tree->depth == UINT32_MAX)
		return SL_ERR_INVALID;
	search(&bits, tree->root, UINT32_MAX);
	memcpy(tree->level, bits.level, tree->n * sizeof *tree->level);
	for (uint32_t v = 0; v < tree->n; v++)
		tree->parent[v] = parent_of(graph, tree->level, v);
	return SL_OK;
}

int sl_tree_init(struct sl_tree *tree, const struct sl_graph *graph, struct sl_arena *arena)
{
	if (graph->n == 0)
		return SL_ERR_INVALID;
	size_t before = sl_arena_mark(arena);
	*tree = (struct sl_tree){.n = graph->n};
	tree->parent = SL_ARENA_TAKE(arena, graph->n, uint32_t);
	tree->level = SL_ARENA_TAKE(arena, graph->n, uint32_t);
	size_t kept = sl_arena_mark(arena);
	int err = tree->parent == NULL || tree->level == NULL ? SL_ERR_NOMEM : grow(tree, graph, arena);
	sl_arena_reset(arena, err == SL_OK ? kept : before);
	return err;
}

uint32_t sl_tree_backup(const uint32_t *parent, const struct sl_graph *graph, uint32_t v)
{
	const uint32_t *neighbours = sl_graph_neighbours(graph, v);
	uint32_t degree = sl_graph_degree(graph, v), after = 0;
	while (after < degree && neighbours[after] < v)
		after++;
	for (uint32_t k = 0; k < degree; k++) {
		uint32_t u = neighbours[(after + k) % degree];
		if (u != parent[v])
			return u;
	}
	return v;
}
