/* job_mix.h - the jobs MIX and CLOSE, by the engine of the view (ROUND.md §8 Engines). Private to the
 * jobs. */
#pragma once

#include "common/compute/job_types.h"

/* Take room for the engines from the scratch, and fill it. SL_ERR_NOMEM. */
int sl_job_mix_open(struct sl_workspace *workspace, const struct sl_view *view);
/* MIX: the neighbours' states of one exchange make the next state of chunk job->chunk. SL_ERR_INVALID: those
 * of neighbour *from are not of the field. */
int sl_job_mix_step(struct sl_workspace *workspace, const struct sl_job *job, uint32_t *from);
/* The first half of CLOSE: s becomes Z. Return the rounding margin. */
double sl_job_mix_close(struct sl_workspace *workspace, const struct sl_view *view);
/* Write the packed State that the core sends: sl_view_mixing_bits(view) for each element of its chunk.
 * Between jobs of the chunk. */
void sl_job_mix_write(const struct sl_workspace *workspace, const struct sl_view *view,
		      const struct sl_chunk *chunk, uint8_t *out);
