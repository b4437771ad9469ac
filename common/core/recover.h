/* recover.h - RECOVER: an attempt that mixing cannot finish, or by which this learner is bound
 * (ROUND.md §10 Recovery).
 */
#pragma once

#include "common/core/state.h"

void sl_recover_enter(struct sl_core *core);
bool sl_recover_advance(struct sl_core *core);
sl_ms sl_recover_deadline(const struct sl_core *core);
enum sl_wait sl_recover_awaits(const struct sl_core *core, uint64_t *set);
uint32_t sl_recover_permille(const struct sl_core *core);
/* The `fail` of RELEASE, MIX, CHECK and CONFIRM: stop mixing and recover. */
struct sl_report *sl_recover_fail(struct sl_core *core, enum sl_reason reason, bool refused);
/* Take a chunk of a deposit. */
void sl_recover_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer);
/* Take the result of SUM. */
void sl_recover_summed(struct sl_core *core, const struct sl_job_result *result);
/* Take the result of CHECKSUM, in CHECK for that phase. */
void sl_recover_verdict(struct sl_core *core, const struct sl_job_result *result);
