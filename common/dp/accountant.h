/* accountant.h - the privacy that noisy sums have spent: epsilon and delta of differential privacy.
 *
 * Neighbours are two data sets of which one has one record more, or, at learner level, two runs in one of
 * which a learner's vector is zero. A replaced record counts as two. Logarithms are natural; norms and sigmas
 * are in steps, the integers that are added up. Bounds are rounded upwards, and sl_dp_spent_epsilon adds more
 * than the errors of doubles. Pure: no state but struct sl_dp_spent, which the caller keeps. Arguments out of
 * range are assertions.
 *
 * Sources: [DRS] Dong, Roth, Su, Gaussian differential privacy, 1905.02383. [CKS] Canonne, Kamath, Steinke,
 * The discrete Gaussian for differential privacy, 2004.00010. [KLS] Kairouz, Liu, Steinke, The distributed
 * discrete Gaussian mechanism, 2102.06387. [MTZ] Mironov, Talwar, Zhang, Renyi differential privacy of the
 * sampled Gaussian mechanism, 1908.10530.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* ---- Gaussian noise of real numbers ---- */

/* mu: norm of the difference between neighbours, divided by sigma; over rounds mu^2 adds up ([DRS] Corollary
 * 3.3). With noise multipliers z_t, mu^2 = sum of 1 / z_t^2. */

/* Return ln delta(epsilon) of Gaussian noise ([DRS] Corollary 2.13):
 * delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), for epsilon >= 0. */
double sl_dp_ln_delta(double epsilon, double mu);
/* Return the least epsilon >= 0 with delta(epsilon) <= delta; INFINITY where there is none (delta <= 0). */
double sl_dp_epsilon(double delta, double mu);

/* ---- Renyi divergence ---- */

#define SL_DP_ORDER_LEAST 2u
#define SL_DP_ORDER_MOST 256u
#define SL_DP_ORDERS (SL_DP_ORDER_MOST - SL_DP_ORDER_LEAST + 1u)

/* Return R(order) of one round that takes each record with probability q, independently (Poisson sampling):
 * 1/(order-1) ln sum_k C(order, k) q^k (1-q)^(order-k) exp((k^2-k)/(2 z^2)) ([MTZ] section 3.3).
 *
 * It holds for discrete Gaussian noise of variance parameter sigma^2, too: for integers v and k, the mean of
 * (P(y-v)/P(y))^k over y is exp((k^2-k) |v|^2 / (2 sigma^2)), and y -> v - y exchanges the two distributions
 * ([MTZ] Theorem 5). */
double sl_dp_sampled_rdp(uint32_t order, double q, double z);

/* Return tau of a sum of discrete Gaussian shares, each with `sigma` ([KLS] Theorem 1):
 * 10 sum_{k=1}^{shares-1} exp(-2 pi^2 sigma^2 k/(k+1)). The logarithms of the probabilities of the sum and of
 * one discrete Gaussian with sqrt(shares) sigma differ by at most tau / 2 in each coordinate. INFINITY for
 * sigma < 1/2. */
double sl_dp_tau(uint32_t shares, double sigma);

/* ---- what rounds have spent ---- */

/* A round as it is charged: what was achieved, not what was wanted.
 *
 * An exact sampler has ratio = distance = 0. Where a sampler cuts noise off, the probability of noise within
 * `sensitivity` of there belongs to beta. */
struct sl_dp_round {
	double dimension;   /* coordinates of the vector */
	double sensitivity; /* norm of the difference between neighbours, at most (struct sl_dp_scale) */
	double sigma;	    /* of a share of noise; at least 1/2 */
	uint32_t shares;    /* N - c: those of the participants that do not collude */
	double sampled;	    /* q, as the application declares it; 1: each record may be in each round */
	double beta;	    /* probability that `sensitivity` is exceeded */
	double ratio;	    /* of the noise's probabilities to the true ones, as a logarithm */
	double distance;    /* total variation besides: it counts exp(epsilon) times */
};

/* What rounds have spent: numbers that only grow. All zero: nothing. */
struct sl_dp_spent {
	double mu2;		  /* without sampling; INFINITY: too little noise for this bound */
	double rdp[SL_DP_ORDERS]; /* with sampling */
	double ratio;		  /* of probabilities: of the noise, and of sums of integers */
	double beta, distance;	  /* sums over the rounds */
};

/* Charge `rounds` rounds like this one.
 *
 * Noise of integers is not Gaussian: at sigma = 4 its delta is up to 7 % above that of Gaussian noise with
 * the same sigma. But take x Gaussian with variance sigma^2 - s^2, and an integer y with probability
 * proportional to exp(-(y-x)^2 / (2 s^2)). Then y is discrete Gaussian with sigma, up to a factor in its
 * probabilities whose logarithm is below 5 exp(-2 pi^2 s^2) (Poisson's summation formula). The choice of y
 * sees nothing but x. So mu of the continuous noise holds, with sigma^2 - s^2 in place of sigma^2. */
void sl_dp_charge(struct sl_dp_spent *spent, const struct sl_dp_round *round, uint64_t rounds);

/* Return epsilon of all that was charged, at `delta`, rounded upwards; with `sampled`, the declared sampling
 * is believed. INFINITY where delta is used up.
 *
 * With a = `ratio`, b = `beta`, t = `distance`: noise that spends (e, d) spends (e + 2a, exp(a) d) in sums of
 * integers, and (e, d + b + (1 + exp(e)) t) in the end. */
double sl_dp_spent_epsilon(const struct sl_dp_spent *spent, double delta, bool sampled);
