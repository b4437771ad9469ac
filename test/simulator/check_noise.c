/* Vectors with noise (ROUND.md §4.9 Noise): the noise of each learner is the stream of a key that has no
 * other use, all else of its vector is what it may contribute, and what was seen is charged. */
#include <math.h>
#include <sodium.h>

#include "common/base/real.h"
#include "common/dp/gaussian.h"
#include "test/simulator/check.h"

#define ROUNDED 1e-6 /* of a step: doubles that are computed in another order */

/* What the shares of N - c learners add up to suffices. */
static void check_sigma(struct sl_sim *sim, uint32_t i, const struct sl_view *view)
{
	const struct sl_parameters *p = &view->agreed;
	double norm = ldexp(sl_real_of(p->dp_clip), -view->scale.step), achieved = view->scale.sigma;
	double shares = p->tolerance < view->n ? (double)(view->n - p->tolerance) : 1;
	double drawn = sim->learners[i].host.workspace.noise.plan.sigma;
	if (!(achieved >= 4 && achieved * sqrt(shares) >= sl_real_of(p->dp_noise) * norm * (1 - 1e-9)) ||
	    !(drawn >= achieved && drawn <= achieved * 1.01))
		sl_sim_fail(sim, "learner %u adds noise of %g steps where %g are due", sim->ids[i], drawn,
			    sl_real_of(p->dp_noise) * norm / sqrt(shares));
}

/* The own vector in steps, not rounded. */
struct vector {
	struct sl_sim *sim;
	uint32_t i;
	const struct sl_view *view;
	double *steps;
	int64_t *whole; /* the integers that it became */
};

static double cut(double value, double most)
{
	return fmin(fmax(value, -most), most);
}

/* Record: each value is rounded up or down, then cut. */
static void check_dithered(const struct vector *v)
{
	double most = (double)v->view->scale.most;
	for (size_t e = 0; e < v->view->agreed.n; e++) {
		double low = cut(floor(v->steps[e] - ROUNDED), most),
		       high = cut(ceil(v->steps[e] + ROUNDED), most);
		if (!((double)v->whole[e] >= low && (double)v->whole[e] <= high))
			sl_sim_fail(v->sim, "learner %u adds %lld where it has %g", v->sim->ids[v->i],
				    (long long)v->whole[e], v->steps[e]);
	}
}

/* Learner: the integers have at most the norm, and the direction of the vector. */
static void check_scaled(const struct vector *v)
{
	double norm = v->view->scale.norm, most = (double)v->view->scale.most;
	double n = (double)v->view->agreed.n, length = 0, found = 0;
	for (size_t e = 0; e < v->view->agreed.n; e++) {
		length += v->steps[e] * v->steps[e];
		found += (double)v->whole[e] * (double)v->whole[e];
	}
	double high = fmin(1, norm / sqrt(length)), low = fmin(1, fmax(0, norm - sqrt(n)) / sqrt(length));
	if (!(found <= norm * norm))
		sl_sim_fail(v->sim, "learner %u adds a vector of norm %g, and %g is the most",
			    v->sim->ids[v->i], sqrt(found), norm);
	for (size_t e = 0; e < v->view->agreed.n; e++) {
		double size = fabs(v->steps[e]), whole = copysign(1, v->steps[e]) * (double)v->whole[e];
		if (!(whole >= cut(low * size - 0.5 - ROUNDED, most) &&
		      whole <= cut(high * size + 0.5 + ROUNDED, most)))
			sl_sim_fail(v->sim, "learner %u adds %lld where it has %g, of norm %g",
				    v->sim->ids[v->i], (long long)v->whole[e], v->steps[e], sqrt(length));
	}
}

/* Fill in the vector in steps. */
static void read_steps(struct vector *v)
{
	const struct sl_workspace *w = &v->sim->learners[v->i].host.workspace;
	bool update = v->view->agreed.values == SL_VALUES_NOISY_UPDATE;
	struct sl_tensor_run run = {.apart = true};
	while (sl_tensors_next(&w->tensors, w->n, &run))
		for (size_t e = 0; e < run.count; e++) {
			double base = update ? sl_sim_check_value(&run, w->committed, e) : 0;
			double value = sl_sim_check_value(&run, w->trained, e) - base;
			v->steps[run.first + e] = w->weight == 0 ? 0 : ldexp(value, -v->view->scale.step);
		}
}

static int64_t centred(uint64_t x, uint64_t p)
{
	return x > p / 2 ? (int64_t)x - (int64_t)p : (int64_t)x;
}

void sl_sim_check_noise(struct sl_sim *sim, uint32_t i, struct sl_sim_attempt *page,
			const struct sl_view *view)
{
	const struct sl_workspace *w = &sim->learners[i].host.workspace;
	size_t n = (size_t)view->agreed.n;
	struct sl_sim_part *part = &page->of[i];
	if (!sl_values_are_noisy(view->agreed.values))
		return;
	struct vector v = {sim, i, view, sl_sim_alloc(sim, n, sizeof *v.steps),
			   sl_sim_alloc(sim, n, sizeof *v.whole)};
	int64_t *noise = sl_sim_alloc(sim, n, sizeof *noise);
	check_sigma(sim, i, view);
	sl_gaussian_draw(&w->noise.plan, w->noise.key, 0, noise, n);
	for (size_t e = 0; e < n; e++)
		v.whole[e] = centred(part->x[e], page->p) - noise[e];
	read_steps(&v);
	if (view->agreed.dp_unit == SL_DP_RECORD)
		check_dithered(&v);
	else
		check_scaled(&v);
	if (part->x[n] != w->weight || w->weight > 1)
		sl_sim_fail(sim, "learner %u adds %llu to the weights, and has %llu", sim->ids[i],
			    (unsigned long long)part->x[n], (unsigned long long)w->weight);
	for (size_t e = 0; e < n; e++)
		v.whole[e] += noise[e];
	part->noisy = v.whole;
	page->step = view->scale.step;
}

void sl_sim_check_noise_keys(struct sl_sim *sim, uint32_t i, const struct sl_view *view)
{
	const struct sl_noise *noise = &sim->learners[i].host.workspace.noise;
	if (sl_values_are_noisy(view->agreed.values) && (!sl_sim_seen_add(&sim->randomness, noise->key) ||
							 !sl_sim_seen_add(&sim->randomness, noise->dither)))
		sl_sim_fail(sim, "learner %u uses a key of noise a second time", sim->ids[i]);
}

void sl_sim_check_noise_gone(struct sl_sim *sim, uint32_t i)
{
	const struct sl_noise *noise = &sim->learners[i].host.workspace.noise;
	if (!sodium_is_zero((const uint8_t *)noise, sizeof *noise))
		sl_sim_fail(sim, "learner %u keeps the keys of its noise when its shares are made",
			    sim->ids[i]);
}

void sl_sim_check_charged(struct sl_sim *sim, const struct sl_sim_attempt *page)
{
	for (uint32_t k = 0; k < page->n; k++) {
		const struct sl_sim_part *part = &page->of[page->members[k]];
		if (part->noisy != NULL && part->weight > 0 && !part->prepared &&
		    !sim->learners[page->members[k]].liar)
			sl_sim_fail(sim, "t%u a%u is seen, and learner %u has not charged it", page->t,
				    page->a, sim->ids[page->members[k]]);
	}
}
