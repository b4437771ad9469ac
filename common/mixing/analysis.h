/* analysis.h - what privacy and mixing take from a graph: the one analysis that the core, the launcher,
 * `topology` and `estimate` share.
 *
 * Privacy (ROUND.md §7.9 Privacy check): connectivity, cuts, and the links that are missing. Mixing
 * (ROUND.md §8 Engines): mu, the minimal polynomial r and the forest. Every learner of a view comes to the
 * same result, but for the last digits of mu. Owns nothing; works in the arena that the caller hands in, and
 * leaves nothing there.
 */
#pragma once

#include "common/field/field.h"
#include "common/graph/graph.h"
#include "common/mixing/engine.h"

struct sl_analysis_request {
	uint64_t tolerance;  /* c, learners that may collude */
	uint32_t kappa_most; /* connectivity is counted up to this; at least c + 1; 0: not at all */
	bool missing;	     /* find the missing links where kappa < c + 1 */
	uint32_t least; /* where kappa < c + 1, keep a part of at least so many vertices that has c + 1; 0: do
			   not */
	uint32_t engines;	      /* SL_ENGINE_SET of each engine to analyse */
	uint32_t trees;		      /* of the forest, at most; 0: one */
	bool exact_first;	      /* where exact can run, analyse no other engine */
	const struct sl_field *field; /* of r; NULL where `engines` lacks exact */
	const uint8_t *seed;	      /* SL_HASH_BYTES for the random vectors of r; NULL: zeros */
};

struct sl_analysis {
	uint32_t components, largest;  /* connected components; vertices of the largest */
	uint32_t kappa;		       /* vertex connectivity, or kappa_most if that is less */
	uint32_t cut_count;	       /* vertices in `cut` */
	uint32_t cut[SL_LEARNERS_MAX]; /* kappa 0 or 1: every cut vertex; else, where kappa < kappa_most, a
					  smallest cut */
	uint32_t kept_count;	       /* vertices of the part that was kept (sl_prune); 0: there is none */
	uint64_t kept[SL_LEARNERS_MAX / 64 + 1]; /* these, as a bit set */
	uint32_t missing_count;			 /* links that raise kappa to c + 1 */
	struct sl_edge missing[SL_ADVICE_MAX];	 /* the first of them */
	double mu;			  /* of the Metropolis-Hastings matrix; 1 where it was not asked */
	uint32_t degree;		  /* of r; 0: exact cannot run, or was not asked */
	uint64_t r[SL_LEARNERS_MAX];	  /* degree + 1 coefficients */
	uint32_t depth;			  /* of the deepest tree of the forest; 0: not asked */
	uint32_t trees;			  /* of the forest */
	uint32_t load;			  /* edges of a vertex, summed over the trees, at most */
	uint32_t keeper[SL_LEARNERS_MAX]; /* the neighbour that keeps its deposit */
	uint16_t parent[SL_TREES_MAX * SL_LEARNERS_MAX]; /* trees x n, a tree after another; a root is its
							    own; the rest, most of the struct, is not set */
};

/* Return the bytes of arena that sl_analysis_run needs for any graph of `n` vertices and at most `edges`
 * edges. */
size_t sl_analysis_scratch(uint32_t n, uint32_t edges, uint64_t tolerance);

/* Analyse a graph of 1 to SL_LEARNERS_MAX vertices. Engines are analysed only where it is connected.
 * SL_ERR_NOMEM when scratch is too small. */
int sl_analysis_run(const struct sl_graph *graph, const struct sl_analysis_request *request,
		    struct sl_analysis *analysis, struct sl_arena *scratch);

/* Return the costs of the engines on the analysed graph, for vectors of `elements` of `bits` bits;
 * metropolis (`k`) is left out. */
struct sl_engine_costs sl_analysis_costs(const struct sl_analysis *analysis, const struct sl_graph *graph,
					 uint64_t elements, uint32_t bits);
