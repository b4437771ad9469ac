/* share.h - SHARE: shares go to the neighbours, theirs are added up to the masked state, and that goes under
 * a key to its keepers (ROUND.md §7.10 Share).
 */
#pragma once

#include "common/core/state.h"

void sl_share_enter(struct sl_core *core);
bool sl_share_advance(struct sl_core *core);
sl_ms sl_share_deadline(const struct sl_core *core);
enum sl_wait sl_share_awaits(const struct sl_core *core, uint64_t *set);
uint32_t sl_share_permille(const struct sl_core *core);
/* A chunk of a Share, or a KeyShare, has come; a chunk of the sender's deposit. */
void sl_share_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer);
void sl_share_deposit(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer);
/* Take the result of SECRETS; of DEPOSIT. */
void sl_share_secrets(struct sl_core *core, const struct sl_job_result *result);
void sl_share_deposited(struct sl_core *core, const struct sl_job_result *result);
/* Take the result of ENCODE; of SHARE or EXPAND; of GATHER. */
void sl_share_encoded(struct sl_core *core, const struct sl_job_result *result);
void sl_share_made(struct sl_core *core, const struct sl_job_result *result);
void sl_share_gathered(struct sl_core *core, const struct sl_job_result *result);
