/* tree.h - the breadth-first tree that every learner computes from the view (PROTOCOL.md §8.4 tree). Lives in
 * an arena.
 *
 * The root is the least of the centres, the vertices of least eccentricity. The parent of any other vertex is
 * its least neighbour that is one step nearer to the root. Partial sums go up in `depth` steps, Z comes down
 * in as many.
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

/* Return the bytes of arena that sl_tree_init needs while it runs; it keeps 8 n. */
size_t sl_tree_bytes(uint32_t n);

/* Build the tree; the graph is not kept. SL_ERR_INVALID when it is empty or not connected, SL_ERR_NOMEM. */
int sl_tree_init(struct sl_tree *tree, const struct sl_graph *graph, struct sl_arena *arena);

/* Return the vertex that keeps a copy of v's masked state: the first neighbour after `v` in cyclic order that
 * is not its parent, or `v` if there is none. parent: as in a tree. */
uint32_t sl_tree_backup(const uint32_t *parent, const struct sl_graph *graph, uint32_t v);
