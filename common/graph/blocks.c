#include "common/graph/blocks.h"

#include <string.h>

#define PIECES 10u

int sl_blocks_init(struct sl_blocks *blocks, uint32_t n, struct sl_arena *arena)
{
	uint32_t **piece[PIECES] = {&blocks->top,   &blocks->cuts,   &blocks->above,  &blocks->degree,
				    &blocks->order, &blocks->parent, &blocks->number, &blocks->low,
				    &blocks->arc,   &blocks->stack};
	size_t mark = sl_arena_mark(arena);
	for (uint32_t i = 0; i < PIECES; i++) {
		*piece[i] = SL_ARENA_TAKE(arena, n, uint32_t);
		if (*piece[i] == NULL) {
			sl_arena_reset(arena, mark);
			return SL_ERR_NOMEM;
		}
	}
	return SL_OK;
}

size_t sl_blocks_bytes(uint32_t n)
{
	return PIECES * (n * sizeof(uint32_t) + SL_ARENA_ALIGNMENT);
}

struct walk {
	struct sl_blocks *b;
	const struct sl_sparse_certificate *sparse;
	uint32_t visited; /* number[v] is 1.. in order of visit, 0 before */
	uint32_t depth;	  /* of the stack: vertices not yet in a block, and roots */
};

static void visit(struct walk *w, uint32_t v, uint32_t parent)
{
	struct sl_blocks *b = w->b;
	b->order[w->visited] = v;
	b->low[v] = b->number[v] = ++w->visited;
	b->parent[v] = parent;
	b->arc[v] = w->sparse->first[v];
	b->stack[w->depth++] = v;
}

static void lower(uint32_t *low, uint32_t number)
{
	if (number < *low)
		*low = number;
}

/* Close a block below `top`: no edge at or below `v` reaches above its parent, so the vertices left there
 * form one. */
static void close_block(struct walk *w, uint32_t v, uint32_t top)
{
	struct sl_blocks *b = w->b;
	uint32_t block = b->count++, u;
	b->top[block] = top;
	b->degree[top]++;
	do {
		u = b->stack[--w->depth];
		b->above[u] = block;
		b->degree[u]++;
	} while (u != v);
}

static uint32_t leave(struct walk *w, uint32_t v)
{
	struct sl_blocks *b = w->b;
	uint32_t parent = b->parent[v];
	if (parent == SL_NONE)
		return SL_NONE;
	lower(&b->low[parent], b->low[v]);
	if (b->low[v] >= b->number[parent])
		close_block(w, v, parent);
	return parent;
}

/* Walk one component without recursion: a line of 2,000 vertices must not need 2,000 frames. */
static void walk_from(struct walk *w, uint32_t root)
{
	struct sl_blocks *b = w->b;
	visit(w, root, SL_NONE);
	for (uint32_t v = root; v != SL_NONE;) {
		uint32_t arc = b->arc[v];
		if (arc == SL_NONE) {
			v = leave(w, v);
			continue;
		}
		uint32_t u = w->sparse->to[arc];
		b->arc[v] = w->sparse->after[arc];
		if (b->number[u] == 0) {
			visit(w, u, v);
			v = u;
		} else {
			lower(&b->low[v], b->number[u]);
		}
	}
	b->above[root] = b->degree[root] > 0 ? b->count - 1 : SL_NONE;
	b->components++;
}

static void count_cuts(struct sl_blocks *b, uint32_t n)
{
	for (uint32_t i = 0; i < b->count; i++)
		b->cuts[i] = sl_blocks_cut(b, b->top[i]);
	for (uint32_t v = 0; v < n; v++)
		if (b->parent[v] != SL_NONE && sl_blocks_cut(b, v))
			b->cuts[b->above[v]]++;
}

void sl_blocks_find(struct sl_blocks *blocks, const struct sl_sparse_certificate *sparse, uint32_t root)
{
	struct walk w = {.b = blocks, .sparse = sparse};
	blocks->components = blocks->count = 0;
	memset(blocks->number, 0, sparse->n * sizeof *blocks->number);
	memset(blocks->degree, 0, sparse->n * sizeof *blocks->degree);
	walk_from(&w, root);
	for (uint32_t v = 0; v < sparse->n; v++)
		if (blocks->number[v] == 0)
			walk_from(&w, v);
	count_cuts(blocks, sparse->n);
}
