/* Jobs that mix: the exchanges of exact and metropolis, chunks of a forest (ROUND.md §8 Engines). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/compute/job_mix.h"
#include "common/mixing/spectrum.h"
#include "test/compute/attempt.h"
#include "test/lib/test.h"

/* Mix chunk m from the slots of both neighbours. */
static struct sl_job_result mix_first(struct attempt *a, uint32_t m)
{
	return attempt_run(a, (struct sl_job){.kind = SL_JOB_MIX, .chunk = m});
}

/* On a complete graph exact is done after one exchange. */
TEST_WITH(first_exchange_of_exact, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	a->view.engine = SL_ENGINE_EXACT;
	a->view.steps = 1;
	attempt_fetch_all(a);
	attempt_set_state(a, a->state[0]);
	for (uint32_t m = 0; m < 2; m++)
		assert_int_equal(mix_first(a, m).code, SL_OK);
	for (uint32_t l = 0; l < ELEMENTS; l++)
		assert_int_equal(attempt_state(a, l), l + 1 < ELEMENTS ? 0 : LEARNERS);
}

/* x(1) = W x(0), and the sum over k has its first two terms. */
TEST_WITH(first_exchange_of_longer_exact, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	const struct sl_field *field = &a->view.field;
	uint64_t third = sl_field_inverse(field, 3);
	a->view.engine = SL_ENGINE_EXACT;
	a->view.steps = 2;
	a->workspace.analysis.r[0] = 5;
	a->workspace.analysis.r[1] = 7;
	attempt_fetch_all(a);
	attempt_set_state(a, a->state[0]);
	for (uint32_t m = 0; m < 2; m++)
		assert_int_equal(mix_first(a, m).code, SL_OK);
	for (uint32_t l = 0; l < ELEMENTS; l++) {
		uint64_t next = sl_field_mul(field, third, l + 1 < ELEMENTS ? 0 : LEARNERS);
		assert_int_equal(attempt_state(a, l), next);
		assert_int_equal(a->workspace.second[l],
				 sl_field_add(field, sl_field_mul(field, 5, a->state[0][l]),
					      sl_field_mul(field, 7, next)));
	}
}

/* X(1) = X(0) + sum of trunc((X_j - X_0) / 3). */
TEST_WITH(first_exchange_of_metropolis, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	attempt_fetch_all(a);
	attempt_set_state(a, a->state[0]);
	for (uint32_t m = 0; m < 2; m++)
		assert_int_equal(mix_first(a, m).code, SL_OK);
	for (uint32_t l = 0; l < ELEMENTS; l++) {
		int64_t x[LEARNERS], next;
		for (uint32_t i = 0; i < LEARNERS; i++)
			x[i] = (int64_t)(a->state[i][l] << a->view.fraction);
		next = x[0] + (x[1] - x[0]) / 3 + (x[2] - x[0]) / 3;
		assert_int_equal((int64_t)a->workspace.second[l], next);
	}
}

/* The spread is that of states alone, of the first elements, to two digits; exact has none. */
TEST_WITH(spread, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	attempt_fetch_all(a);
	double most = 0;
	for (uint32_t l = 0; l < 256; l++)
		for (uint32_t i = 1; i < LEARNERS; i++)
			most = fmax(most, fabs((double)a->state[i][l] - (double)a->state[0][l]));
	attempt_set_state(a, a->state[0]);
	a->view.steps = 3;
	struct sl_job_result result = mix_first(a, 0);
	assert_true(fabs(result.real / (LEARNERS * most) - 1) < 0.05);
	assert_true(result.real == sl_spectrum_two_digits(result.real));
	assert_true(isnan(mix_first(a, 1).real)); /* of the first chunk only */
	a->view.engine = SL_ENGINE_EXACT;
	assert_true(isnan(mix_first(a, 0).real));
}

/* Of K exchanges at most SL_SPREADS_MAX have a spread, the first and the last among them. */
TEST_WITH(spreads_are_few, attempt_setup, attempt_teardown)
{
	static const uint64_t steps[] = {1, 2, 99, 100, 101, 199, 200, 5000};
	struct attempt *a = *state;
	uint8_t *bytes = calloc(SL_CHUNK_ELEMENTS, SL_STATE_BYTES);
	struct sl_buffer second = {.from = 1, .bytes = bytes};
	struct sl_buffer first = {.bytes = bytes, .next = &second};
	for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
		uint32_t count = 0;
		a->view.steps = steps[k];
		for (uint64_t i = 1; i < steps[k]; i++) { /* exchange 0 is from the slots */
			struct sl_job job = {.kind = SL_JOB_MIX, .iteration = i, .buffers = &first};
			bool has = !isnan(attempt_run(a, job).real);
			assert_true(has || i + 1 < steps[k]);
			count += has;
		}
		assert_true(count < SL_SPREADS_MAX && (count + 1 == steps[k] || count >= SL_SPREADS_MAX / 2));
	}
	free(bytes);
}

/* Chunks are as the forest has them: here three. What comes up is added, Z is taken. */
TEST_WITH(chunk_of_a_forest, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	uint32_t chunk = sl_engine_forest_elements(ELEMENTS, 3);
	uint8_t *packed = malloc(sl_slot_state_bytes(&a->view)), *out = malloc(sl_slot_state_bytes(&a->view));
	a->view.engine = SL_ENGINE_FOREST;
	a->view.state_elements = chunk;
	a->view.state_chunks = 3;
	assert_true(chunk < SL_CHUNK_ELEMENTS);
	attempt_set_state(a, a->state[0]);
	sl_bytes_pack(packed, a->state[2] + chunk, chunk, a->view.field.bits);
	struct sl_buffer b = {.from = 1, .index = 1, .iteration = SL_FOREST_UP, .bytes = packed};
	struct sl_job job = {.kind = SL_JOB_MIX, .chunk = 1, .iteration = SL_FOREST_UP, .buffers = &b};
	assert_int_equal(attempt_run(a, job).code, SL_OK);
	for (uint32_t l = 0; l < ELEMENTS; l++) {
		uint64_t sum = sl_field_add(&a->view.field, a->state[0][l], a->state[2][l]);
		bool within = l >= chunk && l < 2 * chunk;
		assert_int_equal(attempt_state(a, l), within ? sum : a->state[0][l]);
	}
	b.iteration = job.iteration = SL_FOREST_DOWN;
	assert_int_equal(attempt_run(a, job).code, SL_OK);
	for (uint32_t l = chunk; l < 2 * chunk; l++)
		assert_int_equal(attempt_state(a, l), a->state[2][l]);
	assert_int_equal(attempt_state(a, 2 * (size_t)chunk), a->state[0][2 * chunk]);
	sl_job_mix_write(&a->workspace, &a->view, &(struct sl_chunk){.index = 1}, out);
	assert_memory_equal(out, packed, sl_packed_bytes(chunk, a->view.field.bits));
	free(out);
	free(packed);
}

/* A neighbour's state is of the field in every exchange. */
TEST_WITH(states_are_of_the_field, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	a->view.engine = SL_ENGINE_EXACT;
	attempt_fetch_all(a);
	memset(sl_slot_chunk(&a->workspace.state_file, &a->view, 2, 1), 0xff, 8);
	for (a->view.steps = 1; a->view.steps <= 2; a->view.steps++) {
		struct sl_job_result result = mix_first(a, 1);
		assert_int_equal(result.code, SL_ERR_INVALID);
		assert_int_equal(result.from, 1);
	}
	uint8_t *one = calloc(SL_CHUNK_ELEMENTS, sizeof(uint64_t)),
		*two = calloc(SL_CHUNK_ELEMENTS, sizeof(uint64_t));
	struct sl_buffer second = {.from = 1, .iteration = 1, .bytes = two};
	struct sl_buffer first = {.from = 0, .iteration = 1, .bytes = one, .next = &second};
	struct sl_job job = {.kind = SL_JOB_MIX, .iteration = 1, .buffers = &first};
	assert_int_equal(attempt_run(a, job).code, SL_OK);
	memset(one, 0xff, 8);
	struct sl_job_result result = attempt_run(a, job);
	assert_int_equal(result.code, SL_ERR_INVALID);
	assert_int_equal(result.from, 0);
	free(one);
	free(two);
}
