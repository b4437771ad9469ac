/* job_noise.h - the noise of the own vector in one attempt (ROUND.md §4.9 Noise): fresh for each ENCODE. */
#pragma once

#include "common/compute/workspace.h"

/* Draw the keys, plan the noise and find the factor of the vector; do nothing in a view without noise.
 * base: B, or NULL. */
void sl_job_noise_open(struct sl_workspace *workspace, const struct sl_view *view, const void *base);
/* Set the factor and the dither of `encoding`. */
void sl_job_noise_encoding(const struct sl_workspace *workspace, const struct sl_view *view,
			   struct sl_encoding *encoding);
/* Add the share of noise to the elements first .. first + count - 1 of the encoding. */
void sl_job_noise_add(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
		      size_t count, uint64_t *x);
/* Wipe the keys. */
void sl_job_noise_close(struct sl_workspace *workspace);
