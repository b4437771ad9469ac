/* job_deposit.h - deposits and the keys that open them: the jobs SECRETS, DEPOSIT, COMMITMENT, FETCH, CHECK
 * and CHECKSUM (ROUND.md §5.6 Deposits, §5.7 Key shares, §8.7 Checking what was passed on). Private to the
 * jobs.
 */
#pragma once

#include "common/compute/blocks.h"

/* Return the bytes of scratch. */
size_t sl_job_deposit_bytes(const struct sl_view *view, uint32_t workers);

/* SECRETS: draw the own key and challenge; split the key. SL_ERR_NOMEM. */
int sl_job_deposit_secrets(struct sl_workspace *workspace, const struct sl_view *view);
/* DEPOSIT: mask chunk `m` of s into the own slot. */
void sl_job_deposit_mask(struct sl_workspace *workspace, const struct sl_view *view, uint32_t m);
/* CHECK: SL_ERR_NOTFOUND unless the slot of `position` hashes to `expected`, SL_ERR_INVALID if it is not of
 * the field. */
int sl_job_deposit_check(struct sl_workspace *workspace, const struct sl_view *view, uint32_t position,
			 const uint8_t *expected);
/* CHECKSUM. */
void sl_job_deposit_checksum(struct sl_workspace *workspace, const struct sl_job *job,
			     struct sl_job_result *result);

/* Write a block of the masked state of `position`, from its slot and its key of the job, to `s`, or add it.
 * Return false if the slot is not of the field. */
bool sl_job_deposit_unmask(const struct sl_blocks *blocks, const struct sl_block *block, uint32_t position,
			   uint64_t *s, bool add);
/* Say that chunk `m` of a slot is not needed soon. */
void sl_job_deposit_used(const struct sl_workspace *workspace, const struct sl_view *view, uint32_t position,
			 uint32_t m);
