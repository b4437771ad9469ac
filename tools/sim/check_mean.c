/* The committed model is the mean of the models that went in. */
#include <math.h>

#include "tools/sim/check.h"

/* Return element `e` of a run. */
static double value_of(const struct sl_tensor_run *run, const void *model, size_t e)
{
	const uint8_t *at = (const uint8_t *)model + run->offset;
	switch (run->dtype) {
	case SL_FLOAT32:
		return (double)((const float *)at)[e];
	case SL_FLOAT64:
		return ((const double *)at)[e];
	case SL_INT64:
		return (double)((const int64_t *)at)[e];
	}
	return NAN;
}

/* Return the quantization step of a round. */
static double step_of(const struct sl_parameters *agreed)
{
	double range, power = 0x1p-100;
	memcpy(&range, &agreed->clipping_range, sizeof range);
	while (power < range)
		power *= 2;
	return agreed->values == SL_VALUES_UPDATE ? power / (double)(UINT64_C(1) << agreed->update_bits)
						  : pow(10, -(double)agreed->decimals);
}

void sl_sim_check_mean(struct sl_sim *sim, uint32_t i, const struct sl_sim_attempt *page,
		       const struct sl_parameters *agreed)
{
	double unit = step_of(agreed);
	const struct sl_workspace *workspace = &sim->learners[i].host.workspace;
	bool literal = sim->options.parameters.encoding == SL_ENCODING_PAPER;
	double weights = 0;
	for (uint32_t k = 0; k < page->n; k++)
		if (page->of[page->members[k]].altered)
			return; /* a learner may choose any input */
	for (uint32_t k = 0; k < page->n; k++)
		weights += literal ? 1 : (double)page->of[page->members[k]].weight;
	struct sl_tensor_run run = {0};
	while (sl_tensors_next(&workspace->tensors, workspace->n, &run))
		for (size_t e = 0; e < run.count; e++) {
			double sum = 0;
			for (uint32_t k = 0; k < page->n; k++) {
				const struct sl_sim_part *j = &page->of[page->members[k]];
				sum += (literal ? 1 : (double)j->weight) * value_of(&run, j->theta, e);
			}
			double off = fabs(value_of(&run, workspace->committed, e) - sum / weights);
			double most = run.dtype == SL_INT64
					      ? 0.5 + 1e-9
					      : unit * (literal ? page->n : 0.5) +
							(run.dtype == SL_FLOAT64 ? 1e-13 : 1e-5);
			if (!(off <= most))
				sl_sim_fail(sim, "learner %u: coordinate %zu of the mean is off by %g",
					    sim->ids[i], run.first + e, off);
		}
}
