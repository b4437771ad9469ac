/* job_deposit.h - deposits and the keys that open them: the jobs SECRETS, DEPOSIT, COMMITMENT, FETCH, CHECK
 * and CHECKSUM (ROUND.md §5.6 Deposits, §5.7 Key shares, §8.7 Checking what was passed on). Private to the
 * jobs.
 */
#pragma once

#include "common/compute/job_types.h"

/* Return the bytes of scratch. */
size_t sl_job_deposit_bytes(const struct sl_view *view);

/* SECRETS: draw the own key and challenge; split the key. SL_ERR_NOMEM. */
int sl_job_deposit_secrets(struct sl_workspace *workspace, const struct sl_view *view);
/* DEPOSIT: mask chunk `m` of s into the own slot. */
void sl_job_deposit_mask(struct sl_workspace *workspace, const struct sl_view *view, uint32_t m);
/* CHECK: SL_ERR_NOTFOUND unless the slot of `position` hashes to `expected`, SL_ERR_INVALID if it is not of
 * the field. */
int sl_job_deposit_check(const struct sl_workspace *workspace, const struct sl_view *view, uint32_t position,
			 const uint8_t *expected);
/* CHECKSUM. */
void sl_job_deposit_checksum(struct sl_workspace *workspace, const struct sl_job *job,
			     struct sl_job_result *result);

/* Add chunk `m` of a masked state, from its slot and `key`, to the elements `s`. SL_ERR_INVALID: the slot is
 * not of the field. */
int sl_job_deposit_add(struct sl_workspace *workspace, const struct sl_view *view, uint32_t position,
		       const uint8_t key[static SL_KEY_BYTES], uint32_t m, uint64_t *s);
/* Start the mask of chunk `m`. */
void sl_job_deposit_open(struct sl_prg *mask, const uint8_t key[static SL_KEY_BYTES], uint32_t m);
/* Write the next `count` elements of a masked state, of which `deposit` are the packed ones, to `out`.
 * SL_ERR_INVALID: they are not of the field. */
int sl_job_deposit_unmask(struct sl_prg *mask, const struct sl_field *field, const uint8_t *deposit,
			  size_t count, uint64_t *out);
