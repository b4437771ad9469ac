/* view.h - the frozen graph of an attempt (protocol 5, AGREE): participants, mutual edges, resolved
 * parameters, h.
 *
 * Built from the link states alone, so that every learner that holds the same ones builds the same view.
 * Lives in the core's arena and is const from the freeze to the end of the attempt; jobs read it.
 */
#pragma once

#include "common/mixing/engine.h"
#include "common/protocol/message.h"
#include "common/field/encode.h"
#include "common/graph/graph.h"
#include "common/field/share.h"

/* What a neighbour is to this learner in the tree (protocol 7). */
enum {
	SL_ROLE_PARENT = 1,
	SL_ROLE_CHILD = 2,
	SL_ROLE_LEAF = 4,	/* .. without children: what it sends up is its masked state */
	SL_ROLE_BACKUP = 8,	/* keeps this learner's masked state */
	SL_ROLE_BACKED_UP = 16, /* gives its own to keep */
};

/* What a State brings, as its iteration: by tree, */
enum {
	SL_TREE_OWN = 0,  /* the sender's masked state, as by the other engines */
	SL_TREE_UP = 1,	  /* the sum over the sender and all below it, who is no leaf */
	SL_TREE_DOWN = 2, /* Z */
};

struct sl_view {
	sl_round t;
	sl_attempt a;
	uint8_t h[SL_HASH_BYTES];
	uint32_t n;			 /* N */
	uint32_t *members;		 /* N roster indices, ascending */
	sl_id *ids;			 /* N ids, ascending */
	uint32_t *incarnations;		 /* theirs, as of their link states */
	uint8_t previous[SL_HASH_BYTES]; /* D of the round before, the same for all */
	uint32_t *position;		 /* roster index -> 0..N-1, or UINT32_MAX */
	struct sl_graph graph;		 /* over 0..N-1 */
	uint32_t self;			 /* this learner's position */
	uint32_t degree;		 /* tau = |N_self| */
	const uint32_t *neighbours;	 /* positions, ascending */
	struct sl_parameters agreed;	 /* equal, or the largest, over the view (protocol 5, AGREE) */
	struct sl_field field;		 /* p resolved */
	uint32_t fraction;		 /* f */
	struct sl_encoding encoding;
	enum sl_sharing_kind sharing;
	uint64_t max_weight;	      /* m_i <= max_weight */
	uint64_t elements;	      /* n + 1 */
	uint32_t chunks;	      /* ceil(elements / SL_CHUNK_ELEMENTS) */
	double mu;		      /* 0 where metropolis was not asked */
	uint8_t *roles;		      /* degree: SL_ROLE_ bits, where the survey made a tree */
	uint32_t children;	      /* neighbours that are */
	struct sl_engine_costs costs; /* with the own K, then with the largest that was announced: */
	enum sl_engine engine;	      /* what these come to, and */
	uint64_t steps;		      /* its exchanges */
};

static inline size_t sl_view_chunk_elements(const struct sl_view *view, uint32_t chunk)
{
	uint64_t left = view->elements - (uint64_t)chunk * SL_CHUNK_ELEMENTS;
	return left < SL_CHUNK_ELEMENTS ? (size_t)left : SL_CHUNK_ELEMENTS;
}

/* Shares to a neighbour: of every chunk, or one seed (protocol 3). */
static inline uint32_t sl_view_share_count(const struct sl_view *view)
{
	return view->sharing == SL_SHARING_SEEDED ? 1 : view->chunks;
}
/* Bytes of share m. */
static inline size_t sl_view_share_bytes(const struct sl_view *view, uint32_t m)
{
	return view->sharing == SL_SHARING_SEEDED ? SL_KEY_BYTES
						  : sl_view_chunk_elements(view, m) * view->field.bytes;
}
/* The chunk after the last that a SHARE or EXPAND job of chunk m does. */
static inline uint32_t sl_view_share_end(const struct sl_view *view, uint32_t m)
{
	uint32_t count = view->sharing == SL_SHARING_SEEDED ? SL_SEED_CHUNKS : 1;
	return view->chunks - m > count ? m + count : view->chunks;
}

/* Bytes of an element while it is mixed. */
static inline size_t sl_view_mixing_width(const struct sl_view *view)
{
	return view->engine == SL_ENGINE_METROPOLIS ? SL_STATE_BYTES : view->field.bytes;
}

/* Chunks of a neighbour that are mixed at a time. */
static inline uint32_t sl_view_window(const struct sl_view *view)
{
	return view->engine == SL_ENGINE_TREE ? sl_engine_tree_window(view->costs.depth) : SL_WINDOW;
}

/* From view->agreed. */
void sl_view_set_encoding(struct sl_view *view);
/* From view->costs. */
void sl_view_set_engine(struct sl_view *view);
/* Neighbour number (0..degree-1) of a roster index, or -1. */
int sl_view_neighbour(const struct sl_view *view, uint32_t roster_index);
/* Roster index of neighbour r. */
static inline uint32_t sl_view_peer(const struct sl_view *view, uint32_t r)
{
	return view->members[view->neighbours[r]];
}
