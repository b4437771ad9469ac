/* share.h - secret shares to the neighbours, and one's own (protocol 3; the paper's Algorithm 1 and eq. share
 * generation).
 *
 * All generators give the same distribution: tau uniform weighted shares and x minus their sum. A sharing
 * owns nothing; its arrays live in the arena it was made in. Shares are secrets: callers wipe them.
 */
#pragma once

#include "common/base/arena.h"
#include "common/field/prg.h"

enum sl_sharing_kind { SL_SHARING_SHAMIR, SL_SHARING_ADDITIVE, SL_SHARING_SEEDED };

struct sl_sharing {
	struct sl_field field;
	uint32_t degree; /* tau = |N_i| */
	sl_id *points;	 /* degree neighbours in the caller's order, then the learner itself */
	uint64_t *delta; /* Lagrange weight at 0 of each point over the closed neighbourhood */
};

/* Ids must be distinct and 1 <= id < p, degree >= 1: else SL_ERR_INVALID. SL_ERR_NOMEM if the arena is too
 * small. */
int sl_share_init(struct sl_sharing *sharing, const struct sl_field *field, sl_id self,
		  const sl_id *neighbours, uint32_t degree, struct sl_arena *arena);

/* H(point_r) = x + c_1 point_r + .. + c_tau point_r^tau mod p, for one r over `count` coordinates.
 * coefficients: tau rows of `stride` elements (row k-1 holds c_k). */
void sl_share_evaluate(const struct sl_sharing *sharing, uint32_t r, const uint64_t *x,
		       const uint64_t *coefficients, size_t stride, size_t count, uint64_t *h);

/* Elements of scratch that sl_share needs (it works in blocks). */
size_t sl_share_scratch(uint32_t degree);

/* Shares of `count` coordinates: shares[r][l], r < degree for the neighbours, r = degree for the learner
 * itself. coins: `degree` streams; shamir draws c_k from coins[k-1], additive draws neighbour r's share from
 * coins[r]; continuing with the next coordinates continues the streams. seeded makes the numbers of additive,
 * but only the learner's own row: shares[r] and scratch are not touched. What neighbour r gets is the key of
 * coins[r], which then must not be reused, and it adds what sl_prg_add draws from it. */
void sl_share(const struct sl_sharing *sharing, enum sl_sharing_kind kind, struct sl_prg *randomness,
	      const uint64_t *x, size_t count, uint64_t *const *shares, uint64_t *scratch);
