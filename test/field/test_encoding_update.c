/* Encoding and decoding of updates (PROTOCOL.md §4.2 Encoding, §4.6 Decoding): the differences to the last
 * committed model, in binary steps. */
#include "test/field/elements.h"
#include "test/lib/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/field/encoding.h"

#define N 1300u /* two blocks and a rest */

static struct sl_field field;

static struct sl_encoding update_of(double range, uint32_t bits, uint64_t weight)
{
	assert_int_equal(sl_field_init(&field, (UINT64_C(1) << 44) - 17), SL_OK);
	return (struct sl_encoding){.kind = SL_ENCODING_WEIGHTED,
				    .values = SL_VALUES_UPDATE,
				    .decimals = 3, /* of no importance */
				    .update_bits = bits,
				    .clipping_range = range,
				    .weight = weight};
}

static int64_t encoded(const struct sl_encoding *e, float theta, float base)
{
	uint64_t x[2];
	struct sl_encode_note note;
	assert_int_equal(sl_encoding_encode(&field, e, NULL, &theta, &base, 1, x, &note), SL_OK);
	assert_int_equal(x[1], e->weight);
	return sl_field_centred(&field, x[0]);
}

/* Every eighth of a step within the range, for many ranges and widths, against long doubles. */
TEST(each_eighth_of_a_step)
{
	static const double ranges[] = {0x1p-20, 0.25, 1, 3, 64}; /* 3 becomes 4 */
	for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
		for (uint32_t bits = 1; bits <= 7; bits++) {
			struct sl_encoding e = update_of(ranges[r], bits, 1 + 2 * (bits % 2));
			double range = ranges[r] == 3 ? 4 : ranges[r], step = ldexp(range, -(int)bits);
			assert_true(sl_encoding_range(&e) == range && sl_encoding_step(&e) == step);
			assert_int_equal(sl_encoding_largest(&e), 1 << bits);
			for (int k = -(8 << bits); k <= 8 << bits; k++) {
				float base = (float)(step * 5), theta = (float)((double)base + step * k / 8);
				long double u = ((long double)theta - base) / step;
				assert_int_equal(encoded(&e, theta, base),
						 (int64_t)nearbyintl(u) * (int64_t)e.weight);
			}
		}
}

/* The quick path of blocks and that of single elements give the same; so do no base and zeros. */
TEST(blocks)
{
	static float theta[N], base[N];
	static uint64_t x[N + 1], one[2], same[N + 1];
	struct sl_encoding e = update_of(0.5, 12, 7);
	struct sl_encode_note note, single;
	size_t vanished = 0;
	uint64_t seed = 5;
	for (size_t l = 0; l < N; l++) {
		base[l] = (float)(any64(&seed) % 1000) / 100;
		double u = ldexp((double)(any64(&seed) % 2001) / 1000 - 1, -1 - (int)(any64(&seed) % 14));
		theta[l] = base[l] + (float)u;
	}
	assert_int_equal(sl_encoding_encode(&field, &e, NULL, theta, base, N, x, &note), SL_OK);
	for (size_t l = 0; l < N; l++) {
		assert_int_equal(sl_encoding_encode(&field, &e, NULL, &theta[l], &base[l], 1, one, &single),
				 SL_OK);
		assert_int_equal(x[l], one[0]);
		vanished += single.vanished;
		assert_true(single.rounding <= note.rounding);
	}
	assert_true(note.vanished == vanished && vanished > 0);
	assert_true(note.rounding <= 0x1p-14); /* half a step */
	for (size_t l = 0; l < N; l++)
		theta[l] -= base[l];
	memset(base, 0, sizeof base);
	assert_int_equal(sl_encoding_encode(&field, &e, NULL, theta, base, N, x, &note), SL_OK);
	assert_int_equal(sl_encoding_encode(&field, &e, NULL, theta, NULL, N, same, &note), SL_OK);
	assert_memory_equal(x, same, sizeof x);
}

TEST(limits)
{
	struct sl_encoding e = update_of(1, 12, 1);
	struct sl_encode_note note;
	uint64_t x[2];
	float theta = 9.5f, base = 8;
	assert_int_equal(sl_encoding_encode(&field, &e, NULL, &theta, &base, 1, x, &note), SL_ERR_RANGE);
	assert_true(note.index == 0 && note.value == 1.5);
	e.clamp = true;
	assert_int_equal(encoded(&e, theta, base), 4096);
	assert_int_equal(encoded(&e, 6, base), -4096);
	theta = NAN;
	assert_int_equal(sl_encoding_encode(&field, &e, NULL, &theta, &base, 1, x, &note), SL_ERR_INVALID);
	e.kind = SL_ENCODING_PAPER;
	e.weight_total = 1;
	assert_int_equal(sl_encoding_encode(&field, &e, NULL, &base, &base, 1, x, &note), SL_ERR_INVALID);
	e = update_of(0x1p-1050, 12, 1); /* the range has a floor */
	assert_true(sl_encoding_range(&e) == 0x1p-100 && sl_encoding_step(&e) == 0x1p-112);
	e = update_of(INFINITY, 1, 1);
	e.clipping_range = __DBL_MAX__;
	assert_true(sl_encoding_range(&e) == 0x1p1023);
}

/* A mean below 0 of a non-negative tensor becomes 0, and -0.0 becomes 0.0, with each dtype; others stay. */
TEST(non_negative_tensors)
{
	const struct sl_tensor list[] = {
		{.name = "d", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {2}, .nonnegative = true},
		{.name = "i", .dtype = SL_INT64, .dimensions = 1, .shape = {2}, .nonnegative = true},
		{.name = "v", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {3}, .nonnegative = true},
		{.name = "w", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {1}}};
	const struct sl_tensors tensors = {list, 4};
	struct model {
		double d[2];
		int64_t i[2];
		float v[3], w;
	} base = {{0.125, 0.125}, {5, 5}, {1e-4f, 1, -0.0f}, 1e-4f}, mean;
	struct sl_encoding e = update_of(1, 4, 1); /* steps of 1/16 */
	const int64_t updates[] = {-3, 3, -6, 6, -1, -1, 0, -1};
	uint64_t z[9];
	for (size_t l = 0; l < 8; l++)
		z[l] = updates[l] < 0 ? field.p - (uint64_t)-updates[l] : (uint64_t)updates[l];
	z[8] = 1;
	assert_int_equal(sl_encoding_decode(&field, &e, &tensors, z, &base, 8, &mean), SL_OK);
	assert_true(mean.d[0] == 0 && !signbit(mean.d[0]) && mean.d[1] == 0.3125);
	assert_true(mean.i[0] == 0 && mean.i[1] == 11);
	assert_true(mean.v[0] == 0 && mean.v[1] == 0.9375F && mean.v[2] == 0 && !signbit(mean.v[2]));
	assert_true(mean.w < -0.06F);
	e = (struct sl_encoding){
		.kind = SL_ENCODING_WEIGHTED, .values = SL_VALUES_MODEL, .decimals = 2, .weight = 1};
	assert_int_equal(sl_encoding_decode(&field, &e, &tensors, z, NULL, 8, &mean), SL_OK);
	assert_true(mean.d[0] == 0 && mean.d[1] == 0.03 && mean.i[0] == 0 && mean.v[0] == 0 &&
		    mean.w == -0.01F);
}

/* The error of the mean is at most half a step, and the roundings of three doubles and a float. */
TEST(error_of_the_mean)
{
	const struct sl_tensor list[] = {{.name = "d", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {1}},
					 {.name = "i", .dtype = SL_INT64, .dimensions = 1, .shape = {1}},
					 {.name = "f", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {2}}};
	const struct sl_tensors tensors = {list, 3};
	struct model {
		double d;
		int64_t i;
		float f[2];
	} base = {-3.25, 1000, {5, -0.001f}}, theta, mean;
	uint64_t seed = 11;
	for (uint32_t turn = 0; turn < 2000; turn++) {
		struct sl_encoding e = update_of(ldexp(1, -(int)(any64(&seed) % 12)), 5 + turn % 20, 1);
		double step = sl_encoding_step(&e), range = sl_encoding_range(&e);
		uint64_t z[5] = {0}, x[5];
		long double sums[4] = {0}, weights = 0;
		for (int learner = 0; learner < 7; learner++) {
			struct sl_encode_note note;
			double u[4];
			for (int k = 0; k < 4; k++)
				u[k] = range * ((double)(any64(&seed) >> 11) * 0x1p-52 - 1);
			e.weight = 1 + any64(&seed) % 9;
			theta = (struct model){
				base.d + 0.999 * u[0],
				base.i + (int64_t)(u[1] / step),
				{base.f[0] + 0.999f * (float)u[2], base.f[1] + (float)u[3] * 0.999f}};
			assert_int_equal(sl_encoding_encode(&field, &e, &tensors, &theta, &base, 4, x, &note),
					 SL_OK);
			for (int k = 0; k < 5; k++)
				z[k] = sl_field_add(&field, z[k], x[k]);
			sums[0] += (long double)e.weight * theta.d;
			sums[1] += (long double)e.weight * theta.i;
			sums[2] += (long double)e.weight * theta.f[0];
			sums[3] += (long double)e.weight * theta.f[1];
			weights += e.weight;
		}
		assert_int_equal(sl_encoding_decode(&field, &e, &tensors, z, &base, 4, &mean), SL_OK);
		assert_true(fabsl(mean.d - sums[0] / weights) <= step / 2 + 1e-15);
		assert_true(fabsl(mean.i - sums[1] / weights) <= 0.5L + 1e-9L);
		assert_true(fabsl(mean.f[0] - sums[2] / weights) <= step / 2 + 5e-7);
		assert_true(fabsl(mean.f[1] - sums[3] / weights) <= step / 2 + range * 1e-7);
	}
}

/* The order of the operations, each rounded once. */
TEST(decoded_bits)
{
	struct sl_encoding e = update_of(0.125, 13, 1);
	uint64_t seed = 3;
	for (int turn = 0; turn < 20000; turn++) {
		uint64_t z[2] = {any64(&seed) % field.p, 1 + any64(&seed) % 1000};
		float base = (float)(any64(&seed) >> 40) * 0x1p-20f, got, zero;
		volatile double mean = (double)sl_field_centred(&field, z[0]) / (double)z[1];
		volatile double u = mean * 0x1p-16, sum = (double)base + u;
		volatile float want = (float)sum, alone = (float)u;
		assert_int_equal(sl_encoding_decode(&field, &e, NULL, z, &base, 1, &got), SL_OK);
		assert_true(got == want);
		assert_int_equal(sl_encoding_decode(&field, &e, NULL, z, NULL, 1, &zero), SL_OK);
		assert_true(zero == alone);
	}
}

/* The same of vectors, over every prime, 0 and the greatest and least sums among them. */
TEST(decoded_vectors)
{
	static float base[N], got[N], zero[N];
	static uint64_t z[N + 1];
	struct sl_encoding e = update_of(0.125, 13, 1);
	uint64_t seed = 4;
	for (size_t i = 0; i < PRIMES; i++) {
		assert_int_equal(sl_field_init(&field, primes[i]), SL_OK);
		any_elements(z, N, field.p, &seed);
		z[1] = field.p / 2;
		z[2] = field.p / 2 + 1;
		z[N] = 1 + any64(&seed) % (field.p - 1);
		for (size_t l = 0; l < N; l++)
			base[l] = (float)(any64(&seed) >> 40) * 0x1p-20f;
		assert_int_equal(sl_encoding_decode(&field, &e, NULL, z, base, N, got), SL_OK);
		assert_int_equal(sl_encoding_decode(&field, &e, NULL, z, NULL, N, zero), SL_OK);
		for (size_t l = 0; l < N; l++) {
			volatile double mean = (double)sl_field_centred(&field, z[l]) / (double)z[N];
			volatile double u = mean * 0x1p-16, sum = (double)base[l] + u;
			volatile float want = (float)sum, alone = (float)u;
			assert_true(got[l] == want && zero[l] == alone);
		}
	}
}

/* 12 bits take 18 bits at ten learners, whatever the range is. */
TEST(modulus_of_updates)
{
	const struct sl_addends ten = {.learners = 10, .max_weight = 1, .n = 1000000};
	struct sl_encoding e = update_of(0x1p-9, 12, 1);
	int most = 0;
	assert_int_equal(sl_encoding_modulus(&e, &ten, 61), sl_encoding_prime(18));
	e.clipping_range = 1e9;
	assert_int_equal(sl_encoding_modulus(&e, &ten, 61), sl_encoding_prime(18));
	assert_false(sl_encoding_bound(20 * 4096 + 1, &e, &ten, NULL, &most));
	assert_int_equal(most, 11);
	assert_true(sl_encoding_bound(20 * 4096 + 3, &e, &ten, NULL, &most));
	assert_int_equal(most, 12);
}
