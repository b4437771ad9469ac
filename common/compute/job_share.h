/* job_share.h - the jobs' part in shares (protocol 3): made for the neighbours, and of `seeded` theirs made
 * from their seeds. Private to the jobs.
 *
 *    shamir, additive   SHARE m: row r of a chunk, packed, goes to neighbour r      GATHER: its row is added
 * to s seeded             ENCODE: row r is the key of coins r                         GATHER: its key opens
 * theirs r SHARE m: what they expand to is subtracted from s           EXPAND m: .. is added to s
 *
 * All of it lives in the vault's scratch, from ENCODE to SEAL.
 */
#pragma once

#include "common/compute/job.h"

/* Bytes of scratch. */
size_t sl_job_share_bytes(const struct sl_view *view);
/* Fresh coins, and room. The scratch is empty. */
int sl_job_share_open(struct sl_workspace *workspace, const struct sl_view *view);
/* From chunk m of x on: the own shares, added to s, and the neighbours' rows. */
void sl_job_share_make(struct sl_workspace *workspace, const struct sl_view *view, uint32_t m);
/* The neighbours' seeds. */
void sl_job_share_take(struct sl_workspace *workspace, const struct sl_buffer *buffers);
/* From chunk m on: what they stand for, added to s. */
void sl_job_share_expand(struct sl_workspace *workspace, const struct sl_view *view, uint32_t m);
/* All shares are made: wipes coins, seeds and rows. */
void sl_job_share_close(struct sl_workspace *workspace, const struct sl_view *view);
