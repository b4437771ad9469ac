/* allowance.h - how much of this learner's work one signer may cause (ROUND.md §7.6 Link states
 * and the flood, §7.7 Attempt numbers).
 *
 * Each signer has two stores per round: signed records that are kept and passed on, and attempt numbers by
 * which it raises the own one. Both are full when a round begins here and fill again slowly. */
#pragma once

#include "common/core/state.h"

/* Fill all stores: a round begins. */
void sl_allowance_fill(struct sl_core *core);
/* Take a record of round t, which is new, from the store of `signer`. Return false if it is empty: the record
 * is then ignored, and in the own round this is reported once. */
bool sl_allowance_record(struct sl_core *core, uint32_t signer, sl_round t);
/* Return true if the store of `signer` is empty, and it has lied in this round. */
bool sl_allowance_spent(const struct sl_core *core, uint32_t signer, sl_ms now);
/* Return the time from which this learner may begin an attempt. A learner that keeps to it never exceeds what
 * its peers allow. */
sl_ms sl_allowance_next_attempt(const struct sl_core *core);
/* Note that this learner begins an attempt. */
void sl_allowance_begin_attempt(struct sl_core *core);
/* Return true if attempt `a` of round t, which `signer` has signed for, is an attempt jump: c+1 learners have
 * not claimed as much, and it is more than what `signer` may raise the known numbers by. A round has
 * SL_ATTEMPTS_MAX numbers: one faulty learner must not be able to use them up. */
bool sl_allowance_jumps(struct sl_core *core, uint32_t signer, sl_attempt a);
/* Note the attempt that the link state of `signer` claims for round t. */
void sl_allowance_claim(struct sl_core *core, uint32_t signer, const struct sl_link_state *state);
