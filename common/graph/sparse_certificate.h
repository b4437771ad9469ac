/* sparse_certificate.h - the few edges of a graph that decide its connectivity up to k, and room to add more.
 *
 * Vertices are scanned in order of how many scanned neighbours they have (k or more count as k), and each
 * keeps its edges to the first k of those (Nagamochi and Ibaraki 1992). For every set S of fewer than k
 * vertices the skeleton without S then has the components of the graph without S, so a smallest cut below k
 * is the same in both, and so is what is missing. At most k(n-1) edges. Lives in an arena; knows the graph
 * only while it is made.
 */
#pragma once

#include "common/graph/graph.h"

#define SL_NONE UINT32_MAX /* no vertex, no arc */

struct sl_sparse_certificate {
	uint32_t n;
	uint32_t arcs, arcs_max; /* two of each edge, side by side */
	uint32_t *first;	 /* n; the last arc added at a vertex, or SL_NONE */
	uint32_t *after;	 /* arcs_max; the one added before it at the same vertex */
	uint32_t *to;		 /* arcs_max */
	uint32_t *degree;	 /* n */
	uint32_t *order;	 /* n; the vertices as they were scanned */
	uint32_t *rank;		 /* n; order[rank[v]] is v */
};

/* for (the arcs `arc` of v) ...; the neighbour is skeleton->to[arc]. */
#define SL_ARCS(sparse, arc, v)                                                                              \
	uint32_t arc = (sparse)->first[v];                                                                   \
	arc != SL_NONE;                                                                                      \
	arc = (sparse)->after[arc]

/* Keeps what decides connectivity up to k >= 1, with room for `more` edges. SL_ERR_NOMEM leaves the arena as
 * it was. */
int sl_sparse_certificate_init(struct sl_sparse_certificate *sparse, const struct sl_graph *graph, uint32_t k,
			       size_t more, struct sl_arena *arena);
/* Bytes of arena for any graph of n vertices that keeps `edges` edges, what is added included. */
size_t sl_sparse_certificate_bytes(uint32_t n, size_t edges);

bool sl_sparse_certificate_has(const struct sl_sparse_certificate *sparse, uint32_t a, uint32_t b);
/* Neighbours of lower rank. */
uint32_t sl_sparse_certificate_earlier(const struct sl_sparse_certificate *sparse, uint32_t v);

/* a-b is not there yet. Edges are numbered as they come; a dropped one keeps its number and ends, for
 * restoring it. */
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
