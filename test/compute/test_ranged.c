/* Jobs of rounds with ranges: the counts of magnitudes in Z, and the exponents in a result (PROTOCOL.md §4.3
 * Ranges of the tensors, §4.7 Plausibility of a sum). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "common/compute/job_model.h"
#include "common/field/ranges.h"
#include "test/compute/attempt.h"
#include "test/lib/test.h"

#define TENSORS 4u
#define EXTRA (5 + 3 * 3 + 16 * TENSORS)
#define N (ELEMENTS - 1 - EXTRA)
#define FLOATS (N - 8)
#define MODEL_BYTES (8 * 8 + 4 * FLOATS)
#define BYTES (MODEL_BYTES + 2 * TENSORS)
#define WEIGHT 10

struct model {
	double d[5];
	int64_t i[3];
	float w[FLOATS];
	int16_t exponents[TENSORS];
};
static_assert(sizeof(struct model) == BYTES, "a result has no gaps");

static const struct sl_tensor items[TENSORS] = {
	{.name = "d", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {5}},
	{.name = "i", .dtype = SL_INT64, .dimensions = 1, .shape = {3}},
	{.name = "none", .dtype = SL_INT64, .dimensions = 1, .shape = {0}},
	{.name = "w", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {FLOATS}}};
static const uint64_t weights[LEARNERS] = {2, 7, 1};
/* The magnitudes of the learners, by tensor; c + 1 is 2. */
static const uint8_t magnitudes[TENSORS][LEARNERS] = {{13, 10, 0}, {13, 12, 11}, {0, 0, 0}, {8, 7, 15}};
/* log2 of the largest update of a magnitude, over the range; of 15, some. */
static const int sizes[16] = {[7] = -6, [8] = -5, [10] = -3, [11] = -2, [12] = -1, [13] = 0, [15] = 3};
static const int16_t before[TENSORS] = {-10, 50, 0, 2}, after[TENSORS] = {-12, 50, 0, -2};

static uint64_t memory[16];
static uint64_t x[ELEMENTS];

/* Let learner i train: its update of each tensor has the magnitude that it is to have. */
static void train(struct sl_workspace *w, uint32_t i)
{
	struct model *trained = w->trained;
	memcpy(trained, w->committed, MODEL_BYTES);
	const uint8_t d = magnitudes[0][i], whole = magnitudes[1][i], f = magnitudes[3][i];
	trained->d[i] += d == 0 ? 0 : ldexp(1, before[0] + sizes[d]);
	trained->i[i % 2] -= INT64_C(1) << (before[1] + sizes[whole]);
	trained->w[0] += ldexpf(1, before[3] + sizes[f] - 2);
	trained->w[FLOATS - 1 - i] -= ldexpf(1, before[3] + sizes[f]);
	w->weight = weights[i];
}

static void lay_out(struct attempt *a)
{
	struct sl_workspace *w = &a->workspace;
	w->tensors = (struct sl_tensors){items, TENSORS};
	w->n = N;
	free(w->trained);
	free(w->committed);
	w->trained = calloc(1, BYTES);
	w->committed = calloc(1, BYTES);
	sl_ranges_set(&w->ranges, &w->tensors, N, memory);
	assert_int_equal(sl_ranges_extra(&w->ranges), EXTRA);
	assert_true(sl_ranges_memory(&w->tensors) <= sizeof memory);
	a->view.t = 2;
	a->view.previous[0] = 1;
	a->view.max_weight = 100;
	a->view.agreed.tolerance = 1;
	a->view.agreed.values = SL_VALUES_UPDATE;
	a->view.encoding = (struct sl_encoding){.kind = SL_ENCODING_WEIGHTED,
						.values = SL_VALUES_UPDATE,
						.update_bits = 12,
						.clipping_range = 1};
	struct model *committed = w->committed;
	for (size_t l = 0; l < FLOATS; l++)
		committed->w[l] = 0.125f * (float)(l % 50);
	committed->d[0] = 3;
	committed->i[1] = (INT64_C(1) << 60) + 1;
	memcpy(committed->exponents, before, sizeof before);
}

/* Make the masked states of three learners that train. */
static struct attempt *ranged(void **state)
{
	struct attempt *a = *state;
	struct sl_workspace *w = &a->workspace;
	lay_out(a);
	attempt_add(a, ELEMENTS - 1, -(uint64_t)LEARNERS); /* what the fixture put there */
	for (uint32_t i = 0; i < LEARNERS; i++) {
		train(w, i);
		assert_int_equal(attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE}).code, SL_OK);
		sl_job_model_encode(w, &a->view, 0, ELEMENTS, x);
		for (uint32_t k = 0; k < TENSORS; k++)
			assert_int_equal(w->ranges.own[k], magnitudes[k][i]);
		for (size_t l = 0; l < ELEMENTS; l++)
			a->state[i][l] = sl_field_add(&a->view.field, a->state[i][l], x[l]);
	}
	return a;
}

static struct sl_job_result sum(struct attempt *a)
{
	attempt_fetch_all(a);
	return attempt_run(a, (struct sl_job){.kind = SL_JOB_SUM});
}

/* Set *want to the result: the means of updates that are exact in their steps. */
static void expect(const struct attempt *a, struct model *want)
{
	memcpy(want, a->workspace.committed, BYTES);
	double first = 0;
	for (uint32_t i = 0; i < LEARNERS; i++) {
		double weight = (double)weights[i];
		const uint8_t d = magnitudes[0][i], f = magnitudes[3][i];
		want->d[i] += d == 0 ? 0 : weight * ldexp(1, before[0] + sizes[d]) / WEIGHT;
		want->i[i % 2] -= 0;
		double update = fmin(ldexp(1, before[3] + sizes[f]), ldexp(1, before[3]));
		want->w[FLOATS - 1 - i] = (float)((double)want->w[FLOATS - 1 - i] - weight * update / WEIGHT);
		first += weight * fmin(ldexp(1, before[3] + sizes[f] - 2), ldexp(1, before[3]));
	}
	want->w[0] = (float)((double)want->w[0] + first / WEIGHT);
	/* 2^50 by weight 2 and 2^48 by weight 1; 2^49 by weight 7: the steps are of 2^2 */
	want->i[0] -= ((INT64_C(9) << 48) + 5) / 10;
	want->i[1] -= ((INT64_C(7) << 49) + 5) / 10;
	memcpy(want->exponents, after, sizeof after);
}

static void hash_of(const struct attempt *a, const struct sl_job_result *result, const struct model *model,
		    uint8_t hash[static SL_HASH_BYTES])
{
	sl_canonical_result(&a->workspace.scope, a->view.h, WEIGHT, result->strands, model, BYTES, hash);
}

/* D is that of the model and of the exponents after it; ACCEPT writes both. */
TEST_WITH(exponents_are_committed, attempt_setup, attempt_teardown)
{
	struct attempt *a = ranged(state);
	struct model *want = malloc(BYTES), *base = malloc(BYTES);
	uint8_t hash[SL_HASH_BYTES];
	memcpy(base, a->workspace.committed, BYTES);
	expect(a, want);
	for (int twice = 0; twice < 2; twice++) {
		struct sl_job_result result = sum(a);
		assert_int_equal(result.code, SL_OK);
		assert_int_equal(result.total, WEIGHT);
		assert_memory_equal(a->workspace.committed, base, BYTES);
		hash_of(a, &result, want, hash);
		assert_memory_equal(result.hash, hash, sizeof hash);
		for (uint32_t k = 0; k < TENSORS; k++) {
			want->exponents[k]++;
			hash_of(a, &result, want, hash);
			assert_memory_not_equal(result.hash, hash, sizeof hash);
			want->exponents[k]--;
		}
	}
	attempt_run_well(a, SL_JOB_ACCEPT, 0);
	assert_memory_equal(a->workspace.committed, want, BYTES);
	assert_memory_equal(sl_workspace_exponents(&a->workspace), after, sizeof after);
	free(want);
	free(base);
}

/* The next round encodes in the steps of the new result. */
TEST_WITH(exponents_are_those_of_the_next_round, attempt_setup, attempt_teardown)
{
	struct attempt *a = ranged(state);
	struct sl_workspace *w = &a->workspace;
	assert_int_equal(sum(a).code, SL_OK);
	attempt_run_well(a, SL_JOB_ACCEPT, 0);
	struct model *trained = w->trained;
	memcpy(trained, w->committed, MODEL_BYTES);
	w->weight = 1;
	trained->w[1] += 0.25f; /* the range now */
	trained->w[2] += 0x1p-14f;
	trained->d[4] = ldexp(1, -12 - 24);
	struct sl_job_result result = attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE});
	assert_true(result.code == SL_OK && result.note.clamped == 0 && result.note.rounding == 0);
	assert_true(w->ranges.own[0] == 1 && w->ranges.own[1] == 0 && w->ranges.own[3] == 13);
	sl_job_model_encode(w, &a->view, 0, ELEMENTS, x);
	assert_true(x[8 + 1] == 4096 && x[8 + 2] == 1 && x[4] == 0 && x[N + 4] == 1);
	trained->w[2] = nextafterf(trained->w[2] + 0.25f, 9);
	result = attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE});
	assert_true(result.code == SL_OK && result.note.clamped == 1 && w->ranges.own[3] == 14);
}

/* A model that does not count has its magnitude all the same, so that the counts do not tell of it. */
TEST_WITH(magnitude_of_weight_0, attempt_setup, attempt_teardown)
{
	struct attempt *a = ranged(state);
	a->workspace.weight = 0;
	assert_int_equal(attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE}).code, SL_OK);
	sl_job_model_encode(&a->workspace, &a->view, 0, ELEMENTS, x);
	for (size_t l = 0; l + 1 < N + 14; l++)
		assert_int_equal(x[l], 0);
	for (size_t c = 0; c < 16 * TENSORS; c++)
		assert_int_equal(x[N + 14 + c], c % 16 == magnitudes[c / 16][2]);
}

/* --- counts that are not those of N learners --- */

static void change(struct attempt *a, uint32_t tensor, uint32_t magnitude, int64_t by)
{
	attempt_add(a, sl_ranges_counts_at(&a->workspace.ranges, N, tensor) + magnitude, (uint64_t)by);
}

/* Of each tensor, also of one without elements. The digest is that of other exponents if learners say so. */
TEST_WITH(counts, attempt_setup, attempt_teardown)
{
	struct attempt *a = ranged(state);
	struct sl_job_result honest = sum(a), other;
	assert_int_equal(honest.code, SL_OK);
	for (uint32_t k = 0; k < TENSORS; k++) {
		uint8_t last = magnitudes[k][2];
		change(a, k, last, -1); /* a learner has none */
		assert_int_equal(sum(a).code, SL_ERR_INVALID);
		change(a, k, 1, 1); /* it has another */
		assert_int_equal(sum(a).code, SL_OK);
		change(a, k, 1, 1); /* or two */
		assert_int_equal(sum(a).code, SL_ERR_INVALID);
		change(a, k, 15, -1); /* and less than none of a third */
		assert_int_equal(sum(a).code, SL_ERR_INVALID);
		change(a, k, 15, 1);
		change(a, k, 1, -2);
		change(a, k, last, 1);
		change(a, k, 0, LEARNERS + 1); /* more than there are, beside as many below 0 */
		change(a, k, 14, -(int64_t)LEARNERS - 1);
		assert_int_equal(sum(a).code, SL_ERR_INVALID);
		change(a, k, 0, -(int64_t)LEARNERS - 1);
		change(a, k, 14, LEARNERS + 1);
		assert_int_equal(sum(a).code, SL_OK);
	}
	change(a, 3, 15, -1);
	change(a, 3, 14, 1); /* backed by one: of no importance */
	other = sum(a);
	assert_true(other.code == SL_OK && memcmp(other.strands, honest.strands, sizeof other.strands) != 0);
	assert_int_equal(a->workspace.ranges.next[3], after[3]);
	change(a, 3, 7, -1);
	change(a, 3, 15, 1); /* by two */
	assert_int_equal(sum(a).code, SL_OK);
	assert_true(a->workspace.ranges.next[3] > after[3]);
}

/* With the largest modulus, counts below 0 may add up to N in 64 bits. */
TEST_WITH(counts_below_0, attempt_setup_wide, attempt_teardown)
{
	struct attempt *a = ranged(state);
	assert_int_equal(sum(a).code, SL_OK);
	for (uint32_t b = 0; b < 8; b++)
		change(a, 0, b, -1 - (b == 0)); /* a learner is there */
	change(a, 0, 8, 8 + 8 + 1);
	assert_int_equal(sum(a).code, SL_ERR_INVALID);
}

/* Counts may be above what a value of that weight can have. */
TEST_WITH(counts_of_a_light_sum, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	struct sl_workspace *w = &a->workspace;
	lay_out(a);
	a->view.encoding.update_bits = 1;
	attempt_add(a, ELEMENTS - 1, -(uint64_t)LEARNERS);
	for (uint32_t i = 0; i < LEARNERS; i++) {
		memcpy(w->trained, w->committed, MODEL_BYTES);
		w->weight = i == 0;
		assert_int_equal(attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE}).code, SL_OK);
		sl_job_model_encode(w, &a->view, 0, ELEMENTS, x);
		for (size_t l = 0; l < ELEMENTS; l++)
			a->state[i][l] = sl_field_add(&a->view.field, a->state[i][l], x[l]);
	}
	assert_int_equal(sum(a).code, SL_OK);
	static const size_t places[] = {0, N - 1, N, N + 13};
	for (size_t i = 0; i < 4; i++) { /* values and lower limbs may not be */
		attempt_add(a, places[i], 2);
		assert_int_equal(sum(a).code, SL_OK);
		attempt_add(a, places[i], 1);
		assert_int_equal(sum(a).code, SL_ERR_INVALID);
		attempt_add(a, places[i], (uint64_t)-3);
	}
}

/* --- the result of others --- */

TEST_WITH(adopted_with_exponents, attempt_setup, attempt_teardown)
{
	struct attempt *a = ranged(state);
	struct sl_workspace *w = &a->workspace;
	struct sl_round_head round = {.total = WEIGHT};
	struct model *committed = w->committed, *want = malloc(BYTES), *fetched = w->fetched = malloc(BYTES);
	uint8_t hash[SL_HASH_BYTES];
	struct sl_job adopt = {.kind = SL_JOB_ADOPT, .round = &round, .expected = hash};
	expect(a, want);
	sl_canonical_result(&w->scope, a->view.h, WEIGHT, round.strands, want, BYTES, hash);
	for (int wrong = TENSORS; wrong >= 0; wrong--) {
		if (wrong > 0)
			want->exponents[wrong - 1] ^= 1;
		for (size_t at = 0, index = 0; at < BYTES; at += SL_RESULT_BYTES, index++) {
			size_t size = BYTES - at < SL_RESULT_BYTES ? BYTES - at : SL_RESULT_BYTES;
			struct sl_buffer part = {
				.index = (uint32_t)index, .bytes = (uint8_t *)want + at, .size = size};
			attempt_run(a, (struct sl_job){.kind = SL_JOB_ABSORB, .buffers = &part});
		}
		assert_int_equal(attempt_run(a, adopt).code, wrong > 0 ? SL_ERR_INVALID : SL_OK);
		assert_ptr_equal(w->committed, wrong > 0 ? committed : fetched);
		if (wrong > 0)
			want->exponents[wrong - 1] ^= 1;
	}
	assert_memory_equal(w->committed, want, BYTES);
	assert_memory_equal(sl_workspace_exponents(w), after, sizeof after);
	free(committed);
	free(want);
	w->fetched = NULL;
}

/* --- the first round --- */

/* Its exponents follow from the model. Tensors of zeros, and without elements, have the largest of the
 * others. */
TEST_WITH(exponents_of_the_first_model, attempt_setup, attempt_teardown)
{
	static const int16_t tiny[TENSORS] = {28, 10, 10, -2}, whole[TENSORS] = {28, 45, 27, 10};
	struct attempt *a = *state;
	struct sl_workspace *w = &a->workspace;
	lay_out(a);
	a->view.previous[0] = 0;
	a->view.t = 1;
	a->view.encoding.clipping_range = 4; /* steps of 2^-10 */
	/* the vectors of the fixture are longer than those of a first round: 0 where these end */
	size_t rest = ELEMENTS - 1 - N;
	a->view.elements = ELEMENTS;
	attempt_add(a, 4, LEARNERS);
	assert_true(rest == EXTRA && !sl_view_ranged(&a->view));
	assert_int_equal(sum(a).code, SL_OK);
	attempt_run_well(a, SL_JOB_ACCEPT, 0);
	struct model *committed = w->committed;
	assert_true(committed->d[4] == 0x1p-10);
	assert_memory_equal(committed->exponents, tiny, sizeof tiny);
	attempt_add(a, 5, 100 * LEARNERS);
	attempt_add(a, 8 + 77, (uint64_t)(-4096 * (int64_t)LEARNERS));
	assert_int_equal(sum(a).code, SL_OK);
	attempt_run_well(a, SL_JOB_ACCEPT, 0);
	assert_true(committed->i[0] == 100 && committed->w[77] == -4);
	assert_memory_equal(committed->exponents, whole, sizeof whole);
	attempt_add(a, 5, (uint64_t)(-100 * (int64_t)LEARNERS)); /* each sum is looked at anew */
	attempt_add(a, 8 + 77, 4096 * LEARNERS);
	assert_int_equal(sum(a).code, SL_OK);
	attempt_run_well(a, SL_JOB_ACCEPT, 0);
	assert_memory_equal(committed->exponents, tiny, sizeof tiny);
}

/* A common initial model has ranges, and a number, as a result has; zeros have no number. */
TEST_WITH(ranges_of_an_initial_model, attempt_setup, attempt_teardown)
{
	static const int16_t ranges[TENSORS] = {40, 98, 80, 11};
	struct attempt *a = *state;
	struct sl_workspace *w = &a->workspace;
	lay_out(a);
	struct model *initial = w->committed; /* up to 3, 2^60 + 1 and 6.125 */
	memset(initial->exponents, 0xff, sizeof initial->exponents);
	uint64_t number = sl_job_model_begin(w);
	assert_int_not_equal(number, 0);
	assert_memory_equal(initial->exponents, ranges, sizeof ranges);
	assert_int_equal(sl_job_model_begin(w), number);
	initial->w[FLOATS - 1] += 0.5f;
	assert_int_not_equal(sl_job_model_begin(w), number);
	memset(initial->d, 0, sizeof initial->d);
	memset(initial->i, 0, sizeof initial->i);
	static const int16_t others[TENSORS] = {23, 23, 23, 11};
	assert_int_not_equal(sl_job_model_begin(w), 0);
	assert_memory_equal(initial->exponents, others, sizeof others);
	memset(initial, 0, MODEL_BYTES);
	assert_int_equal(sl_job_model_begin(w), 0);
	w->ranges.count = 0;
	initial->w[0] = 1;
	assert_int_equal(sl_job_model_begin(w), 0);
}
