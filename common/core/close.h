/* close.h - the end of an attempt by a certificate: OVER (ROUND.md §9.2 When an attempt is over, §9.4 Rule
 * B: when a model may be used again).
 */
#pragma once

#include "common/core/state.h"

/* Judge the Aborts of the attempt: core->marks. Return the number of those that count and promise something,
 * which go to core->proof. */
uint32_t sl_close_judge(struct sl_core *core);

/* End the attempt if a certificate, or the operator, allows it (ROUND.md §9.2). Before a
 * model is invalidated, wait for more Aborts. Return true if the attempt is over. */
bool sl_close_attempt(struct sl_core *core);
/* Return the time at which sl_close_attempt has something to do. */
sl_ms sl_close_deadline(const struct sl_core *core);
