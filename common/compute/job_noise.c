#include "common/compute/job_noise.h"

#include <assert.h>
#include <sodium.h>

#define BLOCK 256u /* elements of noise on the stack */

void sl_job_noise_open(struct sl_workspace *workspace, const struct sl_view *view, const void *base)
{
	struct sl_noise *noise = &workspace->noise;
	if (!sl_encoding_is_noisy(&view->encoding))
		return;
	int rc = sl_gaussian_plan(view->scale.sigma, &noise->plan);
	assert(rc == SL_OK); /* no view has a sigma that the sampler does not draw */
	(void)rc;
	workspace->source(workspace->source_context, noise->key, sizeof noise->key);
	workspace->source(workspace->source_context, noise->dither, sizeof noise->dither);
	noise->factor = 1;
	if (view->agreed.dp_unit == SL_DP_LEARNER)
		noise->factor = sl_encoding_factor(&view->encoding, &workspace->tensors, workspace->trained,
						   base, workspace->n, view->scale.norm);
}

void sl_job_noise_encoding(const struct sl_workspace *workspace, const struct sl_view *view,
			   struct sl_encoding *encoding)
{
	encoding->noisy.factor = workspace->noise.factor;
	encoding->noisy.dither = view->agreed.dp_unit == SL_DP_RECORD ? workspace->noise.dither : NULL;
}

void sl_job_noise_add(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
		      size_t count, uint64_t *x)
{
	int64_t noise[BLOCK];
	size_t end = first + count < workspace->n ? first + count : workspace->n;
	if (!sl_encoding_is_noisy(&view->encoding))
		return;
	for (size_t at = first, block; at < end; at += block) {
		block = end - at < BLOCK ? end - at : BLOCK;
		sl_gaussian_draw(&workspace->noise.plan, workspace->noise.key, at, noise, block);
		for (size_t l = 0; l < block; l++)
			x[at - first + l] = sl_field_add(&view->field, x[at - first + l],
							 sl_field_lift(&view->field, (uint64_t)noise[l]));
	}
	sodium_memzero(noise, sizeof noise);
}

void sl_job_noise_close(struct sl_workspace *workspace)
{
	sodium_memzero(&workspace->noise, sizeof workspace->noise);
}
