/* tree.h - the breadth-first tree that every learner computes from the view (protocol 7, `tree`). Lives in an
 * arena.
 *
 * The root is a centre: a vertex of least eccentricity, the least of them. Every other vertex hangs on its
 * least neighbour that is one step nearer to the root. Partial sums go up in `depth` steps, Z comes down in
 * as many.
 */
#pragma once

#include "common/graph/graph.h"

struct sl_tree {
	uint32_t n;
	uint32_t root;
	uint32_t depth;	  /* the root's eccentricity: the radius of the graph */
	uint32_t *parent; /* n; the root is its own */
	uint32_t *level;  /* n; steps from the root */
};

/* Bytes of arena that sl_tree_init needs while it runs; what it keeps is 8 n. */
size_t sl_tree_bytes(uint32_t n);

/* SL_ERR_INVALID when the graph is empty or not connected, SL_ERR_NOMEM. The graph is not kept. */
int sl_tree_init(struct sl_tree *tree, const struct sl_graph *graph, struct sl_arena *arena);

/* Who keeps v's masked state beside v: the first neighbour after v, by number and round to the least, that is
 * not v's parent; v where it has no other. parent: as in a tree. */
uint32_t sl_tree_backup(const uint32_t *parent, const struct sl_graph *graph, uint32_t v);

static inline uint32_t sl_tree_steps(const struct sl_tree *tree)
{
	return 2 * tree->depth;
}
