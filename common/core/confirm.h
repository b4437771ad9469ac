/* confirm.h - CONFIRM and COMMIT: one result for all participants, or none (ROUND.md §7.14 Confirm, §7.15
 * Commit). */
#pragma once

#include "common/core/state.h"

bool sl_confirm_advance(struct sl_core *core);
sl_ms sl_confirm_deadline(const struct sl_core *core);
enum sl_wait sl_confirm_awaits(const struct sl_core *core, uint64_t *set);
/* CLOSE or SUM is done: Z is known. Return false if it cannot be committed; then the attempt has failed. */
bool sl_confirm_take(struct sl_core *core, const struct sl_job_result *result);
/* Sign for the Z that was taken. */
void sl_confirm_settle(struct sl_core *core);
/* SIGNS is durable: sign for the Z that was recovered. */
void sl_confirm_signs(struct sl_core *core);
/* Return why `result`, of CLOSE or SUM, cannot be committed: RESULT, WEIGHTLESS or NONE. */
enum sl_reason sl_confirm_flaw(const struct sl_core *core, const struct sl_job_result *result);
/* Return false if the digest agrees with the own result and q such digests are here. */
bool sl_confirm_wants(const struct sl_core *core, const struct sl_digest *digest);
/* A Digest has come: of the last committed round, of round t, or of a later one. */
void sl_confirm_digest(struct sl_core *core, uint32_t peer, const struct sl_digest *digest);

void sl_confirm_commit_enter(struct sl_core *core);
/* The own result is durable: report it and go on. */
void sl_confirm_durable(struct sl_core *core);
/* Make the result that core->making certifies durable. */
void sl_confirm_persist(struct sl_core *core);
/* Round t is committed, here or elsewhere: drop the attempt and go on to the next round, or to DONE. */
void sl_confirm_committed(struct sl_core *core);
