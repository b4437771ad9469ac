/* The committed model is the mean of the models that went in. */
#include <limits.h>
#include <math.h>

#include "tools/lib/range_check.h"
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

/* A tensor in one round: how it was encoded, and what it came to. */
struct tensor {
	struct sl_sim *sim;
	const struct sl_sim_attempt *page;
	struct sl_tensor_run run;
	const void *base; /* B of ranged updates; NULL: zeros */
	int range;	  /* exponent; of a round of whole models, log2 of its step plus `bits` */
	int bits, lower;  /* of the first limb, of the others */
	double step;
	bool ranged, literal;
};

static double weight_of(const struct tensor *t, uint32_t k)
{
	return t->literal ? 1 : (double)t->page->of[t->page->members[k]].weight;
}

/* Return what learner k of the view adds to element `e`, cut at the range, in exact steps or not at all
 * rounded. */
static double update_of(const struct tensor *t, uint32_t k, size_t e)
{
	double edge = ldexp(1, t->range);
	double u = value_of(&t->run, t->page->of[t->page->members[k]].theta, e) -
		   (t->base == NULL ? 0 : value_of(&t->run, t->base, e));
	return !t->ranged || fabs(u) <= edge ? u : copysign(edge, u);
}

/* Return the largest sum of first limbs, in their steps. */
static double most_of(const struct tensor *t)
{
	double most = 0;
	for (size_t e = 0; e < t->run.count; e++) {
		double sum = 0;
		for (uint32_t k = 0; k < t->page->n; k++) {
			double steps = nearbyint(update_of(t, k, e) / t->step);
			sum += weight_of(t, k) * floor(ldexp(steps, -t->lower) + (t->lower > 0 ? 0.5 : 0));
		}
		most = fmax(most, fabs(sum));
	}
	return most;
}

/* Return the exponent after the round, by the models that went in; INT_MAX: the sums of a first round are 0.
 */
static int exponent_of(const struct tensor *t, const struct sl_parameters *agreed)
{
	struct sl_range_grid grid = {0};
	double weights = 0;
	for (uint32_t k = 0; k < t->page->n; k++) {
		for (size_t e = 0; e < t->run.count; e++) {
			double u = value_of(&t->run, t->page->of[t->page->members[k]].theta, e) -
				   (t->base == NULL ? 0 : value_of(&t->run, t->base, e));
			grid.change = fmax(grid.change, fabs(u));
		}
		weights += weight_of(t, k);
		sl_range_check_count(&grid, t->range);
	}
	struct sl_range_end end = {.first = !t->ranged,
				   .range = t->ranged ? t->range : ilogb(t->step),
				   .bits = t->bits,
				   .learners = t->page->n,
				   .backed = (unsigned)agreed->tolerance + 1,
				   .most = most_of(t),
				   .weight = weights};
	return sl_range_check_exponent(&grid, &end);
}

static void check_element(const struct tensor *t, uint32_t i, const void *committed, size_t e)
{
	double sum = 0, weights = 0;
	for (uint32_t k = 0; k < t->page->n; k++) {
		sum += weight_of(t, k) * update_of(t, k, e);
		weights += weight_of(t, k);
	}
	double mean = (t->base == NULL ? 0 : value_of(&t->run, t->base, e)) + sum / weights;
	double off = fabs(value_of(&t->run, committed, e) - mean);
	double most = t->run.dtype == SL_INT64 ? 0.5 + t->step / 2 + 1e-9
					       : t->step * (t->literal ? t->page->n : 0.5) +
							 (t->run.dtype == SL_FLOAT64 ? 1e-13 : 1e-5);
	if (!(off <= most))
		sl_sim_fail(t->sim, "learner %u: coordinate %zu of the mean is off by %g", t->sim->ids[i],
			    t->run.first + e, off);
}

/* Fill in how the tensor of t->run was encoded. */
static void set_steps(struct tensor *t, const struct sl_workspace *workspace,
		      const struct sl_parameters *agreed, const int16_t *exponents)
{
	double range, power = 0x1p-100;
	uint32_t k = t->run.tensor - 1;
	memcpy(&range, &agreed->clipping_range, sizeof range);
	while (power < range)
		power *= 2;
	t->bits = (int)agreed->update_bits;
	if (agreed->values == SL_VALUES_MODEL) {
		t->step = pow(10, -(double)agreed->decimals);
		return;
	}
	t->lower = t->ranged ? sl_range_check_bits(workspace->ranges.limbs[k], t->bits) - t->bits : 0;
	t->range = t->ranged ? exponents[k] : ilogb(power);
	t->step = ldexp(1, t->range - t->bits - t->lower);
	if (t->run.dtype == SL_INT64 && (t->step < 1 || !t->ranged))
		t->step = 1;
	if (t->ranged)
		t->range = ilogb(t->step) + t->bits + t->lower;
}

/* The model of this round and its exponents must follow from those of the last one. */
void sl_sim_check_mean(struct sl_sim *sim, uint32_t i, const struct sl_sim_attempt *page,
		       const struct sl_parameters *agreed)
{
	const struct sl_workspace *workspace = &sim->learners[i].host.workspace;
	size_t bytes = sl_workspace_model_bytes(workspace);
	bool update = agreed->values == SL_VALUES_UPDATE;
	const uint8_t *before = !update		       ? NULL
				: page->t > 1	       ? (const uint8_t *)sim->models[page->t - 1]
				: agreed->initial != 0 ? sim->learners[i].host.initial
						       : NULL;
	struct tensor t = {.sim = sim,
			   .page = page,
			   .run = {.apart = true},
			   .base = before,
			   .ranged = before != NULL,
			   .literal = sim->options.parameters.encoding == SL_ENCODING_PAPER};
	for (uint32_t k = 0; k < page->n; k++)
		if (page->of[page->members[k]].altered)
			return; /* a learner may choose any input */
	while (sl_tensors_next(&workspace->tensors, workspace->n, &t.run)) {
		set_steps(&t, workspace, agreed, (const int16_t *)(const void *)(before + bytes));
		for (size_t e = 0; e < t.run.count; e++)
			check_element(&t, i, workspace->committed, e);
		int exponent = update ? exponent_of(&t, agreed) : 0;
		if (update && !t.ranged && exponent != INT_MAX)
			exponent += sl_range_check_room(workspace->ranges.limbs[t.run.tensor - 1], false);
		if (update && exponent != INT_MAX &&
		    exponent != sl_workspace_exponents(workspace)[t.run.tensor - 1])
			sl_sim_fail(sim, "learner %u: the range of tensor %u is 2^%d, by the models 2^%d",
				    sim->ids[i], t.run.tensor - 1,
				    sl_workspace_exponents(workspace)[t.run.tensor - 1], exponent);
	}
}
