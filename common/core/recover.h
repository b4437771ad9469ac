/* recover.h - RECOVER: a released attempt that mixing cannot finish (PROTOCOL.md §10 Recovery). */
#pragma once

#include "common/core/state.h"

void sl_recover_enter(struct sl_core *core);
bool sl_recover_advance(struct sl_core *core);
sl_ms sl_recover_deadline(const struct sl_core *core);
uint32_t sl_recover_permille(const struct sl_core *core);
/* The `fail` of RELEASE, MIX and CONFIRM: stop mixing and recover. */
struct sl_report *sl_recover_fail(struct sl_core *core, enum sl_reason reason, bool refused);
/* Reset the attempt's knowledge of slots; also for a view from disk. */
void sl_recover_begin(struct sl_core *core);
/* Forget what `peer` was known to have: its link came up, or fell. */
void sl_recover_link(struct sl_core *core, uint32_t peer);
/* Take a Have; a Request for a masked state; a chunk of a masked state. */
void sl_recover_have(struct sl_core *core, uint32_t peer, const struct sl_message *message);
void sl_recover_request(struct sl_core *core, uint32_t peer, const struct sl_request *request);
void sl_recover_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer);
/* Take the result of CHECK; of SUM. */
void sl_recover_checked(struct sl_core *core, const struct sl_job_result *result);
void sl_recover_summed(struct sl_core *core, const struct sl_job_result *result);
