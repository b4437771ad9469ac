/* abort.h - the effect of other participants' Aborts, and of pending aborts, on the present attempt
 * (PROTOCOL.md §9.2 What an Abort says, §9.3 The release log).
 */
#pragma once

#include "common/core/state.h"

/* An Abort of `signer` for round t has come. */
void sl_abort_heard(struct sl_core *core, uint32_t signer);
/* A Ready has come: if it is of an unknown attempt of this round, note a pending abort. */
void sl_abort_unknown(struct sl_core *core, const struct sl_ready *ready);
/* Record the pending abort as soon as this learner is in a later attempt or in none. */
void sl_abort_pending(struct sl_core *core);
