/* Encoding and decoding of updates (ROUND.md §4.2 Encoding, §4.6 Decoding): the differences to the last
 * committed model, in binary steps. */
#include "test/field/elements.h"
#include "test/lib/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "test/lib/encoding.h"

#define N 1300u	  /* two blocks and a rest */
#define ALONE 18u /* elements of a vector of one value: the counts and the weight */

static struct sl_field field;
static struct sl_ranges ranges;
static uint8_t class, own;
static int16_t exponent;

/* Return the encoding of updates up to 2^range of a model of n elements, one tensor of one limb. */
static struct sl_encoding update_of(int range, uint32_t bits, uint64_t weight, size_t n)
{
	assert_int_equal(sl_field_init(&field, (UINT64_C(1) << 44) - 17), SL_OK);
	ranges = (struct sl_ranges){.layout = {.n = n, .tensors = 1, .elements = {[SL_CLASS_PLAIN] = n}},
				    .count = 1,
				    .class = &class,
				    .own = &own};
	class = SL_CLASS_PLAIN;
	own = 3;
	exponent = (int16_t)range;
	return (struct sl_encoding){.kind = SL_ENCODING_WEIGHTED,
				    .values = SL_VALUES_UPDATE,
				    .decimals = 3, /* of no importance */
				    .update_bits = bits,
				    .clipping_range = 1e-9, /* neither */
				    .weight = weight,
				    .ranges = &ranges,
				    .exponents = &exponent};
}

static int64_t encoded(const struct sl_encoding *e, float theta, float base)
{
	uint64_t x[ALONE];
	struct sl_encode_note note;
	assert_int_equal(sl_encoding_elements(e, 1), ALONE);
	assert_int_equal(sl_encoding_encode(&field, e, NULL, &theta, &base, 1, x, &note), SL_OK);
	assert_int_equal(x[ALONE - 1], e->weight);
	for (size_t b = 0; b < 16; b++)
		assert_int_equal(x[1 + b], b == 3);
	return sl_field_centred(&field, x[0]);
}

/* Decode sums of one limb. */
static int decode(const struct sl_encoding *e, const struct sl_tensors *tensors, const uint64_t *z,
		  uint64_t total, const void *base, size_t n, void *mean)
{
	return sl_encoding_decode_part(&field, e, tensors, z, NULL, total, base, n, 0, n, mean);
}

/* Every eighth of a step within the range, for many ranges and widths, against long doubles. */
TEST(each_eighth_of_a_step)
{
	static const int ends[] = {-20, -2, 0, 2, 6};
	for (size_t r = 0; r < sizeof ends / sizeof *ends; r++)
		for (uint32_t bits = 1; bits <= 7; bits++) {
			struct sl_encoding e = update_of(ends[r], bits, 1 + 2 * (bits % 2), 1);
			double step = ldexp(1, ends[r] - (int)bits);
			struct sl_grid g = sl_encoding_grid(&e, 0);
			assert_true(g.step == ends[r] - (int)bits && g.edge == 1 << bits);
			assert_true(sl_encoding_step(&e) == ldexp(1, -(int)bits)); /* of a range */
			assert_int_equal(sl_encoding_largest(&e), 1 << bits);
			assert_int_equal(sl_encoding_digits(&e), bits);
			for (int k = -(8 << bits); k <= 8 << bits; k++) {
				float base = (float)(step * 5), theta = (float)((double)base + step * k / 8);
				long double u = ((long double)theta - base) / step;
				assert_int_equal(encoded(&e, theta, base),
						 (int64_t)nearbyintl(u) * (int64_t)e.weight);
			}
		}
}

/* The quick path of blocks and that of single elements give the same. */
TEST(blocks)
{
	static float theta[N], base[N];
	static uint64_t x[N + ALONE - 1], one[ALONE];
	struct sl_encoding e = update_of(-1, 12, 7, N);
	struct sl_encode_note note, single;
	size_t vanished = 0;
	uint64_t seed = 5;
	for (size_t l = 0; l < N; l++) {
		base[l] = (float)(any64(&seed) % 1000) / 100;
		double u = ldexp((double)(any64(&seed) % 2001) / 1000 - 1, -1 - (int)(any64(&seed) % 14));
		theta[l] = base[l] + (float)u;
	}
	assert_int_equal(sl_encoding_elements(&e, N), N + ALONE - 1);
	assert_int_equal(sl_encoding_encode(&field, &e, NULL, theta, base, N, x, &note), SL_OK);
	double rounding = 0;
	e = update_of(-1, 12, 7, 1);
	for (size_t l = 0; l < N; l++) {
		assert_int_equal(sl_encoding_encode(&field, &e, NULL, &theta[l], &base[l], 1, one, &single),
				 SL_OK);
		assert_int_equal(x[l], one[0]);
		vanished += single.vanished;
		rounding = fmax(rounding, single.rounding);
	}
	assert_true(note.vanished == vanished && vanished > 0 && note.clamped == 0);
	assert_true(note.rounding == rounding && rounding > 0 && rounding <= 0x1p-14); /* half a step */
}

/* Values beyond the range are cut, whatever `clipping` is; no numbers, and the paper's encoding, are refused.
 */
TEST(limits)
{
	struct sl_encoding e = update_of(0, 12, 1, 1);
	struct sl_encode_note note;
	uint64_t x[ALONE];
	float theta = 9.5f, base = 8;
	assert_int_equal(sl_encoding_encode(&field, &e, NULL, &theta, &base, 1, x, &note), SL_OK);
	assert_true(x[0] == 4096 && note.clamped == 1 && note.rounding == 0);
	assert_int_equal(encoded(&e, 6, base), -4096);
	assert_int_equal(encoded(&e, 7, base), -4096);
	assert_int_equal(encoded(&e, -3e38f, 3e38f), -4096);
	theta = NAN;
	assert_int_equal(sl_encoding_encode(&field, &e, NULL, &theta, &base, 1, x, &note), SL_ERR_INVALID);
	theta = 8;
	e.weight = field.p / 2 / 4096 + 1; /* a learner's own product does not fit */
	assert_int_equal(sl_encoding_encode(&field, &e, NULL, &theta, &base, 1, x, &note), SL_OK);
	theta = 9;
	assert_int_equal(sl_encoding_encode(&field, &e, NULL, &theta, &base, 1, x, &note), SL_ERR_RANGE);
	e.weight = 1;
	e.kind = SL_ENCODING_PAPER;
	e.weight_total = 1;
	assert_int_equal(sl_encoding_encode(&field, &e, NULL, &base, &base, 1, x, &note), SL_ERR_INVALID);
	e.values = SL_VALUES_EXACT;
	e.exponents = NULL;
	assert_int_equal(sl_encoding_encode(&field, &e, NULL, &base, &base, 1, x, &note), SL_ERR_INVALID);
}

#define COUNT 4u

/* A mean below 0 of a non-negative tensor becomes 0, and -0.0 becomes 0.0, with each dtype; others stay. */
TEST(non_negative_tensors)
{
	const struct sl_tensor list[COUNT] = {
		{.name = "d", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {2}, .nonnegative = true},
		{.name = "i", .dtype = SL_INT64, .dimensions = 1, .shape = {2}, .nonnegative = true},
		{.name = "v", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {3}, .nonnegative = true},
		{.name = "w", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {1}}};
	const struct sl_tensors tensors = {.items = list, .count = COUNT};
	uint8_t classes[COUNT] = {SL_CLASS_PLAIN, SL_CLASS_INTEGER, SL_CLASS_PLAIN, SL_CLASS_PLAIN};
	int16_t exponents[COUNT] = {0};
	struct model {
		double d[2];
		int64_t i[2];
		float v[3], w;
	} base = {{0.125, 0.125}, {5, 5}, {1e-4f, 1, -0.0f}, 1e-4f}, mean;
	struct sl_encoding e = update_of(0, 4, 1, 8); /* steps of 1/16 */
	e.ranges = &(struct sl_ranges){.layout = {.n = 8}, .count = COUNT, .class = classes};
	e.exponents = exponents;
	const int64_t sums[] = {-3, 3, 0, 0, -1, -1, 0, -1};
	uint64_t z[8 + 2 * 15] = {0};
	uint8_t packed[8 * sizeof z / sizeof *z + 8];
	for (size_t l = 0; l < 8; l++)
		z[l] = sl_field_lift(&field, (uint64_t)sums[l]);
	z[8 + 28] = field.p - 6; /* the last limbs of the integers */
	z[8 + 29] = 6;
	sl_bytes_pack(packed, z, sizeof z / sizeof *z, field.bits);
	assert_int_equal(sl_encoding_decode_part(&field, &e, &tensors, z, packed, 1, &base, 8, 0, 8, &mean),
			 SL_OK);
	assert_true(mean.d[0] == 0 && !signbit(mean.d[0]) && mean.d[1] == 0.3125);
	assert_true(mean.i[0] == 0 && mean.i[1] == 6);
	assert_true(mean.v[0] == 0 && mean.v[1] == 0.9375F && mean.v[2] == 0 && !signbit(mean.v[2]));
	assert_true(mean.w < -0.06F);
	e = (struct sl_encoding){
		.kind = SL_ENCODING_WEIGHTED, .values = SL_VALUES_MODEL, .decimals = 2, .weight = 1};
	z[2] = field.p - 6;
	z[8] = 1;
	assert_int_equal(sl_encoding_decode(&field, &e, &tensors, z, 8, &mean), SL_OK);
	assert_true(mean.d[0] == 0 && mean.d[1] == 0.03 && mean.i[0] == 0 && mean.v[0] == 0 &&
		    mean.w == -0.01F);
}

/* The error of the mean is at most half a step, and the roundings of three doubles and a float. */
TEST(error_of_the_mean)
{
	float base[2] = {5, -0.001f}, theta[2], mean[2];
	uint64_t seed = 11;
	for (uint32_t turn = 0; turn < 2000; turn++) {
		int range = -(int)(any64(&seed) % 12);
		struct sl_encoding e = update_of(range, 5 + turn % 20, 1, 2);
		double step = ldexp(1, range - (int)e.update_bits), edge = ldexp(1, range);
		uint64_t z[2 + ALONE - 1] = {0}, x[2 + ALONE - 1];
		long double sums[2] = {0}, weights = 0;
		for (int learner = 0; learner < 7; learner++) {
			struct sl_encode_note note;
			e.weight = 1 + any64(&seed) % 9;
			for (int k = 0; k < 2; k++) {
				double u = edge * ((double)(any64(&seed) >> 11) * 0x1p-52 - 1);
				theta[k] = base[k] + 0.999f * (float)u;
				sums[k] += (long double)e.weight * theta[k];
			}
			assert_int_equal(sl_encoding_encode(&field, &e, NULL, theta, base, 2, x, &note),
					 SL_OK);
			assert_int_equal(note.clamped, 0);
			for (size_t l = 0; l < sizeof z / sizeof *z; l++)
				z[l] = sl_field_add(&field, z[l], x[l]);
			weights += e.weight;
		}
		assert_true(z[2 + ALONE - 2] == (uint64_t)weights && z[2 + 3] == 7);
		assert_int_equal(decode(&e, NULL, z, z[2 + ALONE - 2], base, 2, mean), SL_OK);
		assert_true(fabsl(mean[0] - sums[0] / weights) <= step / 2 + 5e-7);
		assert_true(fabsl(mean[1] - sums[1] / weights) <= step / 2 + edge * 1e-7);
	}
}

/* The order of the operations, each rounded once; what no learner changes stays bit by bit. */
TEST(decoded_bits)
{
	struct sl_encoding e = update_of(-3, 13, 1, 1);
	const struct sl_tensor one = {.name = "d", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {1}};
	const struct sl_tensors doubles = {.items = &one, .count = 1};
	uint64_t seed = 3;
	for (int turn = 0; turn < 20000; turn++) {
		uint64_t z = turn % 8 == 0 ? 0 : any64(&seed) % field.p, total = 1 + any64(&seed) % 1000;
		float base = (float)(any64(&seed) >> 40) * 0x1p-20f, got;
		double wide = (double)base / 3, exact;
		volatile double mean = (double)sl_field_centred(&field, z) / (double)total;
		volatile double u = mean * 0x1p-16, sum = (double)base + u, other = wide + u;
		volatile float want = (float)sum;
		assert_int_equal(decode(&e, NULL, &z, total, &base, 1, &got), SL_OK);
		assert_true(got == want);
		assert_int_equal(decode(&e, &doubles, &z, total, &wide, 1, &exact), SL_OK);
		assert_true(exact == other);
	}
	const float base = -0.0f;
	float got = 1;
	assert_int_equal(decode(&e, NULL, &(uint64_t){0}, 7, &base, 1, &got), SL_OK);
	assert_true(got == 0 && signbit(got));
	assert_int_equal(decode(&e, NULL, &(uint64_t){0}, 0, &base, 1, &got), SL_ERR_INVALID);
}

/* The same of vectors, over every prime, 0 and the greatest and least sums among them. */
TEST(decoded_vectors)
{
	static float base[N], got[N];
	static uint64_t z[N];
	struct sl_encoding e = update_of(-3, 13, 1, N);
	uint64_t seed = 4;
	for (size_t i = 0; i < PRIMES; i++) {
		assert_int_equal(sl_field_init(&field, primes[i]), SL_OK);
		any_elements(z, N, field.p, &seed);
		z[1] = field.p / 2;
		z[2] = field.p / 2 + 1;
		uint64_t total = 1 + any64(&seed) % (field.p - 1);
		for (size_t l = 0; l < N; l++)
			base[l] = (float)(any64(&seed) >> 40) * 0x1p-20f;
		assert_int_equal(decode(&e, NULL, z, total, base, N, got), SL_OK);
		for (size_t l = 0; l < N; l++) {
			volatile double mean = (double)sl_field_centred(&field, z[l]) / (double)total;
			volatile double u = mean * 0x1p-16, sum = (double)base[l] + u;
			volatile float want = (float)sum;
			assert_true(got[l] == want);
		}
	}
}

/* 12 bits take 18 bits at ten learners, whatever the range is. */
TEST(modulus_of_updates)
{
	const struct sl_addends ten = {.learners = 10, .max_weight = 1, .n = 1000000};
	struct sl_encoding e = update_of(-9, 12, 1, 1);
	int most = 0;
	assert_int_equal(sl_encoding_modulus(&e, &ten, 61), sl_encoding_prime(18));
	e.clipping_range = 1e9;
	assert_int_equal(sl_encoding_modulus(&e, &ten, 61), sl_encoding_prime(18));
	assert_false(sl_encoding_bound(20 * 4096 + 1, &e, &ten, NULL, &most));
	assert_int_equal(most, 11);
	assert_true(sl_encoding_bound(20 * 4096 + 3, &e, &ten, NULL, &most));
	assert_int_equal(most, 12);
}
