/* agree.h - AGREE: flood the own link state, wait until the view is closed, have its graph analysed, and let
 * the privacy check and the choice of the engine decide (ROUND.md §7.8 Agree on the view, §7.9 Privacy
 * check).
 */
#pragma once

#include "common/core/state.h"

void sl_agree_enter(struct sl_core *core);
bool sl_agree_advance(struct sl_core *core);
sl_ms sl_agree_deadline(const struct sl_core *core);
enum sl_wait sl_agree_awaits(const struct sl_core *core, uint64_t *set);
/* `signer` has begun attempt `a`, a later one. The link states that are missing may be why. */
void sl_agree_superseded(struct sl_core *core, uint32_t signer, sl_attempt a);
/* The link to `peer` fell: if it is a candidate, the attempt ends. */
void sl_agree_lost(struct sl_core *core, uint32_t peer);
/* ANALYSE is done: go on to SHARE, or end the attempt. */
void sl_agree_analysed(struct sl_core *core, const struct sl_job_result *result);
