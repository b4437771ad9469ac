/* attempt_number.h - limits on the attempt numbers in messages of other learners (PROTOCOL.md §7.7 Attempt
 * numbers). A round has SL_ATTEMPTS_MAX numbers, so that one faulty learner must not be able to use them up.
 */
#pragma once

#include "common/core/state.h"

/* Return true if attempt `a` is an attempt jump. */
bool sl_attempt_number_far(const struct sl_core *core, sl_attempt a);
/* Note the attempt of `signer`'s link state. Return true if it is an attempt jump of round t that fewer than
 * c+1 learners have signed for: the link state is then neither kept nor passed on. */
bool sl_attempt_number_jumps(struct sl_core *core, uint32_t signer, const struct sl_link_state *state);
