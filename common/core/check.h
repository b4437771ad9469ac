/* check.h - CHECK: before a learner signs for a sum to which others have passed on parts, it lets the keepers
 * of all deposits speak (ROUND.md §8.7 Checking what was passed on).
 *
 *    Z is fixed --> own Challenge --> Challenges of all --> CHECKSUM job --> own Checksum
 *               --> Checksums of all agree, and add up to that of Z --> CONFIRM
 *               --> they differ --> RECOVER: the deposit of a disputed masked state shows whose is false
 *                                   --> CONFIRM if the others add up
 *
 * Checksums are compared as they arrive and not stored: of each masked state, the first one that is said, and
 * the first one that differs from it.
 */
#pragma once

#include "common/core/state.h"

bool sl_check_advance(struct sl_core *core);
sl_ms sl_check_deadline(const struct sl_core *core);
enum sl_wait sl_check_awaits(const struct sl_core *core, uint64_t *set);
/* The link to `peer` fell. */
void sl_check_lost(struct sl_core *core, uint32_t peer);
/* A Challenge, a Checksum has come. */
void sl_check_challenge(struct sl_core *core, uint32_t peer, const struct sl_message *message);
void sl_check_checksum(struct sl_core *core, uint32_t peer, const struct sl_message *message);
/* Return the position of the participant whose deposit alone RECOVER needs, since Checksums dispute its
 * masked state; SL_NOBODY: there is none. */
uint32_t sl_check_disputed(const struct sl_core *core);
/* Compute the checksum of that masked state, if its deposit and key are here. */
void sl_check_judge(struct sl_core *core);
/* It is `truth`, since a Ready fixes the deposit: some signers lie. Return true if no dispute is left, and
 * the sum is right. */
bool sl_check_judged(struct sl_core *core, const uint64_t *truth);
/* Take the result of CLOSE; of CHECKSUM. */
void sl_check_closed(struct sl_core *core, const struct sl_job_result *result);
void sl_check_summed(struct sl_core *core, const struct sl_job_result *result);
