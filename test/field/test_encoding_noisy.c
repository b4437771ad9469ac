/* Encoding of vectors that noise is added to (ROUND.md §4.9 Noise): dither, the norm, clamping, and the mean.
 */
#include "test/lib/test.h"

#include <math.h>
#include <string.h>

#include "common/base/random.h"
#include "test/lib/encoding.h"

#define N 700u /* two blocks and a rest */
#define STEP (-3)

static const uint8_t key[SL_KEY_BYTES] = {7};
static struct sl_field field;

static struct sl_encoding noisy(const uint8_t *dither)
{
	assert_int_equal(sl_field_init(&field, (UINT64_C(1) << 44) - 17), SL_OK);
	return (struct sl_encoding){.kind = SL_ENCODING_WEIGHTED,
				    .values = SL_VALUES_NOISY,
				    .weight = 1,
				    .noisy = {STEP, 1000, 5000, 1, dither}};
}

/* Return a number between -1 and 1. */
static double real(uint64_t *random)
{
	return ldexp((double)(int64_t)sl_random_next(random), -63);
}

static struct sl_encode_note encode(const struct sl_encoding *e, const float *model, const float *base,
				    int64_t *x)
{
	uint64_t elements[N + 1];
	struct sl_encode_note note;
	assert_int_equal(sl_encoding_encode(&field, e, NULL, model, base, N, elements, &note), SL_OK);
	assert_int_equal(elements[N], e->weight);
	for (size_t l = 0; l < N; l++)
		x[l] = sl_field_centred(&field, elements[l]);
	return note;
}

TEST(dither_goes_to_the_integers_around)
{
	uint64_t random = 1;
	float model[N];
	int64_t x[N];
	struct sl_encoding e = noisy(key);
	for (size_t l = 0; l < N; l++)
		model[l] = l % 5 == 0 ? ldexpf((float)l, STEP) : (float)(50 * real(&random));
	encode(&e, model, NULL, x);
	size_t up = 0, down = 0;
	for (size_t l = 0; l < N; l++) {
		double steps = ldexp((double)model[l], -STEP);
		assert_true((double)x[l] == floor(steps) || (double)x[l] == ceil(steps));
		up += (double)x[l] > steps;
		down += (double)x[l] < steps;
	}
	assert_true(up > N / 4 && down > N / 4);
}

TEST(dither_has_no_bias)
{
	float model[N];
	int64_t x[N];
	double mean = 0;
	uint8_t fresh[SL_KEY_BYTES] = {0};
	for (size_t l = 0; l < N; l++)
		model[l] = ldexpf(-2.8125f, STEP);
	for (uint32_t trial = 0; trial < 100; trial++) {
		fresh[0] = (uint8_t)trial;
		struct sl_encoding e = noisy(fresh);
		encode(&e, model, NULL, x);
		for (size_t l = 0; l < N; l++)
			mean += (double)x[l] / (100 * N);
	}
	assert_true(fabs(mean + 2.8125) < 6 * 0.39 / sqrt(100.0 * N));
}

TEST(dither_of_an_element_is_its_own)
{
	float model[N];
	int64_t x[N];
	uint64_t some[100];
	struct sl_encoding e = noisy(key);
	struct sl_encode_note note;
	for (size_t l = 0; l < N; l++)
		model[l] = ldexpf(0.5f, STEP);
	encode(&e, model, NULL, x);
	size_t ones = 0;
	for (size_t l = 0; l < N; l++)
		ones += x[l] == 1;
	assert_true(ones > N / 3 && ones < 2 * N / 3);
	for (size_t first = 0; first + 100 <= N; first += 61) {
		assert_int_equal(
			sl_encoding_noisy_part(&field, &e, NULL, model, NULL, N, first, 100, some, &note),
			SL_OK);
		for (size_t l = 0; l < 100; l++)
			assert_int_equal(some[l], x[first + l]);
	}
}

TEST(beyond_the_range_is_cut)
{
	float model[N] = {1e30f, -1e30f, ldexpf(1000, STEP), ldexpf(-1001, STEP)};
	int64_t x[N];
	for (int dither = 0; dither < 2; dither++) {
		struct sl_encoding e = noisy(dither != 0 ? key : NULL);
		assert_int_equal(encode(&e, model, NULL, x).clamped, 3);
		assert_true(x[0] == 1000 && x[1] == -1000 && x[2] == 1000 && x[3] == -1000 && x[4] == 0);
	}
	struct sl_encoding e = noisy(key);
	assert_int_equal(sl_encoding_largest(&e), 6000); /* and the room of the noise */
}

TEST(not_finite_is_refused)
{
	double model[2] = {0, NAN};
	uint64_t x[3];
	struct sl_encode_note note;
	const struct sl_tensor item = {.name = "w", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {2}};
	const struct sl_tensors tensors = {.items = &item, .count = 1};
	struct sl_encoding e = noisy(key);
	assert_int_equal(sl_encoding_encode(&field, &e, &tensors, model, NULL, 2, x, &note), SL_ERR_INVALID);
	assert_int_equal(note.index, 1);
	model[1] = INFINITY;
	assert_int_equal(sl_encoding_encode(&field, &e, &tensors, model, NULL, 2, x, &note), SL_ERR_INVALID);
	assert_true(sl_encoding_factor(&e, &tensors, model, NULL, 2, 10) == 0);
	model[1] = -1e300;
	const double base[2] = {0, 1e300};
	assert_int_equal(sl_encoding_encode(&field, &e, &tensors, model, base, 2, x, &note), SL_OK);
	assert_int_equal(sl_field_centred(&field, x[1]), -1000);
}

TEST(weight_0_is_zeros)
{
	float model[N] = {1, 2, 3};
	int64_t x[N];
	struct sl_encoding e = noisy(key);
	e.weight = 0;
	encode(&e, model, NULL, x);
	for (size_t l = 0; l < N; l++)
		assert_int_equal(x[l], 0);
}

/* ---- the norm ---- */

static double norm_of(const struct sl_encoding *e, const float *model, size_t n)
{
	uint64_t x[N + 1];
	double sum = 0;
	struct sl_encode_note note;
	assert_int_equal(sl_encoding_encode(&field, e, NULL, model, NULL, n, x, &note), SL_OK);
	for (size_t l = 0; l < n; l++)
		sum += pow((double)sl_field_centred(&field, x[l]), 2);
	return sum;
}

TEST(norm_is_never_exceeded)
{
	uint64_t random = 3;
	float model[N];
	struct sl_encoding e = noisy(NULL);
	for (size_t trial = 0; trial < 2000; trial++) {
		size_t n = 1 + trial % N;
		double limit = 4 * sqrt((double)n), scale = exp2(12 * real(&random));
		for (size_t l = 0; l < n; l++) /* also with many just above a half */
			model[l] = ldexpf(trial % 3 == 0 ? 0.501f : (float)(scale * real(&random)), STEP);
		e.noisy.factor = sl_encoding_factor(&e, NULL, model, NULL, n, limit);
		assert_true(e.noisy.factor > 0 && e.noisy.factor <= 1);
		double squares = norm_of(&e, model, n);
		assert_true(squares <= limit * limit);
		if (e.noisy.factor < 1) /* and it is nearly reached */
			assert_true(squares >= 0.6 * limit * limit);
	}
}

TEST(norm_keeps_what_is_within)
{
	const float model[2] = {ldexpf(3, STEP), ldexpf(-4, STEP)};
	struct sl_encoding e = noisy(NULL);
	assert_true(sl_encoding_factor(&e, NULL, model, NULL, 2, nextafter(5, 6)) == 1);
	assert_true(sl_encoding_factor(&e, NULL, model, NULL, 2, 4.9) < 1);
	const float base[2] = {ldexpf(3, STEP), ldexpf(-3, STEP)};
	assert_true(sl_encoding_factor(&e, NULL, model, base, 2, 1.5) == 1);
}

/* Neither squares nor the difference are numbers that a double holds. */
TEST(norm_of_vast_vectors)
{
	const double model[4] = {3e307, -1.5e308, 0, 3}, base[4] = {0, 1e308, 0, 0};
	const struct sl_tensor item = {.name = "w", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {4}};
	const struct sl_tensors tensors = {.items = &item, .count = 1};
	uint64_t x[5];
	struct sl_encode_note note;
	struct sl_encoding e = noisy(NULL);
	e.noisy.factor = sl_encoding_factor(&e, &tensors, model, base, 4, 500);
	assert_int_equal(sl_encoding_encode(&field, &e, &tensors, model, base, 4, x, &note), SL_OK);
	int64_t a = sl_field_centred(&field, x[0]), b = sl_field_centred(&field, x[1]);
	assert_true(a >= 59 && a <= 60 && b >= -497 && b <= -495 && x[2] == 0 && x[3] == 0);
}

/* ---- neighbours ---- */

TEST(neighbours_differ_by_the_sensitivity_at_most)
{
	uint64_t random = 9;
	float model[N], other[N];
	int64_t x[N], y[N];
	const double norm = 4 * sqrt(N);
	/* (norm + sqrt(d))^2 always; most stay far below */
	for (uint32_t trial = 0; trial < 200; trial++) {
		uint8_t fresh[SL_KEY_BYTES] = {(uint8_t)trial};
		double length = 0, apart = 0;
		struct sl_encoding e = noisy(fresh);
		for (size_t l = 0; l < N; l++) {
			model[l] = (float)(40 * real(&random));
			other[l] = (float)real(&random);
			length += pow((double)other[l], 2);
		}
		for (size_t l = 0; l < N; l++)
			other[l] = model[l] +
				   ldexpf((float)((double)other[l] / sqrt(length) * norm * 0.99999), STEP);
		encode(&e, model, NULL, x);
		encode(&e, other, NULL, y);
		for (size_t l = 0; l < N; l++)
			apart += pow((double)(x[l] - y[l]), 2);
		double bound = norm * norm + N / 4.0 + sqrt(2 * log(1e6)) * (norm + sqrt(N) / 2);
		assert_true(apart <= bound);
	}
}

/* ---- the mean ---- */

TEST(mean_of_sums)
{
	struct sl_encoding e = noisy(key);
	const struct sl_tensor items[] = {
		{.name = "w", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {2}},
		{.name = "v", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {1}, .nonnegative = true}};
	const struct sl_tensors tensors = {.items = items, .count = 2};
	const uint64_t z[3] = {24, field.p - 40, field.p - 8};
	struct {
		float w[2];
		double v;
	} mean, base = {{1, 2}, 0.125};
	assert_int_equal(sl_encoding_decode_part(&field, &e, &tensors, z, NULL, 4, NULL, 3, 0, 3, &mean),
			 SL_OK);
	assert_true(mean.w[0] == 24 / 4 * 0.125f && mean.w[1] == -40 / 4 * 0.125f && mean.v == 0);
	assert_int_equal(sl_encoding_decode_part(&field, &e, &tensors, z, NULL, 4, &base, 3, 0, 3, &mean),
			 SL_OK);
	assert_true(mean.w[0] == 1.75f && mean.w[1] == 0.75f && mean.v == 0);
	assert_int_equal(sl_encoding_decode_part(&field, &e, &tensors, z, NULL, 0, &base, 3, 0, 3, &mean),
			 SL_ERR_INVALID);
}
