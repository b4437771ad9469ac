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

static struct sl_dp_terms terms_of(enum sl_dp_unit unit, double dimension, double noise, uint32_t learners)
{
	return (struct sl_dp_terms){unit, dimension, 1, noise, 0, learners, 1};
}

static struct sl_dp_scale chosen(const struct sl_dp_terms *terms)
{
	struct sl_dp_scale scale;
	assert_int_equal(sl_dp_scale_choose(terms, &scale), SL_OK);
	return scale;
}

TEST(share_of_noise)
{
	struct sl_dp_terms terms = terms_of(SL_DP_RECORD, 1e6, 5, 10);
	struct sl_dp_scale s = chosen(&terms);
	/* the largest power of two up to 1/4000 */
	assert_true(s.step == -12 && s.norm == 4096 && s.beta == SL_DP_BETA);
	assert_near(s.sensitivity / s.norm, ratio(4.096, 1e6, SL_DP_BETA), 1e-12);
	/* the shares of nine give z times the sensitivity */
	assert_near(sqrt(9) * s.sigma / s.sensitivity, 5, 1e-12);
	assert_near(s.sigma_total / s.sigma, sqrt(10), 1e-12);
	terms.unit = SL_DP_LEARNER;
	s = chosen(&terms);
	assert_true(s.sensitivity == s.norm && s.beta == 0);
}

TEST(step_follows_the_clip)
{
	struct sl_dp_terms terms = terms_of(SL_DP_LEARNER, 100, 5, 10);
	int step = chosen(&terms).step;
	terms.clip = 0x1p-40;
	assert_int_equal(chosen(&terms).step, step - 40);
	terms.clip = nextafter(0x1p-40 * 1.25, 0); /* 2^step = clip / 40 needs clip >= 1.25 2^k */
	assert_int_equal(chosen(&terms).step, step - 40);
	terms.clip = 0x1p-40 * 1.25;
	assert_int_equal(chosen(&terms).step, step - 39);
	assert_true(chosen(&terms).norm == 40);
}

TEST(finer_steps_where_shares_are_small)
{
	for (uint32_t learners = 2; learners <= 2000; learners *= 10) {
		const struct sl_dp_terms terms = terms_of(SL_DP_LEARNER, 1, 0.5, learners);
		struct sl_dp_scale s = chosen(&terms);
		assert_true(s.sigma >= SL_DP_SIGMA_LEAST);
		assert_true(s.norm == SL_DP_GRANULARITY || s.sigma / 2 < SL_DP_SIGMA_LEAST);
	}
	struct sl_dp_terms terms = terms_of(SL_DP_LEARNER, 1, 1e-300, 10);
	struct sl_dp_scale scale;
	assert_int_equal(sl_dp_scale_choose(&terms, &scale), SL_ERR_RANGE);
	terms.noise = 1e7; /* more than the sampler draws */
	assert_int_equal(sl_dp_scale_choose(&terms, &scale), SL_ERR_RANGE);
}

/* A record of a vector of any length is longer by 2 % at most after dither. */
TEST(dither_adds_little)
{
	for (double dimension = 1; dimension <= 0x1p28; dimension *= 2) {
		const struct sl_dp_terms terms = terms_of(SL_DP_RECORD, dimension, 5, 10);
		struct sl_dp_scale s = chosen(&terms);
		assert_true(s.sensitivity <= 1.02 * s.norm);
		assert_true((double)s.most >= SL_DP_CLIPS_LEAST * s.norm);
	}
}

TEST(room)
{
	struct sl_dp_terms terms = terms_of(SL_DP_LEARNER, 1e6, 5, 10);
	struct sl_dp_scale s = chosen(&terms);
	assert_true(s.most == 4096);
	assert_true(10 * (double)s.room >= 12 * s.sigma_total && 10 * (double)s.room < 12.1 * s.sigma_total);
	terms.unit = SL_DP_RECORD;
	s = chosen(&terms);
	assert_true(s.most == 1u << 22); /* 1024 clips */
	assert_true(10 * (double)s.room >= 12 * s.sigma_total);
	terms.dimension = 32;
	assert_true(chosen(&terms).most == UINT64_C(1) << 31);
	terms.dimension = 12345; /* 10872.2 clips of 512 steps */
	assert_true(chosen(&terms).most == 5566583);
	terms.dimension = 1e6;
	terms.range = 100; /* clips */
	assert_true(chosen(&terms).most == 409600);
	terms.range = 1e-9; /* less than a step */
	assert_int_equal(sl_dp_scale_choose(&terms, &s), SL_ERR_RANGE);
	terms = terms_of(SL_DP_RECORD, 1e9, 5, 10); /* a record is 2^17 steps long */
	s = chosen(&terms);
	assert_true((double)s.most == 1024 * s.norm);
}

TEST(least_noise)
{
	const struct sl_dp_target target = {4, 1e-5, 1, 100}, sampled = {2.6, 1e-5, 256 / 6e4, 14062};
	struct sl_dp_terms terms = terms_of(SL_DP_RECORD, 1e4, 0, 10);
	terms.noise = sl_dp_scale_noise(&terms, &target);
	assert_true(terms.noise >= 10.811 && terms.noise <= 10.82); /* continuous noise: 10.811618 */
	assert_true(sl_dp_scale_epsilon(&terms, &target) <= 4);
	terms.noise -= 0.01;
	assert_true(sl_dp_scale_epsilon(&terms, &target) > 4);
	assert_near(sl_dp_scale_noise(&terms, &sampled), 1.1, 0.002);
	const struct sl_dp_target none = {0, 1e-5, 1, 100};
	assert_true(isinf(sl_dp_scale_noise(&terms, &none)));
}

TEST(least_noise_near_the_most)
{
	struct sl_dp_terms terms = terms_of(SL_DP_RECORD, 50992, 8000, 10); /* 10066 has no step any more */
	const struct sl_dp_target target = {6e-4, 1e-9, 1, 1},
				  most = {sl_dp_scale_epsilon(&terms, &target), 1e-9, 1, 1};
	assert_true(most.epsilon < 6e-4);
	terms.noise = sl_dp_scale_noise(&terms, &most);
	assert_near(terms.noise, 8000, 8);
	assert_true(sl_dp_scale_epsilon(&terms, &most) <= most.epsilon);
	const struct sl_dp_target none = {3.8e-4, 1e-9, 1, 1};
	assert_true(isinf(sl_dp_scale_noise(&terms, &none)));
}
