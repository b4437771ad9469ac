/* generate.h - seeded communication graphs, one per step: what a radio might give.
 *
 * A topology is a family and a parameter, written "name" or "name:parameter". The same (topology, n, seed,
 * step) gives the same edges everywhere. Vertices are 0..n-1.
 */
#pragma once

#include "common/graph/graph.h"

enum sl_family_kind {
	SL_FAMILY_COMPLETE,
	SL_FAMILY_RING,
	SL_FAMILY_LINE,
	SL_FAMILY_STAR,	      /* vertex 0 is the hub */
	SL_FAMILY_GRID,	      /* as square as n allows; the last row may be short */
	SL_FAMILY_NEAREST,    /* nearest:k, the ring lattice: k/2 neighbours on either side, k even */
	SL_FAMILY_NEIGHBOURS, /* neighbours:k, the paper's: i~j iff (j-i) mod s is 1 or s-1, s = 2n/k (k
				 divides 2n) */
	SL_FAMILY_REGULAR, /* regular:d, random d-regular and connected, redrawn each step; n*d even, d < n */
	SL_FAMILY_GEOMETRIC, /* geometric:r, unit square, radius r, learners move (random waypoint) each step
			      */
};

struct sl_family {
	enum sl_family_kind kind;
	double parameter; /* k, d or r; 0 where the family has none */
};

/* Reads "ring", "regular:4", ...; a missing parameter takes the family's default (nearest 4, neighbours n/5
 * rounded to what divides 2n, regular 4, geometric sqrt(3 ln n / n)). *error names what is wrong. */
int sl_family_parse(const char *text, uint32_t n, struct sl_family *topology, const char **error);
/* The same for more vertices than a graph may have here; n >= 2. */
int sl_family_read(const char *text, uint32_t n, struct sl_family *topology, const char **error);

/* What keeps the family from having a graph on n vertices, in words; NULL when it has one. */
const char *sl_family_fault(const struct sl_family *topology, uint32_t n);

/* One line per family for help texts, ending in NULL: "regular:D   random D-regular ...". */
const char *const *sl_family_help(void);

/* The edges of step (0..) into `edges` (room for `capacity`; n*(n-1)/2 always suffices); *count of them, a <
 * b, sorted. SL_ERR_INVALID when the family has no such graph on n vertices, SL_ERR_FULL when capacity is
 * short. */
int sl_generate(const struct sl_family *topology, uint32_t n, uint64_t seed, uint32_t step,
		struct sl_edge *edges, size_t capacity, size_t *count, struct sl_arena *scratch);
