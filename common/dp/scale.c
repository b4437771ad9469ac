#include "common/dp/scale.h"

#include <assert.h>
#include <math.h>

#define GRANULARITY_MOST 0x1p52

double sl_dp_dithered_norm(double norm, double dimension, double beta, bool *never)
{
	double root = sqrt(dimension), always = norm + root;
	double likely = sqrt(norm * norm + dimension / 4 + sqrt(-2 * log(beta)) * (norm + root / 2));
	*never = always <= likely;
	return *never ? always : likely;
}

int sl_dp_scale_choose(const struct sl_dp_terms *terms, struct sl_dp_scale *scale)
{
	assert(terms->dimension >= 1 && terms->noise > 0 && terms->colluding < terms->learners);
	double shares = terms->learners - terms->colluding;
	for (double g = terms->granularity; g <= GRANULARITY_MOST; g *= 2) {
		bool never = true;
		double norm = g * sqrt(terms->dimension), sensitivity = norm;
		if (terms->unit == SL_DP_RECORD)
			sensitivity = sl_dp_dithered_norm(norm, terms->dimension, SL_DP_BETA, &never);
		double sigma = terms->noise * sensitivity / sqrt(shares);
		*scale = (struct sl_dp_scale){.granularity = g,
					      .norm = norm,
					      .sensitivity = sensitivity,
					      .beta = never ? 0 : SL_DP_BETA,
					      .sigma = sigma,
					      .sigma_total = sqrt(terms->learners) * sigma};
		if (sigma >= SL_DP_SIGMA_LEAST)
			return SL_OK;
	}
	return SL_ERR_RANGE;
}

uint32_t sl_dp_modulus_bits(double most, double sigma_total)
{
	/* 2 x + 1 integers lie between -x and x */
	return (uint32_t)ceil(log2(2 * ceil(most + SL_DP_TAIL_SIGMAS * sigma_total) + 1));
}
