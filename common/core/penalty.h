/* penalty.h - which peers a learner waits for, and which it offers an edge (ROUND.md §7.4 Discover).
 *
 * A link that is up says nothing of a disk that hangs, of a program that is stopped, or of a learner that
 * ends every attempt. Attempts that end through a peer are counted. It is left out of the rounds that follow,
 * of the more the more there were, as long as a quorum remains without it. */
#pragma once

#include "common/core/state.h"

/* What DISCOVER does with a peer. */
enum sl_regard {
	SL_REGARD_LEFT_OUT, /* it is offered no edge */
	SL_REGARD_OPTIONAL, /* it is a candidate if it is ready; it is not waited for */
	SL_REGARD_AWAITED,  /* it is waited for, too */
};

/* Return what DISCOVER does with peer `i`: the table of §7.4. */
enum sl_regard sl_penalty_regard(const struct sl_core *core, uint32_t i);
/* Return what keeps peer `i` from a view with this learner, for all to know: it differs, or has aborted the
 * attempt that begins. */
enum sl_reason sl_penalty_difference(const struct sl_core *core, uint32_t i);
/* Return true if peer `i` does not answer: a dial failed or its link fell. */
bool sl_penalty_silent(const struct sl_core *core, uint32_t i);
/* Return true if attempts of peer `i` are of no account here: no view with it is wanted in this round. */
bool sl_penalty_ignored(const struct sl_core *core, uint32_t i);
/* Return true if peer `i` is left out of this round, if a quorum remains. */
bool sl_penalty_out(const struct sl_core *core, uint32_t i);

/* Return true if the link states of c+1 learners that have begun this attempt, or a later one, have come at
 * `since` or later: an honest one of them waits no longer. */
bool sl_penalty_others_begin(const struct sl_core *core, sl_ms since);

/* Return the time until which peer `i`, whose link state is missing, may wait for a straggler that this
 * learner does not wait for, and all learners find out that it waits no more. 0: it has begun an attempt of
 * this round, so it does not. */
sl_ms sl_penalty_waits_until(const struct sl_core *core, uint32_t i);

/* The attempt has ended for `reason`, through the peers of `set`; this may say nothing of them. */
void sl_penalty_failed(struct sl_core *core, const uint64_t *set, enum sl_reason reason);
/* `peer` has done what no honest learner does; counted once a round. */
void sl_penalty_lied(struct sl_core *core, uint32_t peer);
/* `peer` was in a later round: attempts have ended for it. An honest disk may have been set back. */
void sl_penalty_went_back(struct sl_core *core, uint32_t peer);
/* Without those with a penalty no view is possible: leave out none. */
void sl_penalty_none(struct sl_core *core);
/* Peer `i` has taken part in the round that is committed. Unless it failed in this round, it is wanted again,
 * and one failure is forgotten. */
void sl_penalty_clear(struct sl_core *core, uint32_t i);
/* A window closes without the peers of `late`: a peer that is behind, or says nothing, costs one deadline,
 * not one in each round. */
void sl_penalty_late(struct sl_core *core, const uint64_t *late);
/* DISCOVER looks at the peers: find those that have come to this round, and set core->unwanted, those
 * with a penalty that are left out. Those with the fewest points are taken in again until a quorum of ready
 * learners is there. */
void sl_penalty_update(struct sl_core *core);
