/* sparse_certificate.h - a sparse subgraph with the connectivity of the graph up to k, and room for added
 * edges.
 *
 * Vertices are scanned in order of how many scanned neighbours they have (k or more count as k), and each
 * keeps its edges to the first k of those (Nagamochi and Ibaraki 1992). For every set S of fewer than k
 * vertices the certificate without S then has the components of the graph without S, so a smallest cut below
 * k is the same in both, and so are the missing edges. At most k(n-1) edges. Lives in an arena; the graph is
 * not kept.
 */
#pragma once

#include "common/graph/graph.h"

#define SL_NONE UINT32_MAX /* no vertex, no arc */

struct sl_sparse_certificate {
	uint32_t n;
	uint32_t arcs, arcs_max; /* two per edge, adjacent */
	uint32_t *first;	 /* n; the last arc added at a vertex, or SL_NONE */
	uint32_t *after;	 /* arcs_max; the one added before it at the same vertex */
	uint32_t *to;		 /* arcs_max */
	uint32_t *degree;	 /* n */
	uint32_t *order;	 /* n; the vertices in the order of the scan */
	uint32_t *rank;		 /* n; order[rank[v]] is v */
};

/* Loop over the arcs of `v`: for (SL_ARCS(sparse, arc, v)); the neighbour is sparse->to[arc]. */
#define SL_ARCS(sparse, arc, v)                                                                              \
	uint32_t arc = (sparse)->first[v];                                                                   \
	arc != SL_NONE;                                                                                      \
	arc = (sparse)->after[arc]

/* Build the certificate for k >= 1, with room for `more` edges. SL_ERR_NOMEM leaves the arena as it was. */
int sl_sparse_certificate_init(struct sl_sparse_certificate *sparse, const struct sl_graph *graph, uint32_t k,
			       size_t more, struct sl_arena *arena);
/* Return the bytes of arena for any graph of `n` vertices that keeps `edges` edges, added ones included. */
size_t sl_sparse_certificate_bytes(uint32_t n, size_t edges);

bool sl_sparse_certificate_has(const struct sl_sparse_certificate *sparse, uint32_t a, uint32_t b);
/* Return the number of neighbours of lower rank. */
uint32_t sl_sparse_certificate_earlier(const struct sl_sparse_certificate *sparse, uint32_t v);

/* Add a-b, which is not present; drop and restore an edge. Edges are numbered in order of addition; a dropped
 * edge keeps its number and ends. */
void sl_sparse_certificate_add(struct sl_sparse_certificate *sparse, uint32_t a, uint32_t b);
void sl_sparse_certificate_drop(struct sl_sparse_certificate *sparse, uint32_t edge);
void sl_sparse_certificate_restore(struct sl_sparse_certificate *sparse, uint32_t edge);
static inline uint32_t sl_sparse_certificate_edges(const struct sl_sparse_certificate *s)
{
	return s->arcs / 2;
}
static inline uint32_t sl_sparse_certificate_a(const struct sl_sparse_certificate *s, uint32_t edge)
{
	return s->to[2 * edge + 1];
}
static inline uint32_t sl_sparse_certificate_b(const struct sl_sparse_certificate *s, uint32_t edge)
{
	return s->to[2 * edge];
}
