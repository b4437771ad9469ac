/* Jobs with noise (ROUND.md §4.9 Noise): each attempt has a noise of its own, of the right size, also at
 * weight 0, and none in the weight. */
#include <math.h>
#include <string.h>

#include <sodium.h>

#include "common/compute/job_model.h"
#include "test/compute/attempt.h"
#include "test/lib/test.h"

#define N (ELEMENTS - 1)
#define Z 0.05

static void encode(struct attempt *a, int64_t *x)
{
	static uint64_t elements[ELEMENTS];
	attempt_run_well(a, SL_JOB_ENCODE, 0);
	for (size_t m = 0; m < 2; m++)
		sl_job_model_encode(&a->workspace, &a->view, m * SL_CHUNK_ELEMENTS,
				    sl_view_chunk_elements(&a->view, (uint32_t)m),
				    elements + m * SL_CHUNK_ELEMENTS);
	for (size_t l = 0; l < ELEMENTS; l++)
		x[l] = sl_field_centred(&a->view.field, elements[l]);
}

static void zero_model(struct attempt *a)
{
	memset(a->workspace.trained, 0, N * sizeof(float));
}

static double variance(const int64_t *x)
{
	double sum = 0;
	for (size_t l = 0; l < N; l++)
		sum += (double)x[l] * (double)x[l] / N;
	return sum;
}

static int64_t x[ELEMENTS], y[ELEMENTS];

static void check_variance(const struct attempt *a, const int64_t *noise)
{
	double sigma = a->view.scale.sigma, ratio = variance(noise) / (sigma * sigma);
	assert_true(fabs(ratio - 1) < 6 * sqrt(2.0 / N));
}

TEST_WITH(noise_has_its_size, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	for (int unit = SL_DP_RECORD; unit <= SL_DP_LEARNER; unit++) {
		attempt_set_noise(a, Z, (enum sl_dp_unit)unit);
		zero_model(a);
		encode(a, x);
		check_variance(a, x);
		assert_int_equal(x[N], 1);
		/* the shares of N - c = 2 learners are enough */
		assert_true(2 * pow(a->view.scale.sigma, 2) >=
			    pow(Z * a->view.scale.sensitivity, 2) * (1 - 1e-9));
	}
}

TEST_WITH(each_attempt_has_a_noise_of_its_own, attempt_setup_seeded, attempt_teardown)
{
	struct attempt *a = *state;
	attempt_set_noise(a, Z, SL_DP_LEARNER);
	zero_model(a);
	encode(a, x);
	a->view.a++;
	encode(a, y);
	double both = 0;
	for (size_t l = 0; l < N; l++)
		both += (double)x[l] * (double)y[l] / N;
	assert_true(fabs(both) < 6 * pow(a->view.scale.sigma, 2) / sqrt(N));
}

TEST_WITH(noise_is_the_same_within_an_attempt, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	uint64_t some[100];
	attempt_set_noise(a, Z, SL_DP_RECORD);
	encode(a, x);
	for (size_t first = 0; first < 1000; first += 77) {
		sl_job_model_encode(&a->workspace, &a->view, first, 100, some);
		for (size_t l = 0; l < 100; l++)
			assert_int_equal(sl_field_centred(&a->view.field, some[l]), x[first + l]);
	}
}

TEST_WITH(weight_0_adds_noise, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	attempt_set_noise(a, Z, SL_DP_RECORD);
	a->workspace.weight = 0;
	encode(a, x);
	check_variance(a, x);
	assert_int_equal(x[N], 0);
}

TEST_WITH(noise_is_added_to_the_vector, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	float *trained = a->workspace.trained;
	attempt_set_noise(a, Z, SL_DP_RECORD);
	for (size_t l = 0; l < N; l++)
		trained[l] = 100;
	encode(a, x);
	int64_t steps = (int64_t)ldexp(100, -a->view.encoding.noisy.step);
	for (size_t l = 0; l < N; l++)
		x[l] -= steps;
	check_variance(a, x);
}

/* Subtract the stream of the key of the noise. */
static void without_noise(const struct attempt *a, int64_t *from)
{
	sl_gaussian_draw(&a->workspace.noise.plan, a->workspace.noise.key, 0, y, N);
	for (size_t l = 0; l < N; l++)
		from[l] -= y[l];
}

TEST_WITH(records_are_dithered, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	float *trained = a->workspace.trained;
	for (int unit = SL_DP_RECORD; unit <= SL_DP_LEARNER; unit++) {
		attempt_set_noise(a, Z, (enum sl_dp_unit)unit);
		for (size_t l = 0; l < N; l++)
			trained[l] = ldexpf(0.25f, a->view.encoding.noisy.step);
		encode(a, x);
		without_noise(a, x);
		size_t ones = 0;
		for (size_t l = 0; l < N; l++) {
			assert_true(x[l] == 0 || x[l] == 1);
			ones += x[l] == 1;
		}
		assert_true(unit == SL_DP_RECORD ? ones > N / 5 && ones < N / 3 : ones == 0);
	}
}

TEST_WITH(learner_is_scaled_to_the_norm, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	attempt_set_noise(a, Z, SL_DP_LEARNER);
	struct sl_job_result result = attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE});
	assert_true(result.code == SL_OK && result.scaled && a->workspace.noise.factor < 1);
	encode(a, x);
	without_noise(a, x);
	double norm = sqrt(variance(x) * N);
	assert_true(norm <= a->view.scale.norm && norm > 0.9 * a->view.scale.norm);
	zero_model(a);
	result = attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE});
	assert_true(result.code == SL_OK && !result.scaled);
}

TEST_WITH(keys_do_not_outlive_the_shares, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	attempt_set_noise(a, Z, SL_DP_RECORD);
	attempt_run_well(a, SL_JOB_ENCODE, 0);
	const struct sl_noise *noise = &a->workspace.noise;
	assert_false(sodium_is_zero((const uint8_t *)noise, sizeof *noise));
	assert_false(memcmp(noise->key, noise->dither, SL_KEY_BYTES) == 0);
	attempt_run_well(a, SL_JOB_COMMITMENT, 0);
	assert_true(sodium_is_zero((const uint8_t *)noise, sizeof *noise));
	attempt_run_well(a, SL_JOB_ENCODE, 0);
	sl_job_wipe(&a->workspace);
	assert_true(sodium_is_zero((const uint8_t *)noise, sizeof *noise));
}

TEST_WITH(charge_is_what_was_added, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	attempt_set_noise(a, Z, SL_DP_RECORD);
	struct sl_dp_round round = sl_view_charge(&a->view, 0.25);
	assert_true(round.sigma == a->view.scale.sigma && round.sensitivity == a->view.scale.sensitivity);
	assert_true(round.shares == 2 && round.sampled == 0.25 && round.dimension == N);
	assert_true(round.beta == a->view.scale.beta && round.distance > 0);
}

/* Each block has noise of its own, as its elements have. */
TEST_WITH(blocks_differ, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	attempt_set_noise(a, Z, SL_DP_LEARNER);
	zero_model(a);
	encode(a, x);
	size_t same = 0;
	for (size_t l = 0; l < SL_BLOCK_ELEMENTS; l++)
		same += x[l] == x[l + SL_BLOCK_ELEMENTS];
	assert_true(same < SL_BLOCK_ELEMENTS / 2);
}
