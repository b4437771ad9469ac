/* engine.h - how the masked states of a view are added up (protocol 7), and which of the ways a view takes.
 *
 * The choice follows from whole numbers that every learner of the view has alike: what the graph is, and the
 * largest K that its Readys announce. K comes out of floating point, so a learner's own one decides nothing.
 *
 *   exact        exact; where r(1) = 0 mod p metropolis, and where that cannot either, tree
 *   auto         the cheapest of the three that can, by the bytes of the busiest learner and what a step
 * costs beside them
 */
#pragma once

#include "common/base/limits.h"
#include "common/base/types.h"

/* As a parameter, what is wished for; of a view, what it comes to, which is never AUTO. */
enum sl_engine { SL_ENGINE_EXACT, SL_ENGINE_METROPOLIS, SL_ENGINE_TREE, SL_ENGINE_AUTO };
#define SL_ENGINES 3u
const char *sl_engine_name(enum sl_engine engine);
/* Bits of the largest p that it may be configured with: states of metropolis must not overflow. */
static inline uint32_t sl_engine_p_bits(enum sl_engine wanted)
{
	return wanted == SL_ENGINE_METROPOLIS ? SL_MIXING_P_BITS_MAX : SL_P_BITS_MAX;
}

#define SL_ITERATIONS_NONE (SL_ITERATIONS_MAX + 1u) /* as a K: metropolis cannot, or not here */

/* Chunks of a neighbour that tree has under way at a time: so many that who sent one up need not wait for it
 * to come down. */
static inline uint32_t sl_engine_tree_window(uint32_t depth)
{
	uint32_t window = SL_WINDOW + 2 * depth;
	return window < SL_TREE_WINDOW_MAX ? window : SL_TREE_WINDOW_MAX;
}

/* What each engine would take on one graph. */
struct sl_engine_costs {
	uint64_t k;	   /* exchanges of metropolis; SL_ITERATIONS_NONE; 0: it was not asked */
	uint32_t degree;   /* of r, the exchanges of exact; 0: it cannot, or was not asked */
	uint32_t depth;	   /* of the tree; 0: it was not asked */
	uint32_t children; /* of a learner in the tree, at most */
	uint32_t busiest;  /* neighbours of a learner, at most */
	uint64_t elements; /* of a vector */
	uint32_t width;	   /* bytes of an element of Z_p */
};

/* The engine, and its exchanges (of tree: steps) in *steps. */
enum sl_engine sl_engine_choose(enum sl_engine wanted, const struct sl_engine_costs *costs, uint64_t *steps);
