/* ready.h - READY and RELEASE: the barrier before the first deposit key leaves (ROUND.md §7.11 Ready,
 * §7.12 Release).
 *
 *    COMMITMENT done --> PREPARED durable --> own Ready flooded --> all Readys are here, and fit what is kept
 *
 *                    --> RELEASED durable --> Key to the neighbours --> MIX
 *
 * An own Abort leads from READY to RECOVER: the learner is bound.
 */
#pragma once

#include "common/core/state.h"

void sl_ready_enter(struct sl_core *core);
bool sl_ready_advance(struct sl_core *core);
sl_ms sl_ready_deadline(const struct sl_core *core);
enum sl_wait sl_ready_awaits(const struct sl_core *core, uint64_t *set);
/* The `fail` of READY: abort the attempt; it goes on in RECOVER until it is over. */
struct sl_report *sl_ready_abort(struct sl_core *core, enum sl_reason reason, bool refused);
/* COMMITMENT is done: make view, own Ready and secrets durable. */
void sl_ready_commitment(struct sl_core *core, const struct sl_job_result *result);
/* PREPARED is durable: flood the own Ready. */
void sl_ready_prepared(struct sl_core *core);
/* RELEASED is durable: show the own deposit key, and mix, or recover if mixing cannot succeed. */
void sl_ready_released(struct sl_core *core);
/* A Ready of `signer` has come: take it if it is of the view. */
void sl_ready_heard(struct sl_core *core, uint32_t signer);
