/* disjoint_paths.h - the number of vertex-disjoint paths, and a cut of that size (Menger 1927).
 *
 * Each vertex is split into an entry and an exit that one path may pass; a search from the start finds one
 * path more, and undoes pieces of earlier paths where it has to.
 */
#pragma once

#include "common/graph/sparse_certificate.h"

struct sl_disjoint_paths {
	uint32_t *previous;	  /* n; the vertex before it on its path, or SL_NONE */
	uint32_t *entered, *left; /* n; the search that last passed the entry, the exit */
	uint32_t *in_from;	  /* n; the exit that led to this entry */
	uint32_t *out_from;	  /* n; the entry that led to this exit */
	uint32_t *queue;	  /* n; exits to search from */
	uint32_t search;	  /* number of the current one */
};

/* Take the arrays for `n` vertices. SL_ERR_NOMEM leaves the arena as it was. */
int sl_disjoint_paths_init(struct sl_disjoint_paths *disjoint, uint32_t n, struct sl_arena *arena);
/* Return the bytes of arena that sl_disjoint_paths_init takes. */
size_t sl_disjoint_paths_bytes(uint32_t n);

/* Count paths between two vertices without an edge, disjoint but for their ends, up to `most`. */
uint32_t sl_disjoint_paths_pair(struct sl_disjoint_paths *disjoint,
				const struct sl_sparse_certificate *sparse, uint32_t from, uint32_t to,
				uint32_t most);

/* Count paths from a vertex to distinct vertices of lower rank, disjoint but for their start, up to `most`.
 */
uint32_t sl_disjoint_paths_fan(struct sl_disjoint_paths *disjoint, const struct sl_sparse_certificate *sparse,
			       uint32_t from, uint32_t most);

/* After a count below `most`: write as many vertices, ascending, that together lie on every path. */
void sl_disjoint_paths_cut(const struct sl_disjoint_paths *disjoint,
			   const struct sl_sparse_certificate *sparse, uint32_t *cut);

/* After a count below `most`: return whether `v` is on the start's side of that cut. */
static inline bool sl_disjoint_paths_near(const struct sl_disjoint_paths *d, uint32_t v)
{
	return d->left[v] == d->search;
}

/* After sl_disjoint_paths_fan: return whether a path ends at `v` or passes it. */
static inline bool sl_disjoint_paths_used(const struct sl_disjoint_paths *d, uint32_t v)
{
	return d->previous[v] != SL_NONE;
}
