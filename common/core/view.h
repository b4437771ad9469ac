/* view.h - the frozen graph of an attempt (protocol 5, FREEZE): participants, mutual edges, resolved parameters, h.
 *
 * Built from the link states alone, so that every learner that holds the same ones builds the same view. Lives in the
 * core's arena and is const from the freeze to the end of the attempt; jobs read it.
 */
#pragma once

#include "common/core/message.h"
#include "common/math/encode.h"
#include "common/math/graph.h"
#include "common/math/share.h"

struct sl_view {
	sl_round t;
	sl_attempt a;
	uint8_t h[SL_HASH_BYTES];
	uint32_t n;                 /* N */
	uint32_t *members;          /* N roster indices, ascending */
	sl_id *ids;                 /* N ids, ascending */
	uint32_t *position;         /* roster index -> 0..N-1, or UINT32_MAX */
	struct sl_graph graph;      /* over 0..N-1 */
	uint32_t self;              /* this learner's position */
	uint32_t degree;            /* tau = |N_self| */
	const uint32_t *neighbours; /* positions, ascending */
	struct sl_parameters agreed; /* equal, or the largest, over the view (protocol 5, AGREE) */
	struct sl_field field;      /* p resolved */
	uint32_t fraction;          /* f */
	struct sl_encoding encoding;
	enum sl_sharing_kind sharing;
	uint64_t max_weight;        /* m_i <= max_weight */
	uint64_t elements;          /* n + 1 */
	uint32_t chunks;            /* ceil(elements / SL_CHUNK_ELEMENTS) */
	double mu;                  /* after the spectrum */
	uint64_t k;                 /* K_i, then the maximum over the Readys */
};

static inline size_t sl_chunk_elements(const struct sl_view *view, uint32_t chunk)
{
	uint64_t left = view->elements - (uint64_t)chunk * SL_CHUNK_ELEMENTS;
	return left < SL_CHUNK_ELEMENTS ? (size_t)left : SL_CHUNK_ELEMENTS;
}

/* Neighbour number (0..degree-1) of a roster index, or -1. */
int sl_view_neighbour(const struct sl_view *view, uint32_t roster_index);
/* Roster index of neighbour r. */
static inline uint32_t sl_view_peer(const struct sl_view *view, uint32_t r)
{
	return view->members[view->neighbours[r]];
}
