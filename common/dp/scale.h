/* scale.h - how a vector with a bounded norm becomes integers with noise: the step, the noise of each share,
 * the room of a sum.
 *
 * A step is a power of two, at most clip / (g sqrt(d)) for d coordinates: a norm of clip is Delta >= g
 * sqrt(d) steps, and with dither at least SL_DP_NORM_LEAST. Norms and sigmas are in steps. Pure.
 *
 * Learners of a view need the same step and the same modulus. What these depend on is computed with
 * + - * / and square roots alone, which every machine rounds in the same way.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"
#include "common/dp/accountant.h"

#define SL_DP_GRANULARITY 4.0 /* g, at least: rounding then adds 1 % to the norm of long vectors */
#define SL_DP_SIGMA_LEAST 4.0 /* of a share: sums of shares are then discrete Gaussian up to 1e-66 */
#define SL_DP_BETA 1e-16 /* probability that dither raises the norm above its bound: 1e-10 in 10^6 rounds */
#define SL_DP_TAIL_SIGMAS 12.0 /* that a sum has room for: exceeded with probability 1e-32 */
#define SL_DP_NORM_LEAST 0x1p9 /* with dither: it then adds 1 % to the norm of short vectors, too */
/* Record: the range of a coordinate of a learner's sum is SL_DP_CLIPS_SHARED / d clips, at least
 * SL_DP_CLIPS_LEAST: counts of few cells are as large as their records, and of the gradients of a long vector
 * a coordinate has a small part. */
#define SL_DP_CLIPS_SHARED 0x1p27
#define SL_DP_CLIPS_LEAST 0x1p10

enum sl_dp_unit {
	SL_DP_RECORD,  /* a sum of clipped records, rounded with dither */
	SL_DP_LEARNER, /* a vector that is scaled down so that its nearest integers keep the norm */
};

struct sl_dp_terms {
	enum sl_dp_unit unit;
	double dimension;   /* d, at least 1 */
	double clip;	    /* above 0 */
	double noise;	    /* z, above 0 */
	double range;	    /* largest coordinate of a contribution; 0: record: as above, learner: the norm */
	uint32_t learners;  /* N of the view */
	uint32_t colluding; /* c < N, the observer among them */
};

struct sl_dp_scale {
	int step;	    /* a step is 2^step; the largest with which sigma >= SL_DP_SIGMA_LEAST */
	double norm;	    /* Delta = clip / 2^step */
	double sensitivity; /* of the integers to one record or learner */
	double beta;	    /* probability that it is exceeded; 0: it cannot be */
	double sigma;	    /* of the share of each participant */
	double sigma_total; /* of the sum */
	uint64_t most;	    /* largest coordinate of a contribution; larger ones are cut, which does not
			       raise the sensitivity */
	uint64_t room;	    /* that the noise takes: N (most + room) holds a sum */
};

/* Return a bound on the norm of the difference of two vectors that are rounded as floor(x + u), with the same
 * u, uniform in [0,1)^d. It is exceeded with probability `beta` at most; *never is set where it cannot be.
 *
 * The difference x - y of norm `norm` is rounded up or down in each coordinate, without bias. So its norm is
 * below norm + sqrt(d), and its square below norm^2 + d/4 + sqrt(2 ln(1/beta)) (norm + sqrt(d)/2), by
 * Hoeffding's inequality for sum x_i^2 (Kairouz, Liu, Steinke, 2102.06387, Theorem 1). */
double sl_dp_dithered_norm(double norm, double dimension, double beta, bool *never);

/* Choose the step and sigma = z sensitivity / sqrt(N - c): the shares of N - c participants suffice.
 * SL_ERR_RANGE if z is too small or too large for any step, or the range less than a step, or too large. */
int sl_dp_scale_choose(const struct sl_dp_terms *terms, struct sl_dp_scale *scale);

/* Return a round on these terms as it is charged. `sampled`: q, as the application declares it. Each element
 * of the noise of each participant is within 2^SL_GAUSSIAN_LOG2_DISTANCE of its distribution. */
struct sl_dp_round sl_dp_scale_round(const struct sl_dp_terms *terms, const struct sl_dp_scale *scale,
				     double sampled);

/* What rounds on the same terms may spend. */
struct sl_dp_target {
	double epsilon, delta;
	double sampled; /* q; 1: none */
	uint64_t rounds;
};

/* Return the epsilon that the rounds spend, believing `sampled`; INFINITY if there is no step for z. */
double sl_dp_scale_epsilon(const struct sl_dp_terms *terms, const struct sl_dp_target *target);
/* Return the least z of SL_DP_NOISE_DIGITS digits, rounded up, that spends at most target->epsilon; INFINITY
 * if there is none. terms->noise is ignored. */
#define SL_DP_NOISE_DIGITS 4
double sl_dp_scale_noise(const struct sl_dp_terms *terms, const struct sl_dp_target *target);
