/* The committed model is the mean of the models that went in. */
#include <math.h>

#include "test/simulator/check.h"
#include "test/simulator/range_check.h"

double sl_sim_check_value(const struct sl_tensor_run *run, const void *model, size_t e)
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
	const void *base; /* B of updates; NULL: values are averaged */
	int range;	  /* exponent of updates */
	int bits, lower;  /* of the first limb of an update, of the others */
	double step;	  /* 0: exact */
	bool literal;
};

static double weight_of(const struct tensor *t, uint32_t k)
{
	return t->literal ? 1 : (double)t->page->of[t->page->members[k]].weight;
}

/* Return what learner k of the view adds to element `e`, cut at the range, in exact steps or not at all
 * rounded. */
static double update_of(const struct tensor *t, uint32_t k, size_t e)
{
	double edge = ldexp(1, t->range),
	       value = sl_sim_check_value(&t->run, t->page->of[t->page->members[k]].theta, e);
	if (t->base == NULL)
		return value;
	double u = value - sl_sim_check_value(&t->run, t->base, e);
	return fabs(u) <= edge ? u : copysign(edge, u);
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

/* Return the exponent after the ranged round, by the models that went in. */
static int exponent_of(const struct tensor *t)
{
	struct sl_range_grid grid = {0};
	double weights = 0;
	for (uint32_t k = 0; k < t->page->n; k++) {
		for (size_t e = 0; e < t->run.count; e++) {
			double u = sl_sim_check_value(&t->run, t->page->of[t->page->members[k]].theta, e) -
				   sl_sim_check_value(&t->run, t->base, e);
			grid.change = fmax(grid.change, fabs(u));
		}
		weights += weight_of(t, k);
		const struct sl_sim_part *part = &t->page->of[t->page->members[k]];
		if (part->lied)
			grid.counts[part->magnitude]++;
		else
			sl_range_check_count(&grid, t->range);
		grid.change = 0;
	}
	struct sl_range_end end = {.range = t->range,
				   .bits = t->bits,
				   .learners = t->page->n,
				   .backed = (unsigned)t->sim->options.parameters.tolerance + 1,
				   .most = most_of(t),
				   .weight = weights};
	return sl_range_check_exponent(&grid, &end);
}

static void check_element(const struct tensor *t, uint32_t i, const void *committed, size_t e)
{
	double sum = 0, weights = 0;
	for (uint32_t k = 0; k < t->page->n; k++) {
		const int64_t *noisy = t->page->of[t->page->members[k]].noisy;
		sum += noisy != NULL ? ldexp((double)noisy[t->run.first + e], t->page->step)
				     : weight_of(t, k) * update_of(t, k, e);
		weights += weight_of(t, k);
	}
	double base = t->base == NULL ? 0 : sl_sim_check_value(&t->run, t->base, e),
	       mean = base + sum / weights;
	double off = fabs(sl_sim_check_value(&t->run, committed, e) - mean);
	double own = t->run.dtype == SL_INT64	  ? 0.5 + 1e-9
		     : t->run.dtype == SL_FLOAT64 ? 1e-13 + 1e-15 * fabs(mean)
						  : 1e-5 + 1e-6 * fabs(mean);
	own += 1e-15 * t->page->n * fabs(base); /* of the sums here: a lie may have made it very large */
	if (!(off <= own + t->step * (t->literal ? t->page->n : 0.5)))
		sl_sim_fail(t->sim, "learner %u: coordinate %zu of the mean is off by %g", t->sim->ids[i],
			    t->run.first + e, off);
}

static enum sl_tensor_class class_of(const struct sl_workspace *workspace, const struct tensor *t)
{
	return (enum sl_tensor_class)workspace->ranges.class[t->run.tensor - 1];
}

static int limbs_of(const struct sl_workspace *workspace, const struct tensor *t)
{
	enum sl_tensor_class class = class_of(workspace, t);
	return class == SL_CLASS_SMALL ? 5 : class == SL_CLASS_NONNEGATIVE ? 3 : 1;
}

/* Fill in how the tensor of t->run was encoded. */
static void set_steps(struct tensor *t, const struct sl_workspace *workspace,
		      const struct sl_round_head *agreed, const uint8_t *before)
{
	t->base = NULL;
	t->step = agreed->values == SL_VALUES_MODEL && t->run.dtype != SL_INT64
			  ? pow(10, -(double)t->sim->options.parameters.decimals)
			  : 0;
	if (sl_values_are_noisy(agreed->values)) {
		t->base = before;
		return;
	}
	if (before == NULL || sl_ranges_always_exact(class_of(workspace, t)))
		return;
	const int16_t *exponents =
		(const int16_t *)(const void *)(before + sl_workspace_model_bytes(workspace));
	t->base = before;
	t->bits = (int)agreed->update_bits;
	t->lower = sl_range_check_lower(limbs_of(workspace, t), t->bits);
	t->range = exponents[t->run.tensor - 1];
	t->step = ldexp(1, t->range - t->bits - t->lower);
}

/* Return the largest absolute value of the model, in a tensor, or in all that are not always exact. */
static double largest_of(const struct sl_workspace *workspace, const void *model, uint32_t tensor)
{
	double most = 0;
	for (struct sl_tensor_run run = {.apart = true};
	     sl_tensors_next(&workspace->tensors, workspace->n, &run);) {
		bool exact =
			sl_ranges_always_exact((enum sl_tensor_class)workspace->ranges.class[run.tensor - 1]);
		for (size_t e = 0; e < run.count && (tensor == 0 ? !exact : tensor == run.tensor); e++)
			most = fmax(most, fabs(sl_sim_check_value(&run, model, e)));
	}
	return most;
}

static void check_exponent(const struct tensor *t, uint32_t i, const struct sl_workspace *workspace,
			   bool ranged)
{
	int found = sl_workspace_exponents(workspace)[t->run.tensor - 1], exponent = 0;
	if (!sl_ranges_always_exact(class_of(workspace, t)))
		exponent = ranged ? exponent_of(t)
				  : sl_range_check_first(
					    largest_of(workspace, workspace->committed, t->run.tensor),
					    largest_of(workspace, workspace->committed, 0),
					    limbs_of(workspace, t), t->run.nonnegative);
	if (exponent != found)
		sl_sim_fail(t->sim, "learner %u: the range of tensor %u is 2^%d, by the models 2^%d",
			    t->sim->ids[i], t->run.tensor - 1, found, exponent);
}

/* The model of this round and its exponents must follow from those of the last one. */
void sl_sim_check_mean(struct sl_sim *sim, uint32_t i, const struct sl_sim_attempt *page,
		       const struct sl_round_head *agreed)
{
	const struct sl_workspace *workspace = &sim->learners[i].host.workspace;
	bool update = agreed->values == SL_VALUES_UPDATE || agreed->values == SL_VALUES_NOISY_UPDATE;
	const uint8_t *before = !update		       ? NULL
				: page->t > 1	       ? (const uint8_t *)sim->models[page->t - 1]
				: agreed->initial != 0 ? sim->learners[i].host.initial
						       : NULL;
	struct tensor t = {.sim = sim,
			   .page = page,
			   .run = {.apart = true},
			   .literal = sim->options.parameters.encoding == SL_ENCODING_PAPER};
	for (uint32_t k = 0; k < page->n; k++)
		if (page->of[page->members[k]].altered)
			return; /* a learner may choose any input */
	while (sl_tensors_next(&workspace->tensors, workspace->n, &t.run)) {
		set_steps(&t, workspace, agreed, before);
		for (size_t e = 0; e < t.run.count; e++)
			check_element(&t, i, workspace->committed, e);
		if (sl_values_have_limbs(agreed->values))
			check_exponent(&t, i, workspace, before != NULL);
	}
}
