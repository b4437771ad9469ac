/* job_mix.h - the arithmetic of the engines on one learner's vectors (protocol 7): jobs MIX, KEEP and CLOSE,
 * by view->engine.
 *
 *   metropolis   s is X = s << f from the first MIX of a chunk on, and Z at CLOSE
 *   exact        s is x(k); the sum over k grows in vault->x, and is moved to s by a chunk's last MIX
 *   tree         s is what has come up so far, then Z
 *
 * Among the files of job.c; owns nothing.
 */
#pragma once

#include "common/compute/job.h"

/* Takes vault->divisors and vault->weights from the scratch, and fills them. */
int sl_job_mix_open(struct sl_workspace *workspace, const struct sl_view *view);
/* MIX. */
void sl_job_mix_step(struct sl_workspace *workspace, const struct sl_view *view, const struct sl_job *job,
		     struct sl_job_result *result);
/* A neighbour's masked state, kept in case that it is lost to others (protocol 6, finish). SL_ERR_INVALID:
 * not of the field. */
int sl_job_mix_backup(struct sl_workspace *workspace, const struct sl_view *view,
		      const struct sl_buffer *buffer);
/* The first half of CLOSE: s becomes Z. Returns the margin. */
double sl_job_mix_close(struct sl_workspace *workspace, const struct sl_view *view);
