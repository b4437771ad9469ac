/* engine.h - the engines that add up the masked states of a view, what each costs, and which of them a view
 * uses (ROUND.md §8.5 Which engine a view uses).
 *
 * An engine has a row in each of four tables by its constant of enum
 * sl_engine:
 *
 *    common/mixing/engine.c        its costs over a graph: names, widths, exchanges
 *    common/mixing/analysis.c      what it takes from the graph of a view
 *    common/compute/job_mix.c      its arithmetic on one learner's vectors
 *    common/core/mix.c             its messages
 *
 * The choice follows from whole numbers that are equal at every learner of the view: those of the graph, and
 * the largest K that its Readys announce. K is computed in floating point, so a learner's own K decides
 * nothing.
 */
#pragma once

#include <assert.h>

#include "common/base/limits.h"
#include "common/base/types.h"

/* The values of the parameter `mixing` and their names. A view uses an engine before AUTO; where an engine
 * cannot run, those behind it take its place in this order. */
#define SL_ENGINE_NAMES(X)                                                                                   \
	X(EXACT, "exact")                                                                                    \
	X(METROPOLIS, "metropolis")                                                                          \
	X(FOREST, "forest")                                                                                  \
	X(AUTO, "auto")

#define X(constant, name) SL_ENGINE_##constant,
enum sl_engine { SL_ENGINE_NAMES(X) };
#undef X
#define SL_ENGINES ((uint32_t)SL_ENGINE_AUTO) /* engines */

#define SL_ITERATIONS_NONE (SL_ITERATIONS_MAX + 1u) /* as a K: metropolis cannot run */

/* hop_bytes before it is measured: half a millisecond at 1 Gbit/s (ROUND.md §8.6 The price of an engine).
 */
#define SL_HOP_BYTES 65536u

/* Return the trees of a forest, at most: a tree for a small part of a vector saves no time. */
static inline uint32_t sl_engine_trees_most(uint64_t elements)
{
	uint64_t trees = (elements + SL_TREE_ELEMENTS - 1) / SL_TREE_ELEMENTS;
	return trees == 0 ? 1 : trees < SL_TREES_MAX ? (uint32_t)trees : SL_TREES_MAX;
}
/* Return the elements of each chunk but the last that a forest of `trees` adds up (ROUND.md §8.4 forest):
 * no tree has many more chunks than another. A packed chunk ends at a byte. */
static inline uint32_t sl_engine_forest_elements(uint64_t elements, uint32_t trees)
{
	uint64_t chunks = (elements + SL_CHUNK_ELEMENTS - 1) / SL_CHUNK_ELEMENTS;
	chunks = (chunks + trees - 1) / trees * trees;
	return (uint32_t)((elements + 8 * chunks - 1) / (8 * chunks) * 8);
}

/* Sets of engines. */
#define SL_ENGINE_SET(engine) (1u << (engine))
#define SL_ENGINE_SET_ALL (SL_ENGINE_SET(SL_ENGINES) - 1u)

/* The cost of each engine on one graph. */
struct sl_engine_costs {
	uint64_t k;	    /* exchanges of metropolis; SL_ITERATIONS_NONE; 0: not analysed */
	uint32_t degree;    /* of r, the exchanges of exact; 0: it cannot run, or was not analysed */
	uint32_t depth;	    /* of the deepest tree of the forest; 0: not analysed */
	uint32_t trees;	    /* of the forest */
	uint32_t load;	    /* edges of a learner, summed over the trees, at most */
	uint32_t busiest;   /* neighbours of a learner, at most */
	uint64_t elements;  /* of a vector */
	uint32_t bits;	    /* of an element of Z_p */
	bool failed;	    /* enough participants have said that an attempt of the round failed */
	uint64_t hop_bytes; /* that a learner could send while a message crosses a link; 0: SL_HOP_BYTES */
};

/* The engine that a view uses: the one named by the parameter; the first that can run; the cheapest that can
 * run, by the bytes of the busiest learner and those that it could send during the hops. */
enum sl_engine_choice { SL_CHOICE_NAMED, SL_CHOICE_FIRST, SL_CHOICE_CHEAPEST };

/* One value of the parameter `mixing`: a row of the table. */
struct sl_engine_row {
	enum sl_engine_choice choice;
	uint32_t p_bits;     /* of the largest p: states must not overflow */
	uint32_t state_bits; /* of an element of a state; 0: as an element of Z_p */
	bool to_all; /* in each exchange a learner sends its state to all neighbours; else up and down trees
		      */
	bool rounds; /* states are fractions of 2^g: the result is rounded, and mu says how fast they converge
		      */
	uint64_t partial;    /* with at least so many exchanges, sums of masked states are passed on */
	bool needs_k;	     /* as the parameter: without a K the view cannot be mixed */
	uint32_t candidates; /* engines that may mix when this is the parameter */
	/* Return the exchanges (of forest: steps up and down), or 0 where the engine cannot run or was not
	 * analysed. */
	uint64_t (*exchanges)(const struct sl_engine_costs *costs);
	/* Return the hops: messages of mixing and CHECK that wait for one another. */
	uint64_t (*hops)(const struct sl_engine_costs *costs);
	/* Return the chunks of a neighbour that are under way at a time; NULL: SL_WINDOW. */
	uint32_t (*window)(const struct sl_engine_costs *costs);
};
extern const struct sl_engine_row sl_engine_rows[SL_ENGINES + 1];

const char *sl_engine_name(enum sl_engine engine);
/* Return the bits of the largest p that may be configured with `wanted`. */
static inline uint32_t sl_engine_p_bits(enum sl_engine wanted)
{
	return sl_engine_rows[wanted].p_bits;
}
/* Return the bits of an element while `engine` mixes it; `bits`: of an element of Z_p. */
static inline uint32_t sl_engine_bits(enum sl_engine engine, uint32_t bits)
{
	return sl_engine_rows[engine].state_bits != 0 ? sl_engine_rows[engine].state_bits : bits;
}
/* Return the exchanges of `engine`, or 0 where it cannot run or was not analysed. */
static inline uint64_t sl_engine_exchanges(enum sl_engine engine, const struct sl_engine_costs *costs)
{
	return sl_engine_rows[engine].exchanges(costs);
}
/* Return the set of engines that may mix over a p of `p_bits` bits when the parameter is `wanted`. */
uint32_t sl_engine_candidates(enum sl_engine wanted, uint32_t p_bits);
/* Return the chunks of a neighbour that `engine` has under way at a time. */
uint32_t sl_engine_window(enum sl_engine engine, const struct sl_engine_costs *costs);
/* Return the same for the engine that has most. */
uint32_t sl_engine_window_most(const struct sl_engine_costs *costs);

/* Return the vectors that learners send, deposits included: `links` counts their neighbours, `forest` what
 * they send by forest. */
static inline double sl_engine_vectors(enum sl_engine engine, uint64_t exchanges, uint64_t links,
				       double forest)
{
	return sl_engine_rows[engine].to_all ? (double)(exchanges * links) : forest;
}
/* Return those of them that have elements of sl_engine_bits: all but the deposits, and sums by forest, which
 * are elements of Z_p. */
static inline uint64_t sl_engine_states(enum sl_engine engine, uint64_t exchanges, uint64_t links)
{
	return sl_engine_rows[engine].to_all && exchanges > 0 ? (exchanges - 1) * links : 0;
}
/* Return true if `engine` passes on sums of masked states in that many exchanges. */
static inline bool sl_engine_partial_sums(enum sl_engine engine, uint64_t exchanges)
{
	return exchanges >= sl_engine_rows[engine].partial;
}
/* By forest, a learner sends a chunk over each of its edges in the tree of the chunk, and its deposit to its
 * keeper. Return the vectors of the busiest learner, and of all `n`. */
static inline double sl_engine_forest_most(const struct sl_engine_costs *costs)
{
	return costs->trees == 0 ? 0 : (double)costs->load / costs->trees + 1;
}
static inline double sl_engine_forest_all(uint64_t n)
{
	return (double)(3 * n - 2);
}

/* Return true if deposits go to the keepers of forest, and not to all neighbours: where forest is named, or
 * chosen for its price, and no attempt of the round failed (ROUND.md §5.6 Deposits). K has no part in it.
 */
bool sl_engine_deposits_forest(enum sl_engine wanted, const struct sl_engine_costs *costs);

/* Return the engine that a view with the parameter `wanted` uses; its exchanges in *exchanges. */
enum sl_engine sl_engine_choose(enum sl_engine wanted, const struct sl_engine_costs *costs,
				uint64_t *exchanges);
