/* ready.h - READY and RELEASE: the barrier before the first masked state leaves
 * (PROTOCOL.md §7.11 Ready, §7.12 Release).
 *
 *    COMMITMENT done --> PREPARED durable --> own Ready flooded --> all Readys received
 *                    --> RELEASED durable --> MIX
 */
#pragma once

#include "common/core/state.h"

void sl_ready_enter(struct sl_core *core);
bool sl_ready_advance(struct sl_core *core);
sl_ms sl_ready_deadline(const struct sl_core *core);
/* COMMITMENT is done: make view and own Ready durable. */
void sl_ready_commitment(struct sl_core *core, const struct sl_job_result *result);
/* PREPARED is durable: flood the own Ready. */
void sl_ready_prepared(struct sl_core *core);
/* RELEASED is durable: mix, or recover if mixing cannot succeed. */
void sl_ready_released(struct sl_core *core);
