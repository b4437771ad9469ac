/* view.h - the view of an attempt: participants, mutual edges, agreed parameters, and their hash h
 * (ROUND.md §7.8 Agree on the view).
 *
 * Built from the link states alone: learners that hold the same ones build the same view, but for the
 * exceptions of §7.8. Lives in the core's arena and is const from SHARE to the end of the attempt; jobs read
 * it.
 */
#pragma once

#include "common/base/bytes.h"
#include "common/dp/scale.h"
#include "common/mixing/engine.h"
#include "common/protocol/message.h"
#include "common/protocol/parameters.h"
#include "common/field/checksum.h"
#include "common/field/encoding.h"
#include "common/graph/graph.h"
#include "common/field/share.h"

#define SL_VIEW_FRESH_ROUNDS 2u /* the first rounds of a run: ranges are those of a model */

/* The iteration of a State when the engine is forest. There is no State of iteration 0: that is the masked
 * state, which the deposit and its key give. */
enum {
	SL_FOREST_UP = 1,   /* the sum over the sender and the learners below it */
	SL_FOREST_DOWN = 2, /* Z */
};

struct sl_view {
	sl_round t;
	sl_attempt a;
	uint8_t h[SL_HASH_BYTES];
	uint32_t n;			 /* N */
	uint32_t *members;		 /* N roster indices, ascending */
	sl_id *ids;			 /* N ids, ascending */
	uint32_t *incarnations;		 /* N, from the link states */
	uint8_t previous[SL_HASH_BYTES]; /* D of the round before; equal for all */
	uint32_t *position;		 /* roster index -> 0..N-1, or UINT32_MAX */
	struct sl_graph graph;		 /* over 0..N-1 */
	uint32_t self;			 /* this learner's position */
	uint32_t degree;		 /* tau = |N_self| */
	const uint32_t *neighbours;	 /* positions, ascending */
	struct sl_parameters agreed;	 /* those of the roster; the others by the rules in message.h */
	struct sl_field field;		 /* p resolved */
	uint32_t fraction;		 /* g of §8.2 */
	struct sl_encoding encoding;
	struct sl_dp_scale scale; /* with noise */
	enum sl_sharing_kind sharing;
	uint64_t max_weight;	 /* m_i <= max_weight */
	uint64_t elements;	 /* n + 1, and what the ranges take (common/field/ranges.h) */
	uint32_t chunks;	 /* ceil(elements / SL_CHUNK_ELEMENTS) */
	uint32_t state_elements; /* of each chunk of the States but the last; SL_CHUNK_ELEMENTS, but for
				    forest */
	uint32_t state_chunks;	 /* ceil(elements / state_elements) */
	double mu;		 /* of metropolis; 0: not analysed */
	uint64_t *up, *down;	 /* by neighbour: trees in which it is the parent, a child; a bit for each */
	uint32_t *keeper;     /* N positions, if the analysis made a forest: who keeps the deposit of each */
	bool deposits_forest; /* a deposit goes to that keeper; else every neighbour is a keeper */
	struct sl_engine_costs
		costs;	       /* with the own K; from the release on, with the largest K of the Readys */
	enum sl_engine engine; /* chosen by the costs; SL_ENGINE_AUTO: not known, as for a view from disk */
	uint64_t steps;	       /* exchanges of the engine */
};

static inline size_t sl_view_chunk_elements(const struct sl_view *view, uint32_t chunk)
{
	uint64_t left = view->elements - (uint64_t)chunk * SL_CHUNK_ELEMENTS;
	return left < SL_CHUNK_ELEMENTS ? (size_t)left : SL_CHUNK_ELEMENTS;
}

/* Return the elements of chunk `m` of the States. */
static inline size_t sl_view_state_elements(const struct sl_view *view, uint32_t m)
{
	uint64_t left = view->elements - (uint64_t)m * view->state_elements;
	return left < view->state_elements ? (size_t)left : view->state_elements;
}
/* Return state_chunks, at most, whatever engine the view will use. */
static inline uint32_t sl_view_state_chunks_most(uint64_t elements)
{
	uint32_t trees = sl_engine_trees_most(elements),
		 chunks = (uint32_t)((elements + SL_CHUNK_ELEMENTS - 1) / SL_CHUNK_ELEMENTS);
	return (chunks > trees ? chunks : trees) + trees - 1;
}
/* Return the tree of chunk `m` as a set. */
static inline uint64_t sl_view_tree(const struct sl_view *view, uint32_t m)
{
	return UINT64_C(1) << m % view->costs.trees;
}

/* Return the number of Shares to a neighbour: one for each chunk, or one seed. */
static inline uint32_t sl_view_share_count(const struct sl_view *view)
{
	return view->sharing == SL_SHARING_SEEDED ? 1 : view->chunks;
}
/* Return the bytes of Share `m`. */
static inline size_t sl_view_share_bytes(const struct sl_view *view, uint32_t m)
{
	return view->sharing == SL_SHARING_SEEDED
		       ? SL_KEY_BYTES
		       : sl_packed_bytes(sl_view_chunk_elements(view, m), view->field.bits);
}
/* Return the chunk after the last one of a SHARE or EXPAND job that begins at chunk `m`. */
static inline uint32_t sl_view_share_end(const struct sl_view *view, uint32_t m)
{
	uint32_t count = view->sharing == SL_SHARING_SEEDED ? SL_SEED_CHUNKS : 1;
	return view->chunks - m > count ? m + count : view->chunks;
}

/* Return the bits of an element of a State. */
static inline uint32_t sl_view_mixing_bits(const struct sl_view *view)
{
	return sl_engine_bits(view->engine, view->field.bits);
}

/* Return the chunks of a neighbour that are mixed at a time. */
static inline uint32_t sl_view_window(const struct sl_view *view)
{
	return sl_engine_window(view->engine, &view->costs);
}

/* Return true if `keeper` keeps the deposit of `owner`: positions (ROUND.md §5.6 Deposits). Not for a view
 * from disk, of which the forest is not known. */
bool sl_view_keeper(const struct sl_view *view, uint32_t owner, uint32_t keeper);
/* Return true if this learner keeps the deposit of its neighbour `r`; if neighbour `r` keeps the own one. */
static inline bool sl_view_keeps(const struct sl_view *view, uint32_t r)
{
	return !view->deposits_forest || view->keeper[view->neighbours[r]] == view->self;
}
static inline bool sl_view_is_keeper(const struct sl_view *view, uint32_t r)
{
	return !view->deposits_forest || view->keeper[view->self] == view->neighbours[r];
}

/* Return the threshold of the key shares of the learner at `position` (ROUND.md §5.7 Key shares). */
static inline uint32_t sl_view_threshold(const struct sl_view *view, uint32_t position)
{
	uint32_t half = sl_graph_degree(&view->graph, position) / 2 + 1;
	uint32_t most = (uint32_t)view->agreed.tolerance + 1;
	return half > most ? half : most;
}

/* Return the digests that a commit needs, of a view with n participants, tolerance c and `forgetful` f: two
 * sets of so many have more than f participants in common (ROUND.md §7.14 Confirm). */
static inline uint64_t sl_view_digests(uint64_t n, uint64_t c, uint64_t f)
{
	uint64_t most = (n + f) / 2 > c ? (n + f) / 2 : c;
	return most < n ? most + 1 : n;
}

/* Return how many further participants, whichever they are, may be lost for good once all Readys are sent, so
 * that the attempt still completes (ROUND.md §10.4 How recovery ends). `lost`: those that are lost
 * already, a bit set over the roster; NULL: none. */
uint32_t sl_view_tolerates(const struct sl_view *view, const uint64_t *lost);

/* Return true if the engine passes on sums of masked states, which CHECK has to look after (ROUND.md §8.7
 * Checking what was passed on). */
static inline bool sl_view_partial_sums(const struct sl_view *view)
{
	return sl_engine_partial_sums(view->engine, view->steps);
}
/* Return the points of a checksum. */
static inline uint32_t sl_view_points(const struct sl_view *view)
{
	return sl_checksum_points(&view->field);
}

/* Return true if each tensor has its range: updates of a committed model, or of the common initial one, are
 * averaged. */
bool sl_view_ranged(const struct sl_view *view);
/* Return true if there is a model before that of the view, which may be used: a committed one, or the common
 * initial one. */
bool sl_view_has_base(const struct sl_view *view);
/* Fill encoding, scale, sharing, weights and sizes from view->agreed, view->previous and view->n. layout: of
 * the model. With noise, encoding.noisy.most is 0 if there is no scale: then no modulus is large enough. */
void sl_view_set_encoding(struct sl_view *view, const struct sl_layout *layout);
/* Return the terms of the noise of a view of so many learners; values are noisy. */
struct sl_dp_terms sl_view_terms(const struct sl_parameters *parameters, uint32_t learners);
/* Return what a view with noise is charged. `sampled`: see sl_dp_scale_round. */
struct sl_dp_round sl_view_charge(const struct sl_view *view, double sampled);
/* Choose engine and steps by view->costs, and the chunks of the States. */
void sl_view_set_engine(struct sl_view *view);
/* Return the neighbour number (0..degree-1) of a roster index, or -1. */
int sl_view_neighbour(const struct sl_view *view, uint32_t roster_index);
/* Return the least quorum for a roster of `roster_size` with the parameter `forgetful`: two sets of that size
 * share more than `forgetful` learners (GROUP.md §12.2 Quorum). */
static inline uint32_t sl_view_quorum_least(uint32_t roster_size, uint64_t forgetful)
{
	return (uint32_t)((roster_size + forgetful + 2) / 2);
}
/* Return the roster index of neighbour `r`. */
static inline uint32_t sl_view_peer(const struct sl_view *view, uint32_t r)
{
	return view->members[view->neighbours[r]];
}
