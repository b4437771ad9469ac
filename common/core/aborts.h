/* aborts.h - the Aborts of the round, by attempt, and the own Readys that they name (ROUND.md §9 Abort and
 * certificates).
 *
 * The flood has the latest Abort of each learner; here are those of the last attempts, for learners that are
 * still open in them.
 */
#pragma once

#include "common/core/state.h"

/* Forget all: a new round begins. */
void sl_aborts_forget(struct sl_core *core);
/* Take what the disk remembers of the round: attempts that are over, the own Readys, the own Abort. */
void sl_aborts_restore(struct sl_core *core);

/* Note that an own Ready of attempt `a` may leave. */
void sl_aborts_readied(struct sl_core *core, sl_attempt a);
/* Return true if this learner may sign that it has sent no Ready of attempt `a`. */
bool sl_aborts_may_deny(const struct sl_core *core, sl_attempt a);

/* Return the set of attempt `a`, or NULL. */
struct sl_abort_set *sl_aborts_find(const struct sl_core *core, sl_attempt a);
/* Return the set of attempt `a`; if there is no room, in place of the earliest one. Sets of attempts above
 * the own one, of which a liar may name as many as it likes, take no room from the others. NULL: `a` is
 * earlier than all. */
struct sl_abort_set *sl_aborts_set(struct sl_core *core, sl_attempt a);
/* Take an Abort of another learner for round t; return what it says that was not known. */
uint32_t sl_aborts_take(struct sl_core *core, uint32_t signer, const struct sl_abort *abort_record);
/* Return what the Abort of `signer` for attempt `a` says, as far as it is held and, if it is the own one,
 * durable: SL_ABORT_UNRELEASED .. */
uint32_t sl_aborts_said(const struct sl_core *core, uint32_t signer, sl_attempt a);
/* Return another participant of the view that never releases the attempt, or SL_NOBODY. */
uint32_t sl_aborts_of_view(const struct sl_core *core);

/* Abort attempt `a`: make the promise `says` durable; sl_aborts_durable then floods the Abort. own: the own
 * Ready of the attempt, NULL: there is none and never will be, and `says` has both promises. */
void sl_aborts_own(struct sl_core *core, uint32_t says, sl_attempt a, const struct sl_ready *own);
/* The promise is on disk: flood the Abort, which has it beside those that it had. */
void sl_aborts_durable(struct sl_core *core, uint32_t says, sl_attempt a);
/* Flood an own Abort whose promises are on disk already, or SL_ABORT_STUCK, which is none. */
void sl_aborts_sign(struct sl_core *core, uint32_t says, sl_attempt a, const struct sl_ready *own);

/* Send an Abort that the flood does not carry to the linked peers, but `from`, that are open in its attempt.
 */
void sl_aborts_pass(struct sl_core *core, uint32_t from, const struct sl_abort *abort_record);
/* `peer` may be open in an attempt: send it the Aborts of that attempt. */
void sl_aborts_show(struct sl_core *core, uint32_t peer);
/* Send the Aborts of attempt `a` to all linked peers that are open in it. */
void sl_aborts_show_all(struct sl_core *core, sl_attempt a);
/* Abort earlier attempts in which linked peers are open and wait for the own Ready, which they never got;
 * record the pending abort as soon as this learner is in a later attempt or in none. */
void sl_aborts_pending(struct sl_core *core);
