/* The accountant: known values, exact sums over small distributions against its bounds, extreme input. */
#include "test/lib/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/dp/accountant.h"

#define assert_near(value, expected, most)                                                                   \
	do {                                                                                                 \
		double value_ = (value), expected_ = (expected);                                             \
		if (!(fabs(value_ - expected_) <= (most)))                                                   \
			fail_msg("%s is %.12g, not %.12g", #value, value_, expected_);                       \
	} while (0)
#define assert_at_most(value, bound)                                                                         \
	do {                                                                                                 \
		double value_ = (value), bound_ = (bound);                                                   \
		if (!(value_ <= bound_))                                                                     \
			fail_msg("%s is %.17g, above %.17g", #value, value_, bound_);                        \
	} while (0)

static double epsilon_of(double z, double rounds, double delta)
{
	return sl_dp_epsilon(delta, sqrt(rounds) / z);
}

/* A round of numbers so large that their rounding costs nothing. */
static struct sl_dp_round smooth(double z, double q)
{
	return (struct sl_dp_round){
		.dimension = 1, .sensitivity = 1e9, .sigma = z * 1e9, .shares = 1, .sampled = q};
}

/* ---- Gaussian noise of real numbers ---- */

TEST(known_epsilon)
{
	assert_near(epsilon_of(1, 1, 1e-5), 4.377178096, 5e-10);
	assert_near(epsilon_of(1, 10, 1e-5), 17.85658683, 5e-9);
	assert_near(epsilon_of(4, 100, 1e-5), 13.20671224, 5e-9);
	assert_near(epsilon_of(5, 20, 1e-5), 3.848610283, 5e-10);
	assert_near(epsilon_of(10, 100, 1e-6), 4.886554117, 5e-10);
	assert_near(epsilon_of(20, 1, 1e-6), 0.189213173, 5e-10);
	assert_near(epsilon_of(0.5, 1, 1e-5), 9.997256146, 5e-10);
}

/* The noise of the design, the least that spends so much. */
TEST(known_noise)
{
	assert_near(epsilon_of(3.730631635, 1, 1e-5), 1, 5e-9);
	assert_near(epsilon_of(6.002290722, 100, 1e-5), 8, 5e-9);
	assert_near(epsilon_of(10.811618495, 100, 1e-5), 4, 5e-9);
	assert_near(epsilon_of(2.684306015, 20, 1e-5), 8, 5e-9);
	assert_near(epsilon_of(10.916748777, 50, 1e-6), 3, 5e-9);
	assert_near(epsilon_of(4.224678889, 1, 1e-6), 1, 5e-9);
}

/* delta = integral of max(0, p(x) - e^epsilon q(x)) with p = N(mu, 1), q = N(0, 1): Simpson's rule from the
 * point where both are equal. */
static double integral(double epsilon, double mu)
{
	double from = epsilon / mu + mu / 2, sum = 0, h = (mu + 14) / 200000;
	for (int i = 0; i <= 200000; i++) {
		double x = from + i * h, weight = i == 0 || i == 200000 ? 1 : i % 2 == 1 ? 4 : 2;
		sum += weight * exp(-(x - mu) * (x - mu) / 2) * -expm1(epsilon + mu * mu / 2 - mu * x);
	}
	return sum * h / 3 / sqrt(2 * M_PI);
}

TEST(delta_is_the_integral)
{
	const double mus[] = {1e-9, 9e-6, 1.1e-5, 1e-3, 0.05, 0.5, 1, 3, 6};
	for (size_t m = 0; m < sizeof mus / sizeof *mus; m++)
		for (double at = 0; at <= 7; at += 0.5) {
			double epsilon = mus[m] * (mus[m] / 2 + at), exact = integral(epsilon, mus[m]);
			assert_near(exp(sl_dp_ln_delta(epsilon, mus[m])) / exact, 1, 1e-8);
		}
}

TEST(far_tail)
{
	/* computed with 200 digits */
	const struct {
		double epsilon, mu, ln_delta;
	} rows[] = {{50, 1, -1233.86908314240555},    {1000, 1, -499514.85945184116},
		    {3, 0.01, -45015.4317195002627},  {1e4, 1, -49995019.4646193047},
		    {1, 1e-3, -500021.14220749512},   {0.5, 1e-7, -12500000000047.6381},
		    {1e7, 3000, -1680564.46530969658}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_near(sl_dp_ln_delta(rows[i].epsilon, rows[i].mu) / rows[i].ln_delta, 1, 1e-12);
	/* ln delta is -x^2 / 2 - ln of a power of x, and x = epsilon - 1/2 */
	double x = epsilon_of(1, 1, 1e-300) - 0.5;
	assert_true(x > 30 && x < sqrt(-2 * log(1e-300)));
}

TEST(extreme_input)
{
	const double zs[] = {1e-6, 1e-3, 1, 1e3, 1e6, 1e9};
	const double deltas[] = {1e-300, 1e-30, 1e-10, 1e-5, 0.1, 0.999};
	for (size_t i = 0; i < sizeof zs / sizeof *zs; i++)
		for (size_t k = 0; k < sizeof deltas / sizeof *deltas; k++)
			for (double rounds = 1; rounds <= 1e6; rounds *= 1000) {
				double epsilon = epsilon_of(zs[i], rounds, deltas[k]),
				       mu = sqrt(rounds) / zs[i];
				assert_true(isfinite(epsilon) && epsilon >= 0);
				assert_at_most(sl_dp_ln_delta(epsilon, mu), log(deltas[k]));
				/* the next order of magnitude of delta, noise and rounds */
				assert_at_most(epsilon, epsilon_of(zs[i], rounds, deltas[k] / 10));
				assert_at_most(epsilon, epsilon_of(zs[i] / 1.001, rounds, deltas[k]));
			}
	assert_true(isinf(sl_dp_epsilon(0, 1)) && isinf(sl_dp_epsilon(1e-5, INFINITY)));
	assert_true(sl_dp_epsilon(1e-5, 0) == 0 && sl_dp_epsilon(1, 1) == 0);
}

/* ---- Renyi divergence ---- */

/* Fill p[i] with the probability of i - most under discrete Gaussian noise, as a logarithm. */
#define MOST 400
struct noise {
	double ln[2 * MOST + 1];
};

static void discrete(double sigma2, struct noise *noise)
{
	double sum = 0;
	for (int y = -MOST; y <= MOST; y++)
		sum += exp(-(double)y * y / (2 * sigma2));
	for (int y = -MOST; y <= MOST; y++)
		noise->ln[y + MOST] = -(double)y * y / (2 * sigma2) - log(sum);
}

/* Fold: the logarithm of a sum of exponentials, from the largest. */
static void convolve(const struct noise *a, const struct noise *b, struct noise *sum)
{
	for (int y = -MOST; y <= MOST; y++) {
		double most = -INFINITY, total = 0;
		int from = y < 0 ? -MOST : y - MOST, to = y < 0 ? y + MOST : MOST;
		for (int x = from; x <= to; x++)
			most = fmax(most, a->ln[x + MOST] + b->ln[y - x + MOST]);
		for (int x = from; x <= to; x++)
			total += exp(a->ln[x + MOST] + b->ln[y - x + MOST] - most);
		sum->ln[y + MOST] = most + log(total);
	}
}

/* Return R(order) of (1-q) P + q P(. - shift) to P, or the other way round. */
static double exact_rdp(const struct noise *p, int shift, double order, double q, bool other)
{
	double terms[2 * MOST + 1], most = -INFINITY, sum = 0;
	for (int y = shift - MOST; y <= MOST; y++) {
		double plain = p->ln[y + MOST], moved = p->ln[y - shift + MOST];
		double mixed = q == 1	       ? moved
			       : moved > plain ? moved + log(q + (1 - q) * exp(plain - moved))
					       : plain + log1p(q * expm1(moved - plain));
		terms[y + MOST] =
			other ? order * plain + (1 - order) * mixed : order * mixed + (1 - order) * plain;
		most = fmax(most, terms[y + MOST]);
	}
	for (int y = shift - MOST; y <= MOST; y++)
		sum += exp(terms[y + MOST] - most);
	return (most + log(sum)) / (order - 1);
}

TEST(known_tau)
{
	assert_near(sl_dp_tau(2, 1), 5.2e-4, 5e-6);
	assert_near(sl_dp_tau(2, 2), 7.2e-17, 5e-19);
	assert_at_most(sl_dp_tau(2, 4), 1e-67);
	assert_true(sl_dp_tau(1, 1) == 0 && isinf(sl_dp_tau(2, 0.49)));
	/* a longer sum, term by term */
	double e = 2 * M_PI * M_PI * 0.36;
	assert_near(sl_dp_tau(4, 0.6), 10 * (exp(-e / 2) + exp(-e * 2 / 3) + exp(-e * 3 / 4)), 1e-12);
}

TEST(sum_is_near_one_discrete_gaussian)
{
	static struct noise one, two, three, whole;
	const double variances[] = {0.25, 0.5, 1};
	for (size_t i = 0; i < sizeof variances / sizeof *variances; i++) {
		discrete(variances[i], &one);
		convolve(&one, &one, &two);
		convolve(&one, &two, &three);
		discrete(3 * variances[i], &whole);
		double tau = sl_dp_tau(3, sqrt(variances[i]));
		for (int y = -20; y <= 20; y++)
			assert_at_most(fabs(three.ln[y + MOST] - whole.ln[y + MOST]), tau / 2 + 1e-12);
	}
}

TEST(known_sampling)
{
	const struct {
		double q, z;
		uint64_t rounds;
		double epsilon;
	} rows[] = {{0.01, 1, 1000, 2.1078},
		    {0.02, 1.5, 1000, 2.1591},
		    {0.05, 2, 500, 2.7749},
		    {0.1, 3, 300, 2.7240},
		    {256.0 / 60000, 1.1, 14062, 2.5970}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct sl_dp_spent spent = {0}, one_by_one = {0};
		struct sl_dp_round round = smooth(rows[i].z, rows[i].q);
		sl_dp_charge(&spent, &round, rows[i].rounds);
		assert_near(sl_dp_spent_epsilon(&spent, 1e-5, true), rows[i].epsilon, 5e-5);
		for (int k = 0; k < 3; k++)
			sl_dp_charge(&one_by_one, &round, 1);
		memset(&spent, 0, sizeof spent);
		sl_dp_charge(&spent, &round, 3);
		assert_near(sl_dp_spent_epsilon(&one_by_one, 1e-5, true),
			    sl_dp_spent_epsilon(&spent, 1e-5, true), 1e-12);
	}
}

TEST(sampling_holds_for_integers)
{
	static struct noise noise;
	const double variances[] = {1, 16};
	for (size_t i = 0; i < sizeof variances / sizeof *variances; i++) {
		discrete(variances[i], &noise);
		for (uint32_t order = 2; order <= 24; order += 11)
			for (int shift = 1; shift <= 4; shift += 3)
				for (double q = 0.001; q <= 1; q *= 10) {
					double z = sqrt(variances[i]) / shift,
					       r = sl_dp_sampled_rdp(order, q, z);
					assert_near(exact_rdp(&noise, shift, order, q, false) / r, 1, 1e-6);
					assert_at_most(exact_rdp(&noise, shift, order, q, true),
						       r * (1 + 1e-6));
				}
	}
}

TEST(sampling_at_its_limits)
{
	for (uint32_t order = SL_DP_ORDER_LEAST; order <= SL_DP_ORDER_MOST; order += 127) {
		assert_near(sl_dp_sampled_rdp(order, 1, 3) / (order / 18.0), 1, 1e-12);
		assert_near(sl_dp_sampled_rdp(order, 1 - 1e-12, 3) / (order / 18.0), 1, 1e-9);
		/* little noise or much, and rare records: finite, below that of all records, and not 0 */
		for (double z = 1e-6; z <= 1e9; z *= 1e3)
			for (double q = 1e-12; q < 1; q *= 1e3) {
				double r = sl_dp_sampled_rdp(order, q, z);
				assert_true(isfinite(r) && r > 0);
				assert_at_most(r, order / (2 * z * z) * (1 + 1e-12));
			}
		/* much noise: q^2 order / (2 z^2) */
		assert_near(sl_dp_sampled_rdp(order, 1e-3, 1e6) / (1e-6 * order / 2e12), 1, 1e-6);
	}
	assert_true(isinf(sl_dp_sampled_rdp(2, 0.1, 1e-200)));
	assert_at_most(0, sl_dp_sampled_rdp(2, 0.1, 1e200));
}

/* ---- what rounds have spent ---- */

TEST(different_rounds_compose)
{
	struct sl_dp_spent spent = {0};
	assert_true(sl_dp_spent_epsilon(&spent, 1e-5, false) == 0 &&
		    sl_dp_spent_epsilon(&spent, 1e-5, true) == 0);
	double before = 0;
	for (int t = 1; t <= 4; t++) {
		struct sl_dp_round round = smooth(t, 1);
		sl_dp_charge(&spent, &round, 1);
		double epsilon = sl_dp_spent_epsilon(&spent, 1e-5, false);
		assert_true(epsilon > before);
		before = epsilon;
	}
	double mu = sqrt(1 + 1 / 4.0 + 1 / 9.0 + 1 / 16.0), exact = sl_dp_epsilon(1e-5, mu);
	assert_true(before > exact);
	assert_near(before / exact, 1, 1e-8);
	/* without sampling, the curve of orders says less */
	assert_at_most(sl_dp_spent_epsilon(&spent, 1e-5, true), before);
}

/* delta of discrete Gaussian noise at epsilon, exactly. */
static double exact_delta(double epsilon, int shift, double sigma2)
{
	static struct noise noise;
	double sum = 0;
	discrete(sigma2, &noise);
	for (int y = shift - MOST; y <= MOST; y++)
		sum += fmax(0, exp(noise.ln[y - shift + MOST]) - exp(epsilon + noise.ln[y + MOST]));
	return sum;
}

TEST(integers_cost_more)
{
	bool exceeded = false;
	for (int shift = 1; shift <= 7; shift += 2)
		for (double sigma = 4; sigma <= 16; sigma *= 2) {
			struct sl_dp_spent spent = {0};
			struct sl_dp_round round = {.dimension = 1,
						    .sensitivity = shift,
						    .sigma = sigma,
						    .shares = 1,
						    .sampled = 1};
			sl_dp_charge(&spent, &round, 1);
			for (double delta = 0.1; delta > 1e-9; delta /= 1.7) {
				double epsilon = sl_dp_spent_epsilon(&spent, delta, false);
				double naive = sl_dp_epsilon(delta, shift / sigma);
				assert_at_most(exact_delta(epsilon, shift, sigma * sigma), delta);
				exceeded =
					exceeded || exact_delta(naive, shift, sigma * sigma) > 1.02 * delta;
				assert_at_most(epsilon, 1.3 * naive + 0.1);
			}
		}
	assert_true(exceeded); /* mu = shift / sigma would promise too much */
}

TEST(charge_covers_rounds_of_shares)
{
	/* three shares of 4 in each round; the same difference in each: their sum is all that tells */
	for (int rounds = 1; rounds <= 4; rounds++)
		for (int shift = 1; shift <= 21; shift += 5)
			for (double delta = 0.01; delta > 1e-9; delta /= 10) {
				struct sl_dp_spent spent = {0};
				struct sl_dp_round round = {.dimension = 1,
							    .sensitivity = shift,
							    .sigma = 4,
							    .shares = 3,
							    .sampled = 1};
				sl_dp_charge(&spent, &round, (uint64_t)rounds);
				double epsilon = sl_dp_spent_epsilon(&spent, delta, false);
				assert_at_most(exact_delta(epsilon, rounds * shift, rounds * 48), delta);
				assert_at_most(delta,
					       exact_delta(0.8 * epsilon, rounds * shift, rounds * 48));
			}
}

TEST(shares_add_up)
{
	/* nine shares of 4 are as one of 12, at one part of 10^12 */
	struct sl_dp_spent nine = {0}, one = {0};
	struct sl_dp_round round = {
		.dimension = 100, .sensitivity = 30, .sigma = 4, .shares = 9, .sampled = 1};
	sl_dp_charge(&nine, &round, 50);
	round.sigma = 12, round.shares = 1;
	sl_dp_charge(&one, &round, 50);
	assert_near(sl_dp_spent_epsilon(&nine, 1e-5, false) / sl_dp_spent_epsilon(&one, 1e-5, false), 1,
		    1e-12);
	/* shares with little noise are not: tau counts in each coordinate and round */
	round = (struct sl_dp_round){
		.dimension = 100, .sensitivity = 30, .sigma = 1, .shares = 9, .sampled = 1};
	memset(&nine, 0, sizeof nine);
	sl_dp_charge(&nine, &round, 50);
	assert_near(nine.ratio, 50 * 100 * sl_dp_tau(9, 1) / 2, 1e-9);
	/* and what the sampler's probabilities are off */
	round.ratio = 1e-3;
	memset(&nine, 0, sizeof nine);
	sl_dp_charge(&nine, &round, 50);
	assert_near(nine.ratio, 50 * 100 * sl_dp_tau(9, 1) / 2 + 0.05, 1e-9);
	nine.ratio = 0;
	double without = sl_dp_spent_epsilon(&nine, 1e-5, false);
	nine.ratio = 0.25;
	assert_near(sl_dp_spent_epsilon(&nine, 1e-5, false) * (1 - 1e-9),
		    0.5 + sl_dp_epsilon(1e-5 * exp(-0.25), sqrt(nine.mu2)), 1e-8);
	assert_true(sl_dp_spent_epsilon(&nine, 1e-5, false) > without + 0.5);
}

TEST(added_deltas)
{
	struct sl_dp_spent spent = {0};
	struct sl_dp_round round = smooth(10, 1);
	round.beta = 1e-8;
	round.distance = 1e-12;
	sl_dp_charge(&spent, &round, 100);
	assert_near(spent.beta, 1e-6, 1e-18);
	assert_near(spent.distance, 1e-10, 1e-22);
	double epsilon = sl_dp_spent_epsilon(&spent, 1e-5, false);
	/* delta of the exact noise, of beta and of the sampler, in that order: together at most 1e-5 */
	double all = exp(sl_dp_ln_delta(epsilon, 1)) + 1e-6 + (1 + exp(epsilon)) * 1e-10;
	assert_at_most(all, 1e-5);
	assert_at_most(0.998e-5, all + (M_E - 1) * exp(epsilon) * 1e-10);
	/* used up: by what may fail, or by a sampler that is too coarse */
	assert_true(isinf(sl_dp_spent_epsilon(&spent, 1e-6, false)));
	spent.beta = 0;
	spent.distance = 1e-7;
	assert_true(isinf(sl_dp_spent_epsilon(&spent, 1e-5, false)));
	assert_true(isinf(sl_dp_spent_epsilon(&spent, 1e-5, true)));
}

TEST(too_little_noise)
{
	/* noise below that of a rounding: no bound without sampling, and never a finite one from the curve */
	struct sl_dp_spent spent = {0};
	struct sl_dp_round round = {
		.dimension = 10, .sensitivity = 1, .sigma = 1, .shares = 1, .sampled = 0.01};
	sl_dp_charge(&spent, &round, 1);
	assert_true(isinf(sl_dp_spent_epsilon(&spent, 1e-5, false)));
	assert_true(isfinite(sl_dp_spent_epsilon(&spent, 1e-5, true)));
}

TEST(sums_are_rounded_upwards)
{
	/* a million rounds, and one that is lost in the last digit of a double */
	struct sl_dp_spent spent = {0};
	struct sl_dp_round much = smooth(1e-3, 1), little = smooth(1e9, 1);
	sl_dp_charge(&spent, &much, 1000000);
	struct sl_dp_spent before = spent;
	sl_dp_charge(&spent, &little, 1);
	assert_true(spent.mu2 > before.mu2 && spent.rdp[0] > before.rdp[0]);
	assert_true(isfinite(sl_dp_spent_epsilon(&spent, 1e-300, false)));
	assert_true(sl_dp_spent_epsilon(&spent, 1e-300, false) > sl_dp_epsilon(1e-300, 1e6));
}
