/* share.h - secret shares for the neighbours and for the learner itself (ROUND.md §5.2 Sharing; the
 * paper's Algorithm 1 and eq. share generation).
 *
 * All kinds give the same distribution: tau uniform weighted shares, and x minus their sum. Any proper subset
 * of the shares is uniformly random. The arrays of a sharing live in its arena. Shares are secret: callers
 * wipe them.
 */
#pragma once

#include "common/base/arena.h"
#include "common/field/prg.h"

#define SL_SHARINGS(X)                                                                                       \
	X(SHAMIR, "shamir")                                                                                  \
	X(OS, "os")                                                                                          \
	X(SEEDED, "seeded")

#define X(constant, name) SL_SHARING_##constant,
enum sl_sharing_kind { SL_SHARINGS(X) };
#undef X
#define SL_SHARING_KINDS ((uint32_t)SL_SHARING_SEEDED + 1u)

const char *sl_share_kind_name(enum sl_sharing_kind kind);

struct sl_sharing {
	struct sl_field field;
	uint32_t degree; /* tau = |N_i| */
	sl_id *points;	 /* degree neighbours in the caller's order, then the learner itself */
	uint64_t *delta; /* Lagrange weight at 0 of each point over the closed neighbourhood */
};

/* Prepare the shares of learner `self` for `degree` neighbours. Return SL_ERR_INVALID unless the ids are
 * distinct, 1 <= id < p and degree >= 1, and SL_ERR_NOMEM if the arena is too small. */
int sl_share_init(struct sl_sharing *sharing, const struct sl_field *field, sl_id self,
		  const sl_id *neighbours, uint32_t degree, struct sl_arena *arena);

/* Return the number of elements of scratch that sl_share needs (it works in blocks). */
size_t sl_share_scratch(uint32_t degree);

/* Make the shares of `count` coordinates: shares[r][l], r < degree for the neighbours, r = degree for the
 * learner itself. randomness: `degree` streams; shamir draws c_k from randomness[k-1], os draws the
 * share of neighbour r from randomness[r]; a call for the next coordinates continues the streams. seeded
 * makes the same numbers as os, but writes only the learner's own row: the other shares[r] and scratch
 * are not touched. Neighbour r gets the key of randomness[r], which must not be reused, and adds what
 * sl_prg_add draws from it. */
void sl_share(const struct sl_sharing *sharing, enum sl_sharing_kind kind, struct sl_prg *randomness,
	      const uint64_t *x, size_t count, uint64_t *const *shares, uint64_t *scratch);
