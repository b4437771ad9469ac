/* blocks.h - the blocks of a graph and the cut vertices that join them (Tarjan 1972).
 *
 * A block is a maximal part that no single vertex disconnects; a single edge is one. Blocks and cut vertices
 * make one tree per component. The tree hangs from a root vertex: every block has a top, every other vertex
 * one block above it.
 *
 *      0-1, 1-2, 2-0, 2-3          {0,1,2}          from root 0: top 0, below it 1 and 2
 *      cut vertex 2                   |
 *                                     2
 *                                     |
 *                                   {2,3}           top 2, below it 3
 */
#pragma once

#include "common/graph/sparse_certificate.h"

struct sl_blocks {
	uint32_t components, count;
	uint32_t *top;	 /* count; a block has a lower number than the one above it */
	uint32_t *cuts;	 /* count; cut vertices in the block. 1: a leaf of the tree; 0: the whole component */
	uint32_t *above; /* n; the block above v. For a root: one of its blocks, or SL_NONE */
	uint32_t *degree;		      /* n; number of blocks of v: two or more for a cut vertex */
	uint32_t *order;		      /* n; depth first, component after component */
	uint32_t *parent;		      /* n; in the depth-first search, SL_NONE for a root */
	uint32_t *number, *low, *arc, *stack; /* n; working memory of sl_blocks_find */
};

/* Take the arrays for `n` vertices. SL_ERR_NOMEM leaves the arena as it was. */
int sl_blocks_init(struct sl_blocks *blocks, uint32_t n, struct sl_arena *arena);
/* Return the bytes of arena that sl_blocks_init takes. */
size_t sl_blocks_bytes(uint32_t n);

/* Find the blocks of a sparse certificate made for k >= 2, to which edges may have been added; `root` is the
 * first root, n >= 1. */
void sl_blocks_find(struct sl_blocks *blocks, const struct sl_sparse_certificate *sparse, uint32_t root);

/* Return whether `v` is a cut vertex. */
static inline bool sl_blocks_cut(const struct sl_blocks *b, uint32_t v)
{
	return b->degree[v] >= 2;
}
