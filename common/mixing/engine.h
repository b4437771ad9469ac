/* engine.h - the engines that add up the masked states of a view, what each costs, and which of them a view uses
 * (PROTOCOL.md §8.5 Which engine a view uses).
 *
 * The choice follows from whole numbers that are equal at every learner of the view: those of the graph, and the largest K
 * that its Readys announce. K is computed in floating point, so a learner's own K decides nothing.
 *
 *   exact        exact; where r(1) = 0 mod p metropolis, and where that cannot run either, tree
 *   auto         the cheapest of the three that can run, by the bytes of the busiest learner and a price per exchange
 */
#pragma once

#include "common/base/limits.h"
#include "common/base/types.h"

/* The parameter `mixing`; of a view, the engine that it uses, which is never AUTO. */
enum sl_engine { SL_ENGINE_EXACT, SL_ENGINE_METROPOLIS, SL_ENGINE_TREE, SL_ENGINE_AUTO };
#define SL_ENGINES 3u
const char *sl_engine_name(enum sl_engine engine);
/* Return the bits of the largest p that may be configured with `wanted`: states of metropolis must not overflow. */
static inline uint32_t sl_engine_p_bits(enum sl_engine wanted)
{
	return wanted == SL_ENGINE_METROPOLIS ? SL_MIXING_P_BITS_MAX : SL_P_BITS_MAX;
}

#define SL_ITERATIONS_NONE (SL_ITERATIONS_MAX + 1u) /* as a K: metropolis cannot run */

/* Return the chunks of a neighbour that tree has under way at a time: enough that a sender need not wait for the first chunk
 * to come down again. */
static inline uint32_t sl_tree_lanes(uint32_t depth)
{
	uint32_t lanes = SL_LANES + 2 * depth;
	return lanes < SL_TREE_LANES_MAX ? lanes : SL_TREE_LANES_MAX;
}

/* What each engine would take on one graph. */
struct sl_engine_costs {
	uint64_t k;	   /* exchanges of metropolis; SL_ITERATIONS_NONE; 0: not analysed */
	uint32_t degree;   /* of r, the exchanges of exact; 0: it cannot run, or was not analysed */
	uint32_t depth;	   /* of the tree; 0: not analysed */
	uint32_t children; /* of a learner in the tree, at most */
	uint32_t busiest;  /* neighbours of a learner, at most */
	uint64_t elements; /* of a vector */
	uint32_t width;	   /* bytes of an element of Z_p */
};

/* Return the exchanges of `engine` (for tree: steps up and down), or 0 where it cannot run or was not analysed. */
uint64_t sl_engine_exchanges(enum sl_engine engine, const struct sl_engine_costs *costs);

/* Return the vectors that learners send while mixing: `links` counts their neighbours, `tree` what they send by tree. */
static inline uint64_t sl_engine_vectors(enum sl_engine engine, uint64_t exchanges, uint64_t links, uint64_t tree)
{
	return engine == SL_ENGINE_TREE ? tree : exchanges * links;
}
/* By tree, a learner sends one vector to its parent, one to a neighbour that keeps its masked state, and Z to each child;
 * all `n` learners, `keepers` of which have such a neighbour, send sl_engine_tree_all. */
static inline uint64_t sl_engine_tree_most(uint32_t children)
{
	return (uint64_t)children + 2;
}
static inline uint64_t sl_engine_tree_all(uint64_t n, uint64_t keepers)
{
	return 2 * (n - 1) + keepers;
}
/* Return the bytes of an element while `engine` mixes it; `width`: of an element of Z_p. */
static inline uint32_t sl_engine_width(enum sl_engine engine, uint32_t width)
{
	return engine == SL_ENGINE_METROPOLIS ? SL_STATE_BYTES : width;
}

/* Return the engine that a view with the parameter `wanted` uses; its exchanges in *exchanges. */
enum sl_engine sl_engine_choose(enum sl_engine wanted, const struct sl_engine_costs *costs, uint64_t *exchanges);
