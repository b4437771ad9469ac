/* disjoint_paths.h - how many paths share no vertex, and the vertices that keep it from being more (Menger
 * 1927).
 *
 * Each vertex stands for a door in and a door out that one path may pass; a search from the start finds one
 * path more, by undoing pieces of those found before where it has to.
 */
#pragma once

#include "common/graph/sparse_certificate.h"

struct sl_disjoint_paths {
	uint32_t *previous;	  /* n; who is before it on its path, or SL_NONE */
	uint32_t *entered, *left; /* n; the search that last passed the door in, the door out */
	uint32_t *in_from;	  /* n; the door out that led to this door in */
	uint32_t *out_from;	  /* n; the door in that led to this door out */
	uint32_t *queue;	  /* n; doors out to look from */
	uint32_t search;	  /* number of the current one */
};

/* SL_ERR_NOMEM leaves the arena as it was. */
int sl_disjoint_paths_init(struct sl_disjoint_paths *disjoint, uint32_t n, struct sl_arena *arena);
size_t sl_disjoint_paths_bytes(uint32_t n);

/* Paths between two vertices without an edge, disjoint but for these; counts to `most` and no further. */
uint32_t sl_disjoint_paths_pair(struct sl_disjoint_paths *disjoint,
				const struct sl_sparse_certificate *sparse, uint32_t from, uint32_t to,
				uint32_t most);

/* Paths from a vertex to vertices of lower rank, each to another, disjoint but for their start; counts to
 * `most`. */
uint32_t sl_disjoint_paths_fan(struct sl_disjoint_paths *disjoint, const struct sl_sparse_certificate *sparse,
			       uint32_t from, uint32_t most);

/* After an answer below `most`: as many vertices that every path must use, ascending. */
void sl_disjoint_paths_cut(const struct sl_disjoint_paths *disjoint,
			   const struct sl_sparse_certificate *sparse, uint32_t *cut);

/* After an answer below `most`: v is on the start's side of that cut. */
static inline bool sl_disjoint_paths_near(const struct sl_disjoint_paths *d, uint32_t v)
{
	return d->left[v] == d->search;
}

/* After sl_disjoint_paths_fan: a path ends at v, or passes it. */
static inline bool sl_disjoint_paths_used(const struct sl_disjoint_paths *d, uint32_t v)
{
	return d->previous[v] != SL_NONE;
}
