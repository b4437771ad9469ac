/* abort.h - what Aborts mean for the present attempt (PROTOCOL.md §9 Abort, safety rule, reuse rule): those
 * of other participants, and those that this learner owes for attempts of a life before its last start.
 */
#pragma once

#include "common/core/state.h"

/* An Abort of `signer` for round t has come. */
void sl_abort_heard(struct sl_core *core, uint32_t signer);
/* A Ready has come; if it is of an attempt of this round that this life knows nothing of, note a pending
 * Abort. */
void sl_abort_unknown(struct sl_core *core, const struct sl_ready *ready);
/* Sign the pending Abort as soon as this learner is in a later attempt or in none. */
void sl_abort_pending(struct sl_core *core);
