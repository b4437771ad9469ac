/* attempt_number.h - limits on the attempt numbers in messages of other learners (ROUND.md §7.7 Attempt
 * numbers). A round has SL_ATTEMPTS_MAX numbers, so that one faulty learner must not be able to use them up.
 */
#pragma once

#include "common/core/state.h"

/* Return true if attempt `a` of round t, which `signer` has signed for, is an attempt jump: c+1 learners have
 * not claimed as much, and it is more than what `signer` may raise the known numbers by. */
bool sl_attempt_number_jumps(struct sl_core *core, uint32_t signer, sl_attempt a);
/* Note the attempt that the link state of `signer` claims for round t. */
void sl_attempt_number_claim(struct sl_core *core, uint32_t signer, const struct sl_link_state *state);
