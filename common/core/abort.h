/* abort.h - the effect of other participants' Aborts, and of pending aborts, on the present attempt
 * (ROUND.md §9.1 What an Abort says).
 */
#pragma once

#include "common/core/state.h"

/* `signer` never releases attempt `a` of round t. */
void sl_abort_heard(struct sl_core *core, uint32_t signer, sl_attempt a);
/* A Ready has come: if it is of an unknown attempt of this round, note a pending abort. */
void sl_abort_unknown(struct sl_core *core, const struct sl_ready *ready);
/* Abort earlier attempts that peers are open in; record the pending abort as soon as this learner is in a
 * later attempt or in none. */
void sl_abort_pending(struct sl_core *core);
