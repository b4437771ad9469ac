/* have.h - what the participants of the attempt have: deposits and keys, said by Have; and answers to those
 * that recover (ROUND.md §10.2 Deposits, §10.3 Keys and openings).
 */
#pragma once

#include "common/core/state.h"

/* Take a Have; answer a Request for a deposit. */
void sl_have_heard(struct sl_core *core, uint32_t peer, const struct sl_message *message);
void sl_have_request(struct sl_core *core, uint32_t peer, const struct sl_request *request);
/* Forget what `peer` was known to have: its link came up, or fell. */
void sl_have_link(struct sl_core *core, uint32_t peer);
/* Tell the participants what is here, and send those that have sent a Have the keys and openings that they
 * lack. */
void sl_have_serve(struct sl_core *core);
