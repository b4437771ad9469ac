/* Exact rounds (ROUND.md §4.2 Encoding, §4.6 Decoding): what learners encode adds up to the exact mean,
 * whole or by parts. */
#include "test/field/big.h"
#include "test/lib/test.h"

#include "common/base/bytes.h"
#include "test/lib/encoding.h"

#define TENSORS 6u
#define N 20u
#define ALL (N * 256 + 1) /* with limbs of one bit */

struct model {
	double d[5];
	int64_t i[4];
	double m;
	float f[6], v[4];
};
static const struct sl_tensor list[TENSORS] = {
	{.name = "d", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {5}},
	{.name = "i", .dtype = SL_INT64, .dimensions = 1, .shape = {4}},
	{.name = "metric:m", .dtype = SL_FLOAT64},
	{.name = "none", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {0}},
	{.name = "f", .dtype = SL_FLOAT32, .dimensions = 2, .shape = {2, 3}},
	{.name = "v", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {4}, .nonnegative = true}};
static const struct sl_tensors tensors = {.items = list, .count = TENSORS};
static const size_t begin[TENSORS + 1] = {0, 5, 9, 10, 10, 16, 20};
static uint8_t classes[TENSORS] = {SL_CLASS_PLAIN, SL_CLASS_INTEGER, SL_CLASS_METRIC,
				   SL_CLASS_PLAIN, SL_CLASS_PLAIN,   SL_CLASS_NONNEGATIVE};
/* Sizes of models; of each, how large the values of plain tensors are. */
static const uint64_t sizes[] = {N, 65537, 16777217};
static const int tops[] = {128, 64, 24}, bottoms[] = {-128, -64, -40};

static struct sl_field field;
static struct sl_ranges ranges;
static uint64_t x[ALL], z[ALL], part[ALL + 1];

/* Return the encoding of a model of the size `size`, whose plain tensors have only a few elements here. */
static struct sl_encoding exact_of(size_t size, uint32_t bits)
{
	assert_int_equal(sl_field_init(&field, (UINT64_C(1) << 61) - 1), SL_OK);
	ranges = (struct sl_ranges){.layout = {.n = sizes[size],
					       .tensors = TENSORS,
					       .elements = {[SL_CLASS_PLAIN] = 11,
							    [SL_CLASS_NONNEGATIVE] = 4,
							    [SL_CLASS_METRIC] = 1,
							    [SL_CLASS_INTEGER] = 4}},
				    .count = TENSORS,
				    .class = classes};
	return (struct sl_encoding){.kind = SL_ENCODING_WEIGHTED,
				    .values = SL_VALUES_EXACT,
				    .update_bits = bits,
				    .weight = 1,
				    .ranges = &ranges};
}

static uint32_t tensor_of(size_t l)
{
	uint32_t k = 0;
	while (begin[k + 1] <= l)
		k++;
	return k;
}

static int bottom_of(size_t l, size_t size)
{
	uint32_t k = tensor_of(l);
	return classes[k] == SL_CLASS_INTEGER ? 0 : classes[k] == SL_CLASS_PLAIN ? bottoms[size] : -128;
}

static int top_of(size_t l, size_t size)
{
	return classes[tensor_of(l)] == SL_CLASS_PLAIN ? tops[size] : 128;
}

static double real_of(const struct model *model, size_t l)
{
	return l < 5	? model->d[l]
	       : l == 9 ? model->m
	       : l < 16 ? (double)model->f[l - 10]
			: (double)model->v[l - 16];
}

static void set_real(struct model *model, size_t l, double real)
{
	if (l < 5 || l == 9)
		*(l < 5 ? &model->d[l] : &model->m) = real;
	else
		*(l < 16 ? &model->f[l - 10] : &model->v[l - 16]) = (float)real;
}

static void draw(uint64_t *seed, size_t size, struct model *model)
{
	for (size_t l = 0; l < N; l++) {
		double part_of_it = (double)((int64_t)any64(seed) >> 10) * 0x1p-53;
		int top = top_of(l, size), bottom = bottom_of(l, size);
		int exponent = top - (int)(any64(seed) % (uint64_t)(top - bottom + 4));
		if (l >= 5 && l < 9)
			model->i[l - 5] = (int64_t)any64(seed) >> any64(seed) % 64;
		else
			set_real(model, l, ldexp(part_of_it, exponent - 1));
	}
}

static BIGNUM *units_of(const struct model *model, size_t l, size_t size)
{
	if (l < 5 || l >= 9)
		return big_units(real_of(model, l), bottom_of(l, size));
	int64_t integer = model->i[l - 5];
	return big_of(integer < 0 ? -(uint64_t)integer : (uint64_t)integer, integer < 0);
}

static size_t elements(const struct sl_encoding *e)
{
	return (size_t)sl_encoding_elements(e, N);
}

/* Encode `model` to x, by parts of any sizes too, which must be the same. */
static void encode(uint64_t *seed, const struct sl_encoding *e, const struct model *model)
{
	struct sl_encode_note note, some;
	size_t all = elements(e), vanished = 0, sizes_most = 1 + any64(seed) % all;
	double rounding = 0;
	assert_true(all <= ALL);
	assert_int_equal(sl_encoding_encode(&field, e, &tensors, model, NULL, N, x, &note), SL_OK);
	assert_int_equal(x[all - 1], e->weight);
	assert_int_equal(note.clamped, 0);
	memset(part, 0xa5, sizeof part);
	for (size_t at = 0, count; at < all; at += count) {
		count = 1 + any64(seed) % sizes_most;
		count = count < all - at ? count : all - at;
		uint64_t guard = part[at + count];
		assert_int_equal(sl_encoding_encode_part(&field, e, &tensors, model, NULL, N, at, count,
							 part + at, &some),
				 SL_OK);
		assert_int_equal(part[at + count], guard);
		vanished += some.vanished;
		rounding = fmax(rounding, some.rounding);
	}
	assert_memory_equal(part, x, all * sizeof *x);
	assert_true(vanished == note.vanished && rounding == note.rounding);
}

/* Decode z to *mean by parts of at most `most` elements. */
static void decode(uint64_t *seed, const struct sl_encoding *e, size_t most, struct model *mean)
{
	static uint8_t packed[8 * ALL + 8];
	static struct model some;
	size_t all = elements(e);
	sl_bytes_pack(packed, z, all, field.bits);
	memset(mean, 0xa5, sizeof *mean);
	for (size_t at = 0, count; at < N; at += count) {
		count = most >= N ? N : 1 + any64(seed) % most;
		count = count < N - at ? count : N - at;
		size_t from = sl_tensors_offset(&tensors, N, at),
		       to = sl_tensors_offset(&tensors, N, at + count);
		assert_int_equal(sl_encoding_decode_part(&field, e, &tensors, z + at, packed, z[all - 1],
							 NULL, N, at, count, &some),
				 SL_OK);
		memcpy((uint8_t *)mean + from, &some, to - from);
	}
}

/* Check element `l` of the mean, whose exact sum in units is `sum`. Floats are rounded by way of a double. */
static void expect_mean(const struct model *mean, size_t l, size_t size, const BIGNUM *sum, uint64_t weight)
{
	if (l >= 5 && l < 9) {
		assert_int_equal(mean->i[l - 5], big_mean_integer(sum, weight));
		return;
	}
	double want = big_mean(sum, bottom_of(l, size), weight);
	want = l >= 10 ? (double)(float)want : want;
	if (l >= 16)
		want = want > 0 ? want : 0;
	if (!(real_of(mean, l) == want) || (want == 0 && signbit(real_of(mean, l)) && l >= 16))
		fail_msg("element %zu is %a, not %a", l, real_of(mean, l), want);
}

static void expect_means(uint64_t *seed, size_t size, uint32_t bits, uint32_t learners)
{
	static struct model model, mean, same;
	struct sl_encoding e = exact_of(size, bits);
	BIGNUM *sums[N];
	uint64_t most = (UINT64_C(1) << (60 - bits)) / learners - 1; /* of a weight: p holds the sums */
	memset(z, 0, sizeof z);
	for (size_t l = 0; l < N; l++)
		sums[l] = big_of(0, false);
	for (uint32_t i = 0; i < learners; i++) {
		e.weight = (i == 0) + any64(seed) % most;
		draw(seed, size, &model);
		encode(seed, &e, &model);
		for (size_t at = 0; at < elements(&e); at++)
			z[at] = sl_field_add(&field, z[at], x[at]);
		for (size_t l = 0; l < N; l++) {
			BIGNUM *units = units_of(&model, l, size);
			assert_true(BN_mul_word(units, e.weight) == 1 &&
				    BN_add(sums[l], sums[l], units) == 1);
			BN_free(units);
		}
	}
	decode(seed, &e, N, &mean);
	decode(seed, &e, 4, &same);
	assert_memory_equal(&same, &mean, sizeof mean);
	for (size_t l = 0; l < N; l++) {
		expect_mean(&mean, l, size, sums[l], z[elements(&e) - 1]);
		BN_free(sums[l]);
	}
}

/* Limbs of each width, models of each size, and two to seven learners of any weights. */
TEST(means_are_correctly_rounded)
{
	uint64_t seed = 51;
	for (uint32_t bits = 1; bits <= 48; bits++)
		for (size_t size = 0; size < 3; size++)
			for (uint32_t learners = 2; learners <= 7; learners++)
				for (int turn = 0; turn < 4; turn++)
					expect_means(&seed, size, bits, learners);
}

/* 2^127 and -2^127 leave the least value that there is; 1e300 times as large as it. */
TEST(sums_that_cancel)
{
	static struct model model, mean;
	static const double values[][2] = {{0x1p127, 0x1p-128}, {0x1.fffffep127, 3e-38}, {1e38, -0x1.5p-100}};
	uint64_t seed = 52;
	for (uint32_t bits = 1; bits <= 48; bits++)
		for (size_t i = 0; i < 3; i++) {
			const double large = values[i][0], small = values[i][1];
			const double of[] = {large, small, -large};
			struct sl_encoding e = exact_of(0, bits);
			memset(z, 0, sizeof z);
			e.weight = 3;
			for (int learner = 0; learner < 3; learner++) {
				memset(&model, 0, sizeof model);
				model.d[1] = model.m = of[learner];
				model.f[2] = model.v[1] = (float)of[learner];
				encode(&seed, &e, &model);
				for (size_t at = 0; at < elements(&e); at++)
					z[at] = sl_field_add(&field, z[at], x[at]);
			}
			z[elements(&e) - 1] = 1; /* the mean is the sum */
			decode(&seed, &e, 7, &mean);
			double exact = 3 * ldexp(nearbyint(ldexp(small, 128)), -128);
			double single = 3 * ldexp(nearbyint(ldexp((double)(float)small, 128)), -128);
			assert_true(mean.d[1] == exact && mean.m == exact && mean.d[0] == 0);
			assert_true(mean.f[2] == (float)single);
			assert_true(mean.v[1] == (small > 0 ? (float)single : 0));
		}
}

/* The mean of equal values is that value, whatever the weights are. */
TEST(equal_values)
{
	static struct model model, mean;
	uint64_t seed = 53;
	for (int turn = 0; turn < 200; turn++) {
		struct sl_encoding e = exact_of(0, 32);
		draw(&seed, 0, &model);
		for (size_t l = 0; l < 5; l++) /* no bits below the unit */
			model.d[l] = (double)(float)model.d[l] * 0x1p20;
		for (size_t l = 0; l < N; l++)
			if ((l < 5 || l >= 9) &&
			    !(fabs(real_of(&model, l)) < 0x1p120 && fabs(real_of(&model, l)) >= 0x1p-70))
				set_real(&model, l, 0x1.8p-70);
		for (size_t l = 0; l < 4; l++)
			model.v[l] = fabsf(model.v[l]);
		model.i[0] = turn % 2 == 0 ? INT64_MIN : INT64_MAX;
		memset(z, 0, sizeof z);
		for (int learner = 0; learner < 4; learner++) {
			e.weight = any64(&seed) % (1 << 26) + (learner == 0);
			encode(&seed, &e, &model);
			for (size_t at = 0; at < elements(&e); at++)
				z[at] = sl_field_add(&field, z[at], x[at]);
		}
		decode(&seed, &e, 3, &mean);
		assert_memory_equal(&mean, &model, sizeof model);
	}
}

/* No number, and values at the top, are refused in each limb, and named. */
TEST(refusals)
{
	static struct model model;
	static const double bad[] = {NAN, INFINITY, -INFINITY};
	struct sl_encode_note note;
	uint64_t seed = 54;
	for (size_t size = 0; size < 3; size++)
		for (size_t l = 0; l < N; l++) {
			struct sl_encoding e = exact_of(size, 32);
			if (l >= 5 && l < 9)
				continue;
			draw(&seed, size, &model);
			for (size_t b = 0; b < 3; b++) {
				set_real(&model, l, bad[b]);
				assert_int_equal(
					sl_encoding_encode(&field, &e, &tensors, &model, NULL, N, x, &note),
					SL_ERR_INVALID);
				assert_int_equal(note.index, l);
			}
			double top = ldexp(1, top_of(l, size));
			if (l >= 10 && top_of(l, size) == 128)
				continue; /* no float is so large */
			set_real(&model, l, -top);
			assert_int_equal(sl_encoding_encode_part(&field, &e, &tensors, &model, NULL, N, l, 1,
								 x, &note),
					 SL_ERR_RANGE);
			assert_true(note.index == l && note.value == -top);
			set_real(&model, l, nextafter(top, 0));
			if (l >= 10)
				set_real(&model, l, (double)nextafterf((float)top, 0));
			encode(&seed, &e, &model);
		}
}

/* A lower limb alone refuses as the first one does. */
TEST(refusals_of_lower_limbs)
{
	static struct model model;
	struct sl_encode_note note;
	struct sl_encoding e = exact_of(2, 32); /* d has two limbs of 64 bits, and so has f */
	assert_int_equal(elements(&e), N + 11 + 4 + 7 + 7 * 4 + 1);
	for (size_t l = 0; l < 5; l++) {
		memset(&model, 0, sizeof model);
		model.d[l] = NAN;
		assert_int_equal(
			sl_encoding_encode_part(&field, &e, &tensors, &model, NULL, N, N + l, 1, x, &note),
			SL_ERR_INVALID);
		assert_int_equal(note.index, l);
		model.d[l] = 0x1p24;
		assert_int_equal(
			sl_encoding_encode_part(&field, &e, &tensors, &model, NULL, N, N + l, 1, x, &note),
			SL_ERR_RANGE);
		assert_int_equal(note.index, l);
	}
	model = (struct model){.d = {1.5, 0, 0, 0, -1.25}};
	e.weight = (UINT64_C(1) << 29) - 1; /* 2^31 in the upper limb times it is below 2^60 */
	assert_int_equal(sl_encoding_encode(&field, &e, &tensors, &model, NULL, N, x, &note), SL_OK);
	model.d[2] = 0x1p23;
	assert_int_equal(sl_encoding_encode(&field, &e, &tensors, &model, NULL, N, x, &note), SL_OK);
	e.weight = UINT64_C(1) << 29;
	assert_int_equal(sl_encoding_encode(&field, &e, &tensors, &model, NULL, N, x, &note), SL_ERR_RANGE);
	assert_true(note.index == 2 && note.value == 0x1p23);
}

/* What rounding leaves out of values, and how many vanish. */
TEST(notes)
{
	static struct model model;
	struct sl_encode_note note;
	struct sl_encoding e = exact_of(2, 16); /* units of 2^-40 */
	memset(&model, 0, sizeof model);
	model.d[0] = 0x1p-41;
	model.d[1] = -0x1p-42;
	model.d[2] = -0.0;
	model.f[0] = 0x1.8p-41f;
	model.v[0] = 0x1p-128f;
	model.m = 4.9e-324;
	assert_int_equal(sl_encoding_encode(&field, &e, &tensors, &model, NULL, N, x, &note), SL_OK);
	assert_int_equal(note.vanished, 3);
	assert_true(note.rounding == 0x1p-41);
	model.d[0] = 0x1p23 + 0x1p-29;
	assert_int_equal(sl_encoding_encode(&field, &e, &tensors, &model, NULL, N, x, &note), SL_OK);
	assert_int_equal(note.vanished, 2);
	assert_true(note.rounding == 0x1p-42);
	model.d[0] = 100 + 0x1.8p-42;
	assert_int_equal(sl_encoding_encode(&field, &e, &tensors, &model, NULL, N, x, &note), SL_OK);
	assert_true(note.vanished == 2 && note.rounding == 0x1.8p-42);
}

/* A model that does not count is 0 as a whole; the step of exact values is 0. */
TEST(weight_0)
{
	static struct model model, mean;
	struct sl_encoding e = exact_of(0, 32);
	uint64_t seed = 55;
	e.weight = 0;
	draw(&seed, 0, &model);
	encode(&seed, &e, &model);
	for (size_t at = 0; at < elements(&e); at++)
		assert_int_equal(x[at], 0);
	assert_int_equal(
		sl_encoding_decode_part(&field, &e, &tensors, x, (const uint8_t *)x, 0, NULL, N, 0, N, &mean),
		SL_ERR_INVALID);
	assert_true(sl_encoding_step(&e) == 0 && sl_encoding_digits(&e) == 32);
	assert_true(sl_encoding_largest(&e) == UINT64_C(1) << 32);
	sl_encoding_set_digits(&e, 7);
	assert_true(e.update_bits == 7 && e.decimals == 0);
}
