/* scale.h - how a vector with a bounded norm becomes integers with noise: the step, the noise of each share,
 * the bits of a sum.
 *
 * A step is clip / (g sqrt(d)), for d coordinates: a norm of clip is Delta = g sqrt(d) steps. Norms and
 * sigmas are in steps. Pure. Learners of a view need the same step, and logarithms differ in their last digit
 * between machines: what is computed here is agreed on, not computed by each learner.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"

#define SL_DP_GRANULARITY 4.0 /* g, at least: rounding then adds 1 % to the norm of long vectors */
#define SL_DP_SIGMA_LEAST 4.0 /* of a share: sums of shares are then discrete Gaussian up to 1e-66 */
#define SL_DP_BETA 1e-16 /* probability that dither raises the norm above its bound: 1e-10 in 10^6 rounds */
#define SL_DP_TAIL_SIGMAS 12.0 /* that a sum has room for: exceeded with probability 1e-32 */

enum sl_dp_unit {
	SL_DP_RECORD,  /* a sum of clipped records, rounded with dither */
	SL_DP_LEARNER, /* a clipped vector, rounded to the nearest integers and scaled to the norm again */
};

struct sl_dp_terms {
	enum sl_dp_unit unit;
	double dimension;   /* d, at least 1 */
	double noise;	    /* z, above 0 */
	uint32_t learners;  /* N of the view */
	uint32_t colluding; /* c < N, the observer among them */
	double granularity; /* g, at least */
};

struct sl_dp_scale {
	double granularity; /* g: doubled until sigma >= SL_DP_SIGMA_LEAST */
	double norm;	    /* Delta; the step is clip / norm */
	double sensitivity; /* of the integers to one record or learner */
	double beta;	    /* probability that it is exceeded; 0: it cannot be */
	double sigma;	    /* of the share of each participant */
	double sigma_total; /* of the sum */
};

/* Return a bound on the norm of the difference of two vectors that are rounded as floor(x + u), with the same
 * u, uniform in [0,1)^d. It is exceeded with probability `beta` at most; *never is set where it cannot be.
 *
 * The difference x - y of norm `norm` is rounded up or down in each coordinate, without bias. So its norm is
 * below norm + sqrt(d), and its square below norm^2 + d/4 + sqrt(2 ln(1/beta)) (norm + sqrt(d)/2), by
 * Hoeffding's inequality for sum x_i^2 (Kairouz, Liu, Steinke, 2102.06387, Theorem 1). */
double sl_dp_dithered_norm(double norm, double dimension, double beta, bool *never);

/* Choose g and sigma = z sensitivity / sqrt(N - c): the shares of N - c participants suffice.
 * SL_ERR_RANGE if z is too small for any g. */
int sl_dp_scale_choose(const struct sl_dp_terms *terms, struct sl_dp_scale *scale);

/* Return the bits of a modulus for sums of integers between -most and most with noise of sigma_total. Without
 * more, most is the norm times the records of the round, or times the learners: all could lie in one
 * coordinate. To clamp the coordinates of a sum before the noise is added does not raise its sensitivity. */
uint32_t sl_dp_modulus_bits(double most, double sigma_total);
