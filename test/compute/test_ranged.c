/* Jobs of ranged and exact rounds: the counts of magnitudes in Z, and the exponents in a result (ROUND.md
 * §4.3 Limbs and ranges, §4.7 Plausibility of a sum). */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "common/compute/job_model.h"
#include "common/field/ranges.h"
#include "test/compute/attempt.h"
#include "test/lib/test.h"

#define TENSORS 6u
#define BITS 12u
#define LOWER (4 * 5 + 5 * 5 + 21 + 4 * 1) /* elements of lower limbs */
#define EXTRA (LOWER + 16 * TENSORS)
#define N (ELEMENTS - 1 - EXTRA)
#define W 11u /* the first element of w */
#define FLOATS (N - W - 1)
#define MODEL_BYTES (8 * W + 4 * (FLOATS + 1))
#define BYTES (MODEL_BYTES + 2 * TENSORS)
#define WEIGHT 10

struct model {
	double d[5];
	int64_t i[5];
	double m;
	float w[FLOATS], v;
	int16_t exponents[TENSORS];
};
static_assert(sizeof(struct model) == BYTES, "a result has no gaps");

static struct sl_tensor items[TENSORS] = {
	{.name = "d", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {5}},
	{.name = "i", .dtype = SL_INT64, .dimensions = 1, .shape = {5}},
	{.name = "none", .dtype = SL_INT64, .dimensions = 1, .shape = {0}},
	{.name = "metric:m", .dtype = SL_FLOAT64},
	{.name = "w", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {FLOATS}},
	{.name = "v", .dtype = SL_FLOAT32, .nonnegative = true}};
static const uint64_t weights[LEARNERS] = {2, 7, 1};
/* The magnitudes of the learners, by tensor; c + 1 is 2. Exact tensors have none. */
static const uint8_t magnitudes[TENSORS][LEARNERS] = {{13, 10, 0}, {0}, {0}, {0}, {8, 7, 15}, {0}};
/* log2 of the largest update of a magnitude, over the range; of 15, some. */
static const int sizes[16] = {[7] = -6, [8] = -5, [10] = -3, [13] = 0, [15] = 3};
static const int16_t before[TENSORS] = {-10, 0, 0, 0, 2, -3}, after[TENSORS] = {-12, 0, 0, 0, -2, -3};

static uint64_t memory[60];
static uint64_t x[ELEMENTS];

/* Let learner i train: its update of each tensor has the magnitude that it is to have. */
static void train(struct sl_workspace *w, uint32_t i)
{
	struct model *trained = w->trained;
	memcpy(trained, w->committed, MODEL_BYTES);
	const uint8_t d = magnitudes[0][i], f = magnitudes[4][i];
	trained->d[i] += d == 0 ? 0 : ldexp(1, before[0] + sizes[d]);
	trained->i[i % 2] -= INT64_C(1) << (40 + i);
	trained->m = 0.25 * (i + 1);
	trained->w[0] += ldexpf(1, before[4] + sizes[f] - 2);
	trained->w[FLOATS - 1 - i] -= ldexpf(1, before[4] + sizes[f]);
	w->weight = weights[i];
}

/* Lay out a model with w of `floats` elements, for vectors of ELEMENTS. */
static void lay_out(struct attempt *a, size_t floats, enum sl_values values, uint32_t bits)
{
	struct sl_workspace *w = &a->workspace;
	items[4].shape[0] = floats;
	w->tensors = (struct sl_tensors){.items = items, .count = TENSORS};
	w->n = W + floats + 1;
	free(w->trained);
	free(w->committed);
	w->trained = calloc(1, BYTES);
	w->committed = calloc(1, BYTES);
	sl_ranges_set(&w->ranges, &w->tensors, w->n, memory);
	assert_true(sl_ranges_memory(&w->tensors) <= sizeof memory);
	bool ranged = values == SL_VALUES_UPDATE;
	assert_int_equal(w->n + sl_layout_extra(&w->ranges.layout, ranged, bits) + 1, ELEMENTS);
	a->view.t = 2;
	a->view.previous[0] = 1;
	a->view.max_weight = 100;
	a->view.agreed.tolerance = 1;
	a->view.agreed.values = values;
	a->view.encoding = (struct sl_encoding){
		.kind = SL_ENCODING_WEIGHTED, .values = values, .update_bits = bits, .clipping_range = 1};
	attempt_add(a, ELEMENTS - 1, -(uint64_t)LEARNERS); /* what the fixture put there */
}

static void lay_out_ranged(struct attempt *a)
{
	lay_out(a, FLOATS, SL_VALUES_UPDATE, BITS);
	struct model *committed = a->workspace.committed;
	for (size_t l = 0; l < FLOATS; l++)
		committed->w[l] = 0.125f * (float)(l % 50);
	committed->d[0] = 3;
	committed->i[1] = (INT64_C(1) << 60) + 1;
	committed->m = 1e9;
	memcpy(committed->exponents, before, sizeof before);
}

/* Add the encoding of the trained model to masked state i, or take it from there. */
static void put(struct attempt *a, uint32_t i, bool away)
{
	assert_int_equal(attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE}).code, SL_OK);
	sl_job_model_encode(&a->workspace, &a->view, 0, ELEMENTS, x);
	for (size_t l = 0; l < ELEMENTS; l++)
		a->state[i][l] = away ? sl_field_sub(&a->view.field, a->state[i][l], x[l])
				      : sl_field_add(&a->view.field, a->state[i][l], x[l]);
}

/* Make the masked states of three learners that train. */
static struct attempt *ranged(void **state)
{
	struct attempt *a = *state;
	struct sl_workspace *w = &a->workspace;
	lay_out_ranged(a);
	for (uint32_t i = 0; i < LEARNERS; i++) {
		train(w, i);
		put(a, i, false);
		for (uint32_t k = 0; k < TENSORS; k++)
			assert_int_equal(w->ranges.own[k], magnitudes[k][i]);
	}
	return a;
}

static struct sl_job_result sum(struct attempt *a)
{
	attempt_fetch_all(a);
	return attempt_run(a, (struct sl_job){.kind = SL_JOB_SUM});
}

/* Set *want to the result: the means of updates that are exact in their steps, and of exact values. */
static void expect(const struct attempt *a, struct model *want)
{
	memcpy(want, a->workspace.committed, BYTES);
	double first = 0;
	for (uint32_t i = 0; i < LEARNERS; i++) {
		double weight = (double)weights[i];
		const uint8_t d = magnitudes[0][i], f = magnitudes[4][i];
		want->d[i] += d == 0 ? 0 : weight * ldexp(1, before[0] + sizes[d]) / WEIGHT;
		double update = fmin(ldexp(1, before[4] + sizes[f]), ldexp(1, before[4]));
		want->w[FLOATS - 1 - i] = (float)((double)want->w[FLOATS - 1 - i] - weight * update / WEIGHT);
		first += weight * fmin(ldexp(1, before[4] + sizes[f] - 2), ldexp(1, before[4]));
	}
	want->w[0] = (float)((double)want->w[0] + first / WEIGHT);
	/* the nearest to the means of 2^40 and 2^42, and of 2^41, by weight */
	want->i[0] -= ((INT64_C(6) << 40) + 5) / 10;
	want->i[1] -= ((INT64_C(7) << 41) + 5) / 10;
	want->m = 4.75 / WEIGHT;
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
	assert_true(w->ranges.own[0] == 1 && w->ranges.own[1] == 0 && w->ranges.own[4] == 13);
	sl_job_model_encode(w, &a->view, 0, ELEMENTS, x);
	assert_true(x[W + 1] == 4096 && x[W + 2] == 1 && x[4] == 0 && x[N + 4] == 1);
	trained->w[2] = nextafterf(trained->w[2] + 0.25f, 9);
	result = attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE});
	assert_true(result.code == SL_OK && result.note.clamped == 1 && w->ranges.own[4] == 14);
}

/* A small cut is told of in the third round in a row, another attempt at which counts once. */
TEST_WITH(cuts_in_a_row, attempt_setup, attempt_teardown)
{
	struct attempt *a = ranged(state);
	struct sl_workspace *w = &a->workspace;
	assert_int_equal(sum(a).code, SL_OK);
	attempt_run_well(a, SL_JOB_ACCEPT, 0);
	struct model *trained = w->trained;
	w->weight = 1;
	for (uint32_t t = 1; t <= 5; t++)
		for (uint32_t attempt = 0; attempt < 4; attempt++) {
			size_t many =
				w->n / 100 + (t == 4 ? 0 : 1); /* more than a hundredth, but for round 4 */
			a->view.t = t;
			memcpy(trained, w->committed, MODEL_BYTES);
			for (size_t l = 0; l < many; l++)
				trained->w[l] += 0.75f; /* three times the range */
			struct sl_job_result result = attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE});
			assert_true(result.code == SL_OK && result.note.clamped == many);
			assert_int_equal(w->ranges.own[4], 14);
			assert_true(result.far == (t == 3));
		}
}

/* A model that does not count has its magnitude all the same, so that the counts do not tell of it. */
TEST_WITH(magnitude_of_weight_0, attempt_setup, attempt_teardown)
{
	struct attempt *a = ranged(state);
	a->workspace.weight = 0;
	assert_int_equal(attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE}).code, SL_OK);
	sl_job_model_encode(&a->workspace, &a->view, 0, ELEMENTS, x);
	for (size_t l = 0; l < N + LOWER; l++)
		assert_int_equal(x[l], 0);
	for (size_t c = 0; c < 16 * TENSORS; c++)
		assert_int_equal(x[N + LOWER + c], c % 16 == magnitudes[c / 16][2]);
}

/* --- counts that are not those of N learners --- */

static void change(struct attempt *a, uint32_t tensor, uint32_t magnitude, int64_t by)
{
	attempt_add(a, sl_ranges_counts_at(&a->workspace.ranges, BITS, tensor) + magnitude, (uint64_t)by);
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
	change(a, 4, 15, -1);
	change(a, 4, 14, 1); /* backed by one: of no importance */
	other = sum(a);
	assert_true(other.code == SL_OK && memcmp(other.strands, honest.strands, sizeof other.strands) != 0);
	assert_int_equal(a->workspace.ranges.next[4], after[4]);
	change(a, 4, 7, -1);
	change(a, 4, 15, 1); /* by two */
	assert_int_equal(sum(a).code, SL_OK);
	assert_true(a->workspace.ranges.next[4] > after[4]);
}

/* A range grows by the committed change of this sum, and not by that of an earlier one. */
TEST_WITH(change_of_this_sum, attempt_setup, attempt_teardown)
{
	struct attempt *a = ranged(state);
	const int64_t most = WEIGHT << BITS;
	change(a, 4, 7, -1);
	change(a, 4, 15, 1);
	attempt_add(a, W + 5, (uint64_t)most);
	assert_int_equal(sum(a).code, SL_OK);
	assert_int_equal(a->workspace.ranges.next[4], before[4] + 4); /* up to 4 N times the range */
	attempt_add(a, W + 5, (uint64_t)-most);
	assert_int_equal(sum(a).code, SL_OK);
	assert_int_equal(a->workspace.ranges.next[4], before[4] + 2);
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
	size_t lower = 4 * 5 + 63 * 5 + 255 + 4, n = ELEMENTS - 1 - lower - 16 * TENSORS;
	lay_out(a, n - W - 1, SL_VALUES_UPDATE, 1);
	for (uint32_t i = 0; i < LEARNERS; i++) {
		memcpy(w->trained, w->committed, MODEL_BYTES);
		w->weight = i == 0;
		put(a, i, false);
	}
	assert_int_equal(sum(a).code, SL_OK);
	const size_t places[] = {0, 5, n - 1, n, n + 5, n + lower - 1};
	for (size_t i = 0; i < 6; i++) { /* values and lower limbs may not be */
		attempt_add(a, places[i], 2);
		assert_int_equal(sum(a).code, SL_OK);
		attempt_add(a, places[i], 1);
		assert_int_equal(sum(a).code, SL_ERR_INVALID);
		attempt_add(a, places[i], (uint64_t)-3);
	}
}

/* A sum whose mean a tensor cannot hold: of float32 here. */
TEST_WITH(mean_beyond_the_dtype, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	struct sl_workspace *w = &a->workspace;
	lay_out_ranged(a);
	struct model *committed = w->committed;
	committed->w[0] = FLT_MAX;
	committed->exponents[4] = 120;
	for (uint32_t i = 0; i < LEARNERS; i++) {
		memcpy(w->trained, committed, MODEL_BYTES);
		w->weight = weights[i];
		put(a, i, false);
	}
	assert_int_equal(sum(a).code, SL_OK);
	attempt_add(a, W, WEIGHT << BITS);
	assert_int_equal(sum(a).code, SL_ERR_INVALID);
	committed->w[0] = 0;
	assert_int_equal(sum(a).code, SL_OK);
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

/* --- exact rounds --- */

#define EXACT_FLOATS ((ELEMENTS - 11) / 8 - 7) /* limbs: 8 of a float, 2 of an integer */

static struct attempt *exact(void **state, enum sl_values values)
{
	struct attempt *a = *state;
	lay_out(a, EXACT_FLOATS, SL_VALUES_EXACT, 32);
	a->view.agreed.values = values;
	if (values == SL_VALUES_UPDATE) { /* the first of ranged rounds */
		a->view.t = 1;
		a->view.previous[0] = 0;
	}
	assert_false(sl_view_ranged(&a->view));
	return a;
}

/* Let learner i have a model whose mean over the learners has d[4] = 2^-10, and more if `large`. */
static void train_exactly(struct sl_workspace *w, uint32_t i, bool large)
{
	struct model *trained = w->trained;
	memset(trained, 0, BYTES);
	trained->d[4] = i == 0 ? 0x1p-10 : i == 1 ? 0x1p-10 + 0x1p-70 : 0x1p-10 - 7 * 0x1p-70;
	trained->m = 1e9 * i; /* no update of a tensor is like a metric */
	trained->i[0] = large ? 99 + i : 0;
	trained->w[77] = large ? -2.0f * (float)(i + 1) - (i == 0 ? 0.8f : 0) : 0;
	w->weight = weights[i];
}

static void put_all(struct attempt *a, bool large, bool away)
{
	for (uint32_t i = 0; i < LEARNERS; i++) {
		train_exactly(&a->workspace, i, large);
		put(a, i, away);
	}
}

/* Sum up and accept; the exponents must be `exponents`, and D of the model with them. */
static void expect_exponents(struct attempt *a, const int16_t exponents[static TENSORS])
{
	struct sl_workspace *w = &a->workspace;
	uint8_t hash[SL_HASH_BYTES];
	struct sl_job_result result = sum(a);
	assert_int_equal(result.code, SL_OK);
	assert_int_equal(result.total, WEIGHT);
	attempt_run_well(a, SL_JOB_ACCEPT, 0);
	assert_memory_equal(sl_workspace_exponents(w), exponents, TENSORS * sizeof *exponents);
	sl_canonical_result(&w->scope, a->view.h, WEIGHT, result.strands, w->committed, sl_workspace_bytes(w),
			    hash);
	assert_memory_equal(result.hash, hash, sizeof hash);
}

/* The exponents follow from the model. Tensors of zeros have the largest of the others, but for exact ones;
 * v, which is not negative, has no room above it.
 */
static void expect_first_exponents(struct attempt *a)
{
	static const int16_t tiny[TENSORS] = {28, 0, 0, 0, -2, -2}, whole[TENSORS] = {28, 0, 0, 0, 10, 10};
	put_all(a, false, false);
	expect_exponents(a, tiny);
	const struct model *committed = a->workspace.committed;
	assert_true(committed->d[4] == 0x1p-10 && committed->i[0] == 0 && committed->m == 9e8);
	put_all(a, false, true);
	put_all(a, true, false);
	expect_exponents(a, whole);
	/* (2 99 + 7 100 + 101) / 10, and (2 2.8 + 7 4 + 6) / 10 with 0.8 as a float */
	assert_true(committed->i[0] == 100 && committed->w[77] == (float)(-(34 + 2 * (double)0.8f + 4) / 10));
	put_all(a, true, true); /* each sum is looked at anew */
	put_all(a, false, false);
	expect_exponents(a, tiny);
}

TEST_WITH(exponents_of_the_first_model, attempt_setup, attempt_teardown)
{
	expect_first_exponents(exact(state, SL_VALUES_UPDATE));
}

/* With `values: exact` each round is exact, with a committed model as without one. */
TEST_WITH(exponents_of_exact_rounds, attempt_setup, attempt_teardown)
{
	struct attempt *a = exact(state, SL_VALUES_EXACT);
	struct model *committed = a->workspace.committed;
	committed->d[4] = 1e30; /* of no importance */
	expect_first_exponents(a);
}

/* Limbs beyond what the learners can have, lower ones among them, are no sum. */
TEST_WITH(limbs_of_an_exact_sum, attempt_setup_wide, attempt_teardown)
{
	struct attempt *a = exact(state, SL_VALUES_EXACT);
	/* without the first limbs of float32, which cannot hold so much (mean_beyond_the_dtype) */
	static const size_t places[] = {0, 5, W + EXACT_FLOATS + 1, ELEMENTS - 2};
	const int64_t most = (int64_t)WEIGHT << 32;
	put_all(a, true, false);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		uint64_t z = 0;
		for (uint32_t k = 0; k < LEARNERS; k++)
			z = sl_field_add(&a->view.field, z, a->state[k][places[i]]);
		int64_t now = sl_field_centred(&a->view.field, z);
		attempt_add(a, places[i], (uint64_t)(most - now));
		assert_int_equal(sum(a).code, SL_OK);
		attempt_add(a, places[i], 1);
		assert_int_equal(sum(a).code, SL_ERR_INVALID);
		attempt_add(a, places[i], (uint64_t)(-2 * most - 1));
		assert_int_equal(sum(a).code, SL_OK);
		attempt_add(a, places[i], (uint64_t)-1);
		assert_int_equal(sum(a).code, SL_ERR_INVALID);
		attempt_add(a, places[i], (uint64_t)(most + 1 + now));
	}
}

/* A tensor whose values are all rounded to 0 is named; those of zeros are not, nor is any without weight. */
TEST_WITH(vanished_tensors, attempt_setup, attempt_teardown)
{
	struct attempt *a = exact(state, SL_VALUES_EXACT);
	struct model *trained = a->workspace.trained;
	memset(trained, 0, BYTES);
	trained->d[2] = 0x1p-129;
	trained->d[3] = -0x1p-140;
	trained->m = 0x1.0000000000001p-129; /* is rounded up */
	a->workspace.weight = 1;
	struct sl_job_result result = attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE});
	assert_true(result.code == SL_OK && result.frozen == 1 && result.first_frozen == 0);
	assert_int_equal(result.note.vanished, 2);
	trained->d[3] = 0x1p-128;
	trained->w[5] = 0x1p-130f;
	result = attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE});
	assert_true(result.code == SL_OK && result.frozen == 1 && result.first_frozen == 4);
	a->workspace.weight = 0;
	result = attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE});
	assert_true(result.code == SL_OK && result.frozen == 0);
}

/* --- the initial model --- */

/* A common initial model has ranges, and a number, as a result has; zeros have no number. */
TEST_WITH(ranges_of_an_initial_model, attempt_setup, attempt_teardown)
{
	static const int16_t ranges[TENSORS] = {38, 0, 0, 0, 11, 11};
	struct attempt *a = *state;
	struct sl_workspace *w = &a->workspace;
	lay_out_ranged(a);
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
	static const int16_t others[TENSORS] = {23, 0, 0, 0, 11, 11};
	assert_int_not_equal(sl_job_model_begin(w), 0);
	assert_memory_equal(initial->exponents, others, sizeof others);
	memset(initial, 0, MODEL_BYTES);
	assert_int_equal(sl_job_model_begin(w), 0);
	w->ranges.count = 0;
	initial->w[0] = 1;
	assert_int_not_equal(sl_job_model_begin(w), 0);
}
