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
 * is then ignored. Those of the own round are counted and reported. */
bool sl_allowance_record(struct sl_core *core, uint32_t signer, sl_round t);
/* Return true if the store of `signer` is empty, and this was reported in this round. */
bool sl_allowance_spent(const struct sl_core *core, uint32_t signer, sl_ms now);
/* Return the time from which this learner may begin an attempt. A learner that keeps to it never exceeds what
 * its peers allow. */
sl_ms sl_allowance_next_attempt(const struct sl_core *core);
/* Note that this learner begins an attempt. */
void sl_allowance_begin_attempt(struct sl_core *core);
/* Take `count` attempt numbers from the store of `signer`. Return false, and take none, if it has fewer. */
bool sl_allowance_attempts(struct sl_core *core, uint32_t signer, uint32_t count);
