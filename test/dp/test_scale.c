/* How vectors become integers with noise: sensitivity with dither, the noise of a share, bits. */
#include "test/lib/test.h"

#include <math.h>

#include "common/dp/scale.h"

static void assert_near(double value, double expected, double most)
{
	if (!(fabs(value - expected) <= most))
		fail_msg("%.12g, not %.12g", value, expected);
}

static double ratio(double g, double dimension, double beta)
{
	bool never;
	double norm = g * sqrt(dimension), dithered = sl_dp_dithered_norm(norm, dimension, beta, &never);
	assert_false(never);
	return dithered / norm;
}

TEST(known_dither)
{
	assert_near(ratio(1, 1e4, 1e-10), 1.1627, 5e-5);
	assert_near(ratio(2, 1e4, 1e-10), 1.0511, 5e-5);
	assert_near(ratio(4, 1e4, 1e-10), 1.0172, 5e-5);
	assert_near(ratio(4, 1e6, 1e-10), 1.009, 5e-4);
}

/* Return the next of uniform numbers in [0,1): a fixed sequence. */
static double uniform(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(*state >> 11) * 0x1p-53;
}

TEST(dither_keeps_its_bound)
{
	/* the worst difference: each coordinate half a step; two of 2000 pairs may exceed beta = 1e-3 by far
	 */
	enum { D = 50, TRIALS = 2000 };
	uint64_t state = 1;
	int above = 0, never_above = 0;
	bool never;
	double norm = 0.5 * sqrt(D), likely = sl_dp_dithered_norm(norm, D, 0.5, &never);
	assert_false(never);
	for (int t = 0; t < TRIALS; t++) {
		double square = 0;
		for (int k = 0; k < D; k++) {
			double u = uniform(&state), x = 10 * uniform(&state), y = x - 0.5;
			double difference = floor(x + u) - floor(y + u);
			square += difference * difference;
		}
		above += square > likely * likely;
		never_above += square > (norm + sqrt(D)) * (norm + sqrt(D));
	}
	assert_true(above <= TRIALS / 2 && never_above == 0);
}

TEST(short_vectors_cannot_exceed)
{
	bool never;
	assert_near(sl_dp_dithered_norm(4, 1, 1e-16, &never), 5, 1e-12);
	assert_true(never);
}

static struct sl_dp_scale chosen(enum sl_dp_unit unit, double dimension, double noise, uint32_t learners,
				 uint32_t colluding)
{
	struct sl_dp_scale scale;
	const struct sl_dp_terms terms = {unit, dimension, noise, learners, colluding, SL_DP_GRANULARITY};
	assert_int_equal(sl_dp_scale_choose(&terms, &scale), SL_OK);
	return scale;
}

TEST(share_of_noise)
{
	struct sl_dp_scale s = chosen(SL_DP_RECORD, 1e6, 5, 10, 1);
	assert_true(s.granularity == 4 && s.norm == 4000 && s.beta == SL_DP_BETA);
	assert_near(s.sensitivity / s.norm, ratio(4, 1e6, SL_DP_BETA), 1e-12);
	/* the shares of nine give z times the sensitivity */
	assert_near(sqrt(9) * s.sigma / s.sensitivity, 5, 1e-12);
	assert_near(s.sigma_total / s.sigma, sqrt(10), 1e-12);
	s = chosen(SL_DP_LEARNER, 1e6, 5, 10, 1);
	assert_true(s.sensitivity == s.norm && s.beta == 0);
}

TEST(finer_steps_where_shares_are_small)
{
	for (uint32_t learners = 2; learners <= 2000; learners *= 10) {
		struct sl_dp_scale s = chosen(SL_DP_LEARNER, 1, 0.5, learners, 1);
		assert_true(s.sigma >= SL_DP_SIGMA_LEAST);
		/* g is a power of two, and half of it was too little */
		assert_true(s.granularity == SL_DP_GRANULARITY || s.sigma / 2 < SL_DP_SIGMA_LEAST);
		assert_true(s.granularity == exp2(round(log2(s.granularity))));
	}
	const struct sl_dp_terms terms = {SL_DP_LEARNER, 1, 1e-300, 10, 1, SL_DP_GRANULARITY};
	struct sl_dp_scale scale;
	assert_int_equal(sl_dp_scale_choose(&terms, &scale), SL_ERR_RANGE);
}

TEST(bits)
{
	/* ten learners of norm 4000, and noise of z = 5: 12 sigmas on both sides */
	struct sl_dp_scale s = chosen(SL_DP_LEARNER, 1e6, 5, 10, 1);
	assert_int_equal(sl_dp_modulus_bits(10 * s.norm, s.sigma_total), 20);
	/* -1, 0, 1 take two bits, five numbers three */
	assert_int_equal(sl_dp_modulus_bits(1, 0), 2);
	assert_int_equal(sl_dp_modulus_bits(2, 0), 3);
	assert_int_equal(sl_dp_modulus_bits(0, 1.0 / 12), 2);
	assert_int_equal(sl_dp_modulus_bits(0x1p40, 0), 42);
}
