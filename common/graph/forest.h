/* forest.h - the spanning trees that every learner computes from the view (ROUND.md §8.4 forest). Lives in
 * an arena.
 *
 * A vector is divided into as many parts as there are trees. Each part passes every edge of its tree once
 * upwards, in a sum, and once downwards, as Z. A learner therefore sends, and receives, as many parts as it
 * has edges in all trees together: its load. The trees are chosen so that the largest load is small; among
 * such trees shallow ones are preferred. Only integers decide, so all learners get the same trees.
 *
 * Trees are grown one after another, each from the vertex with the least load, by Prim's algorithm for least
 * total price. Every vertex has a budget of edges over all trees, 1/10 above the average load. One more edge
 * costs nothing at a vertex whose load stays in the budget, with one edge set aside for each tree to come;
 * above, the price grows exponentially with the load. At equal price an edge nearer to the root is taken: a
 * tree within the budget is as shallow as one grown by breadth-first search. Then the root moves to the
 * centre. Where a vertex exceeds the budget much, as a cut vertex may have to, trees whose prices count from
 * the first edge are tried as well.
 *
 * On a complete graph of N <= SL_FOREST_TREES_MAX vertices the trees are N stars, in which each vertex has
 * 2(N-1) edges. With fewer trees than vertices and SL_FOREST_TREES_MAX allow, parts are small: then each
 * vertex may have a few edges more, for shallower trees. A single tree is grown for its depth alone.
 */
#pragma once

#include "common/graph/graph.h"

#define SL_FOREST_TREES_MAX 64u

struct sl_forest {
	uint32_t n;
	uint32_t trees;	  /* 1 if the graph is a tree itself */
	uint32_t depth;	  /* of the deepest tree: at most n / 2 */
	uint32_t busiest; /* the largest load */
	uint32_t *parent; /* trees x n, a tree after another; a root is its own */
	uint32_t *keeper; /* n; the neighbour that keeps the deposit of a vertex; itself where n = 1 */
};

/* Return the bytes of arena that sl_forest_init needs while it runs for at most `most` trees; it keeps
 * 4 n (trees + 1). */
size_t sl_forest_bytes(uint32_t n, uint32_t most);

/* Compute at most `most` trees, 1 to SL_FOREST_TREES_MAX, and the keepers; the graph is not kept. A vertex
 * keeps as few deposits, at most, as is possible for the graph. SL_ERR_INVALID when the graph is empty or not
 * connected, SL_ERR_NOMEM. */
int sl_forest_init(struct sl_forest *forest, const struct sl_graph *graph, uint32_t most,
		   struct sl_arena *arena);

/* Set *bound to a number of vectors that the busiest learner sends, and receives, at least, with any spanning
 * trees and any division of a vector among them. Let y be weights of the vertices that sum to 1. The largest
 * average load is at least the mean of the average loads by these weights. That mean is an average, over the
 * trees, of the sum of y(u) + y(v) over the edges of a tree, which is least in a minimum spanning tree for
 * these costs. Of many weights, raised where such trees have many edges, the best is taken. A second set of
 * trees with the same roots, for the way down, would not help: a learner would send as many parts as it has
 * edges there, and receive as many as it has edges in the first. SL_ERR_INVALID and SL_ERR_NOMEM as above. */
int sl_forest_bound(const struct sl_graph *graph, double *bound, struct sl_arena *scratch);
