#include "common/dp/scale.h"

#include <assert.h>
#include <math.h>

#include "common/dp/gaussian.h"

#define STEPS_END 0x1p54    /* most and room stay below */
#define NOISE_LEAST 0x1p-20 /* where the search begins and ends */
#define NOISE_MOST 0x1p40

double sl_dp_dithered_norm(double norm, double dimension, double beta, bool *never)
{
	double root = sqrt(dimension), always = norm + root;
	double likely = sqrt(norm * norm + dimension / 4 + sqrt(-2 * log(beta)) * (norm + root / 2));
	*never = always <= likely;
	return *never ? always : likely;
}

/* Set most and room of the step that is chosen. */
static int set_room(const struct sl_dp_terms *terms, double shares, struct sl_dp_scale *scale)
{
	bool record = terms->unit == SL_DP_RECORD;
	double shared = SL_DP_CLIPS_SHARED / terms->dimension;
	double clips = shared > SL_DP_CLIPS_LEAST ? shared : SL_DP_CLIPS_LEAST;
	double most = record ? floor(clips * scale->norm) : ceil(scale->norm);
	double always = scale->norm + (record ? sqrt(terms->dimension) : 0);
	double room = SL_DP_TAIL_SIGMAS * terms->noise * always / sqrt(shares) / sqrt(terms->learners);
	if (terms->range > 0) {
		double range = floor(ldexp(terms->range, -scale->step));
		most = record || range < most ? range : most;
	}
	if (!(most >= 1 && most < STEPS_END && room < STEPS_END))
		return SL_ERR_RANGE;
	scale->most = (uint64_t)most;
	scale->room = (uint64_t)ceil(room);
	return SL_OK;
}

int sl_dp_scale_choose(const struct sl_dp_terms *terms, struct sl_dp_scale *scale)
{
	assert(terms->dimension >= 1 && terms->clip > 0 && terms->noise > 0 &&
	       terms->colluding < terms->learners);
	double root = sqrt(terms->dimension), shares = terms->learners - terms->colluding;
	int step;
	frexp(terms->clip / (SL_DP_GRANULARITY * root), &step);
	double norm = ldexp(terms->clip, 1 - step);
	double least = terms->unit == SL_DP_RECORD ? SL_DP_NORM_LEAST : 0;
	for (step--; norm < least || terms->noise * norm / sqrt(shares) < SL_DP_SIGMA_LEAST;
	     step--, norm *= 2)
		if (norm > STEPS_END)
			return SL_ERR_RANGE;
	bool never = true;
	double sensitivity = norm;
	if (terms->unit == SL_DP_RECORD)
		sensitivity = sl_dp_dithered_norm(norm, terms->dimension, SL_DP_BETA, &never);
	double sigma = terms->noise * sensitivity / sqrt(shares);
	*scale = (struct sl_dp_scale){.step = step,
				      .norm = norm,
				      .sensitivity = sensitivity,
				      .beta = never ? 0 : SL_DP_BETA,
				      .sigma = sigma,
				      .sigma_total = sqrt(terms->learners) * sigma};
	if (terms->noise * (norm + root) / sqrt(shares) > SL_GAUSSIAN_SIGMA_MOST)
		return SL_ERR_RANGE;
	return set_room(terms, shares, scale);
}

struct sl_dp_round sl_dp_scale_round(const struct sl_dp_terms *terms, const struct sl_dp_scale *scale,
				     double sampled)
{
	double drawn = terms->dimension * terms->learners;
	return (struct sl_dp_round){.dimension = terms->dimension,
				    .sensitivity = scale->sensitivity,
				    .sigma = scale->sigma,
				    .shares = terms->learners - terms->colluding,
				    .sampled = sampled,
				    .beta = scale->beta,
				    .distance = ldexp(drawn, SL_GAUSSIAN_LOG2_DISTANCE)};
}

double sl_dp_scale_epsilon(const struct sl_dp_terms *terms, const struct sl_dp_target *target)
{
	struct sl_dp_scale scale;
	struct sl_dp_spent spent = {0};
	if (sl_dp_scale_choose(terms, &scale) != SL_OK)
		return INFINITY;
	struct sl_dp_round round = sl_dp_scale_round(terms, &scale, target->sampled);
	sl_dp_charge(&spent, &round, target->rounds);
	return sl_dp_spent_epsilon(&spent, target->delta, target->sampled < 1);
}

/* Return `value` > 0, rounded up to SL_DP_NOISE_DIGITS digits. */
static double rounded_up(double value)
{
	if (!isfinite(value) || value <= 0)
		return value;
	double unit = pow(10, floor(log10(value)) + 1 - SL_DP_NOISE_DIGITS);
	return ceil(value / unit * (1 - 1e-12)) * unit;
}

static bool keeps(const struct sl_dp_terms *terms, double noise, const struct sl_dp_target *target)
{
	struct sl_dp_terms tried = *terms;
	tried.noise = noise;
	return sl_dp_scale_epsilon(&tried, target) <= target->epsilon;
}

static bool has_step(const struct sl_dp_terms *terms, double noise)
{
	struct sl_dp_terms tried = *terms;
	struct sl_dp_scale scale;
	tried.noise = noise;
	return sl_dp_scale_choose(&tried, &scale) == SL_OK;
}

/* Return the largest z that has a step, almost; or NOISE_LEAST. */
static double most_noise(const struct sl_dp_terms *terms)
{
	double low = NOISE_MOST, high = NOISE_MOST;
	while (low > NOISE_LEAST && !has_step(terms, low)) {
		high = low;
		low /= 2;
	}
	while (high / low > 1 + 1e-7) {
		double middle = sqrt(low * high);
		*(has_step(terms, middle) ? &low : &high) = middle;
	}
	return low;
}

double sl_dp_scale_noise(const struct sl_dp_terms *terms, const struct sl_dp_target *target)
{
	double low = NOISE_LEAST, high = most_noise(terms);
	if (!keeps(terms, high, target))
		return INFINITY;
	while (high / low > 1 + 1e-7) {
		double middle = sqrt(low * high);
		*(keeps(terms, middle, target) ? &high : &low) = middle;
	}
	/* where the step changes, slightly more noise may spend slightly more */
	for (high = rounded_up(high); !keeps(terms, high, target);) {
		if (!has_step(terms, high))
			return INFINITY;
		high = rounded_up(high * 1.0001);
	}
	return high;
}
