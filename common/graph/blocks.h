/* blocks.h - where a graph falls apart when one vertex goes: its blocks, hung together by its cut vertices
 * (Tarjan 1972).
 *
 * A block is a largest part that no single vertex parts, an edge alone included. Blocks and cut vertices make
 * one tree per component. It hangs here from a root vertex: every block has a top, every other vertex one
 * block above it.
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
	uint32_t *above; /* n; the block above v. Of a root: one of its own, SL_NONE when it has none */
	uint32_t *degree;		      /* n; blocks that v is in: a cut vertex is in two or more */
	uint32_t *order;		      /* n; depth first, component after component */
	uint32_t *parent;		      /* n; depth first, SL_NONE for a root */
	uint32_t *number, *low, *arc, *stack; /* n; at work */
};

/* SL_ERR_NOMEM leaves the arena as it was. */
int sl_blocks_init(struct sl_blocks *blocks, uint32_t n, struct sl_arena *arena);
size_t sl_blocks_bytes(uint32_t n);

/* Finds the blocks of a skeleton made for k >= 2 (edges may have been added); `root` is the first root, n
 * >= 1. */
void sl_blocks_find(struct sl_blocks *blocks, const struct sl_sparse_certificate *sparse, uint32_t root);

static inline bool sl_blocks_cut(const struct sl_blocks *b, uint32_t v)
{
	return b->degree[v] >= 2;
}
