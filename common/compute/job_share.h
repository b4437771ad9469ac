/* job_share.h - shares in the jobs ENCODE, SHARE, GATHER, EXPAND and COMMITMENT (ROUND.md §5.2 Sharing).
 * Private to the jobs.
 *
 *    shamir, os
 *       SHARE m    shares[r] is the share of neighbour r
 *       GATHER     its share is added to s
 *    seeded
 *       ENCODE     shares[r] is the key of the own stream r
 *       GATHER     the neighbour's key opens stream r of `theirs`
 *       SHARE m    the own streams are subtracted from s
 *       EXPAND m   `theirs` are added to s
 *
 * All of it lives in the scratch of the workspace, from ENCODE to COMMITMENT.
 */
#pragma once

#include "common/compute/workspace.h"

/* Return the bytes of scratch. */
size_t sl_job_share_bytes(const struct sl_view *view, uint32_t workers);
/* Take room from the empty scratch and open fresh streams. SL_ERR_NOMEM. */
int sl_job_share_open(struct sl_workspace *workspace, const struct sl_view *view);
/* SHARE: from chunk `m` on, encode the trained model and make the shares; the own one is added to s. */
void sl_job_share_make(struct sl_workspace *workspace, const struct sl_view *view, uint32_t m);
/* GATHER, seeded: open the neighbours' streams. */
void sl_job_share_take(struct sl_workspace *workspace, const struct sl_buffer *buffers);
/* Add the packed elements `bytes` to s, from element `first` on. SL_ERR_INVALID: they are not of the field; s
 * is then undefined. */
int sl_job_share_add(struct sl_workspace *workspace, const struct sl_view *view, const uint8_t *bytes,
		     size_t first, size_t count);
/* EXPAND: from chunk `m` on, add the neighbours' streams to s. */
void sl_job_share_expand(struct sl_workspace *workspace, const struct sl_view *view, uint32_t m);
/* All shares are made: wipe streams, seeds and shares. */
void sl_job_share_close(struct sl_workspace *workspace, const struct sl_view *view);
