/* Encoding and decoding of float64 and int64 (ROUND.md §4.2 Encoding, §4.6 Decoding), and what rounding
 * costs. */
#include "test/graph/unit.h"
#include "test/lib/test.h"

#include <math.h>
#include <string.h>

#include "test/lib/encoding.h"

#define P61 ((UINT64_C(1) << 61) - 1)

typedef unsigned __int128 wide;

static const struct sl_tensor one_double = {.name = "d", .dtype = SL_FLOAT64},
			      one_integer = {.name = "i", .dtype = SL_INT64};
static const struct sl_tensors a_double = {.items = &one_double, .count = 1},
			       an_integer = {.items = &one_integer, .count = 1};

static uint64_t ten_to(uint32_t digits)
{
	uint64_t power = 1;
	while (digits-- > 0)
		power *= 10;
	return power;
}

static int encode1(const struct sl_tensors *tensors, const struct sl_encoding *e, const void *theta,
		   int64_t *value, struct sl_encode_note *note)
{
	struct sl_field field = field_of(P61);
	uint64_t x[2] = {0};
	int rc = sl_encoding_encode(&field, e, tensors, theta, NULL, 1, x, note);
	assert_true(rc != SL_OK || x[1] == (e->kind == SL_ENCODING_PAPER ? 0 : e->weight));
	*value = sl_field_centred(&field, x[0]);
	return rc;
}

TEST(doubles)
{
	static const struct {
		uint32_t decimals;
		uint64_t weight;
		double theta;
		int64_t encoded;
	} cases[] = {
		{0, 1, 0.5, 0},
		{0, 1, 1.5, 2},
		{0, 1, -2.5, -2},
		{1, 1, 0.25, 2},
		{1, 1, 0.05, 1}, /* a little more than 1/20; as a double the product is 0.5 */
		{1, 1, -0.05, -1},
		{1, 7, 0.35, 3 * 7}, /* a little less than 7/20 */
		{12, 1, 0.1, 100000000000},
		{12, 1, 0x1p18, INT64_C(262144000000000000)},
		{0, 1, 0x1p52 + 1, (INT64_C(1) << 52) + 1},
		{0, 1, 0x1.fffffffffffffp51, INT64_C(1) << 52}, /* a half */
		{0, 1, -0x1.fffffffffffffp59, -(INT64_C(1) << 60) + 128},
		{0, 0, 3, 0},
		{0, 1, -0.0, 0},
		{12, 1, 0x1p-1074, 0},
	};
	struct sl_encode_note note;
	int64_t value;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sl_encoding e = {SL_ENCODING_WEIGHTED,
					SL_VALUES_MODEL,
					cases[i].decimals,
					0,
					HUGE_VAL,
					false,
					cases[i].weight,
					0,
					NULL,
					NULL,
					{0}};
		assert_int_equal(encode1(&a_double, &e, &cases[i].theta, &value, &note), SL_OK);
		assert_int_equal(value, cases[i].encoded);
	}
}

/* Return rint of the exact product, ties to even: a quadruple holds it. */
static int64_t product_of(double theta, uint64_t scale)
{
	__float128 exact = (__float128)fabs(theta) * scale;
	int64_t whole = (int64_t)exact;
	__float128 rest = exact - whole;
	whole += rest > 0.5 || (rest == 0.5 && whole % 2 == 1);
	return theta < 0 ? -whole : whole;
}

/* Doubles beside a half, where the product in doubles may fall on the other side. */
TEST(doubles_against_quadruples)
{
	struct sl_encode_note note;
	uint64_t seed = 11;
	int64_t value;
	for (int n = 0; n < 200000; n++) {
		uint32_t decimals = (uint32_t)(any64(&seed) % 13);
		uint64_t scale = ten_to(decimals);
		double half = (double)(any64(&seed) >> (8 + any64(&seed) % 50)) + 0.5;
		double theta = half / (double)scale;
		for (uint64_t step = any64(&seed) % 3; step > 0; step--)
			theta = nextafter(theta, n % 2 == 0 ? 0 : HUGE_VAL);
		struct sl_encoding e = {SL_ENCODING_WEIGHTED,
					SL_VALUES_MODEL,
					decimals,
					0,
					HUGE_VAL,
					false,
					1,
					0,
					NULL,
					NULL,
					{0}};
		theta = n % 3 == 0 ? -theta : theta;
		assert_int_equal(encode1(&a_double, &e, &theta, &value, &note), SL_OK);
		assert_int_equal(value, product_of(theta, scale));
	}
}

TEST(range_of_doubles)
{
	struct sl_encoding e = {
		SL_ENCODING_WEIGHTED, SL_VALUES_MODEL, 4, 0, 0.3, false, 1, 0, NULL, NULL, {0}};
	struct sl_encode_note note;
	int64_t value;
	double most = 0.3, above = nextafter(0.3, 1), wild[] = {NAN, INFINITY, -INFINITY};
	assert_int_equal(encode1(&a_double, &e, &most, &value, &note), SL_OK);
	assert_int_equal(value, 3000);
	assert_int_equal(encode1(&a_double, &e, &above, &value, &note), SL_ERR_RANGE);
	assert_true(note.value == above);
	e.clamp = true;
	above = -1e300;
	assert_int_equal(encode1(&a_double, &e, &above, &value, &note), SL_OK);
	assert_int_equal(value, -3000);
	assert_int_equal(note.clamped, 1);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(encode1(&a_double, &e, &wild[i], &value, &note), SL_ERR_INVALID);
	e = (struct sl_encoding){
		SL_ENCODING_WEIGHTED, SL_VALUES_MODEL, 12, 0, HUGE_VAL, false, 1, 0, NULL, NULL, {0}};
	const double large[] = {0x1p21, 0x1p60, 0x1p107, 0x1p1023}; /* nothing wraps */
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(encode1(&a_double, &e, &large[i], &value, &note), SL_ERR_RANGE);
	e = (struct sl_encoding){
		SL_ENCODING_PAPER, SL_VALUES_MODEL, 2, 0, 1e6, false, 1, 100, NULL, NULL, {0}};
	const double paper = -1.99;
	assert_int_equal(encode1(&a_double, &e, &paper, &value, &note), SL_OK);
	assert_int_equal(value, -1);
}

TEST(integers)
{
	static const struct {
		uint32_t decimals;
		double clipping_range;
		uint64_t weight;
		int64_t value;
		int rc;
	} cases[] = {
		{2, 1.5, 1, 150, SL_OK},
		{2, 1.5, 1, -150, SL_OK},
		{2, 1.5, 1, 151, SL_ERR_RANGE},
		{2, 1.5, 1, -151, SL_ERR_RANGE},
		{1, 0.3, 1, 2, SL_OK}, /* 0.3 is a little less than three tenths */
		{1, 0.3, 1, 3, SL_ERR_RANGE},
		{0, 5, 0, 5, SL_OK},
		{0, 5, 0, 6, SL_ERR_RANGE},
		{0, HUGE_VAL, 1, (INT64_C(1) << 60) - 1, SL_OK},
		{0, HUGE_VAL, 1, 1 - (INT64_C(1) << 60), SL_OK},
		{0, HUGE_VAL, 1, INT64_C(1) << 60, SL_ERR_RANGE},
		{0, HUGE_VAL, 2, INT64_C(1) << 59, SL_ERR_RANGE},
		{0, HUGE_VAL, 1, INT64_MIN, SL_ERR_RANGE},
		{0, HUGE_VAL, 1, INT64_MAX, SL_ERR_RANGE},
		{0, HUGE_VAL, 1 << 20, 1 - (INT64_C(1) << 40), SL_OK},
	};
	struct sl_encode_note note;
	int64_t value;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sl_encoding e = {SL_ENCODING_WEIGHTED,
					SL_VALUES_MODEL,
					cases[i].decimals,
					0,
					cases[i].clipping_range,
					false,
					cases[i].weight,
					0,
					NULL,
					NULL,
					{0}};
		assert_int_equal(encode1(&an_integer, &e, &cases[i].value, &value, &note), cases[i].rc);
		if (cases[i].rc == SL_OK)
			assert_int_equal(value, cases[i].value * (int64_t)cases[i].weight);
		else
			assert_true(note.value == (double)cases[i].value);
		assert_true(note.rounding == 0 && note.vanished == 0);
	}
	struct sl_encoding e = {
		SL_ENCODING_WEIGHTED, SL_VALUES_MODEL, 2, 0, 1.5, true, 3, 0, NULL, NULL, {0}};
	assert_int_equal(encode1(&an_integer, &e, &(int64_t){INT64_MIN}, &value, &note), SL_OK);
	assert_int_equal(value, -450);
	assert_int_equal(note.clamped, 1);
	e = (struct sl_encoding){
		SL_ENCODING_PAPER, SL_VALUES_MODEL, 2, 0, 16, false, 1, 100, NULL, NULL, {0}};
	assert_int_equal(encode1(&an_integer, &e, &(int64_t){1}, &value, &note), SL_ERR_INVALID);
}

static int decode1(const struct sl_tensors *tensors, uint32_t decimals, int64_t sum, uint64_t weight,
		   void *mean)
{
	struct sl_field field = field_of(P61);
	struct sl_encoding e = {.kind = SL_ENCODING_WEIGHTED, .decimals = decimals};
	uint64_t z[] = {sum < 0 ? field.p - (uint64_t)-sum : (uint64_t)sum, weight};
	return sl_encoding_decode(&field, &e, tensors, z, 1, mean);
}

TEST(means_of_integers)
{
	static const int64_t cases[][3] = {
		/* sum, weight, mean */
		{5, 2, 2},
		{7, 2, 4},
		{-5, 2, -2},
		{-7, 2, -4},
		{1, 3, 0},
		{2, 3, 1},
		{-2, 3, -1},
		{0, 9, 0},
		{INT64_C(1152921504606846975), 1, INT64_C(1152921504606846975)}, /* not a double */
		{INT64_C(1152921504606846975), 2, INT64_C(576460752303423488)},
		{INT64_C(-1152921504606846973), 2, INT64_C(-576460752303423486)},
		{3, INT64_C(1) << 60, 0},
		{(INT64_C(1) << 59), INT64_C(1) << 60, 0},
		{(INT64_C(1) << 59) + 1, INT64_C(1) << 60, 1},
	};
	int64_t mean;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(decode1(&an_integer, 6, cases[i][0], (uint64_t)cases[i][1], &mean), SL_OK);
		assert_int_equal(mean, cases[i][2]);
	}
	assert_int_equal(decode1(&an_integer, 6, 5, 0, &mean), SL_ERR_INVALID);
}

/* Return true if `mean`, which is close to top / bottom, is the double nearest to it, ties to even. The
 * difference of 2^e top and m * bottom is small, so that its low 128 bits are all of it. */
static bool nearest(uint64_t top, wide bottom, double mean)
{
	int e;
	uint64_t m = (uint64_t)(frexp(mean, &e) * 0x1p53);
	e -= 53;
	wide left = e > 0 ? top : e > -128 ? (wide)top << -e : 0;
	wide right = (e > 0 ? (wide)m << e : m) * bottom, unit = e > 0 ? bottom << e : bottom;
	__int128 twice = 2 * (__int128)(left - right);
	wide gap = twice < 0 ? -(wide)twice : (wide)twice;
	if (m == UINT64_C(1) << 52 && twice < 0)
		gap *= 2;
	return gap < unit || (gap == unit && m % 2 == 0);
}

TEST(means_of_doubles)
{
	uint64_t seed = 13;
	double mean;
	assert_int_equal(decode1(&a_double, 1, -7, 2, &mean), SL_OK);
	assert_true(mean == -0.35);
	assert_int_equal(decode1(&a_double, 4, 0, 2, &mean), SL_OK);
	assert_true(mean == 0 && !signbit(mean));
	assert_int_equal(decode1(&a_double, 0, (INT64_C(1) << 54) + 2, 1, &mean), SL_OK); /* a tie */
	assert_true(mean == 0x1p54);
	for (int n = 0; n < 200000; n++) {
		uint32_t decimals = (uint32_t)(any64(&seed) % 13);
		uint64_t sum = any64(&seed) >> (4 + any64(&seed) % 60),
			 weight = 1 + (any64(&seed) >> (4 + any64(&seed) % 60));
		wide bottom = (wide)ten_to(decimals) * weight;
		assert_int_equal(decode1(&a_double, decimals, (int64_t)sum, weight, &mean), SL_OK);
		assert_true(fabs(mean * (double)bottom - (double)sum) <= 1e-9 * (double)sum);
		assert_true(sum == 0 || nearest(sum, bottom, mean));
	}
}

/* A model of three dtypes. */
struct mixed {
	int64_t i[2];
	double d[3];
	float f[3];
};
static const struct mixed a_mixed = {{-70000, 3}, {0.0015, -99.9, 0.0002}, {0.5f, 0.0003f, -0.0625f}};
static const struct sl_tensor items[] = {
	{.name = "i", .dtype = SL_INT64, .dimensions = 1, .shape = {2}},
	{.name = "d", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {3}},
	{.name = "f", .dtype = SL_FLOAT32, .dimensions = 2, .shape = {1, 3}}};
static const struct sl_tensors tensors = {.items = items, .count = 3};

/* Three dtypes in one model: each element in its place, and an error names it. */
TEST(a_mixed_model)
{
	struct sl_field field = field_of(P61);
	struct sl_encoding e = {
		SL_ENCODING_WEIGHTED, SL_VALUES_MODEL, 3, 0, 100, false, 2, 0, NULL, NULL, {0}};
	struct mixed model = a_mixed, mean;
	static const int64_t expected[] = {-140000, 6, 4, -199800, 0, 1000, 0, -124, 2};
	struct sl_encode_note note;
	uint64_t x[9];
	assert_int_equal(sl_encoding_encode(&field, &e, &tensors, &model, NULL, 8, x, &note), SL_OK);
	for (size_t l = 0; l < 9; l++)
		assert_int_equal(sl_field_centred(&field, x[l]), expected[l]);
	assert_true(fabs(note.rounding - 0.0005) < 1e-15); /* of -0.0625; the means below are exact */
	assert_int_equal(note.vanished, 2);
	assert_int_equal(sl_encoding_decode(&field, &e, &tensors, x, 8, &mean), SL_OK);
	assert_true(mean.i[0] == -70000 && mean.i[1] == 3 && mean.d[0] == 0.002 && mean.d[1] == -99.9);
	assert_true(mean.d[2] == 0 && mean.f[0] == 0.5f && mean.f[1] == 0 && mean.f[2] == -0.062f);
	model.f[1] = -100.5f;
	assert_int_equal(sl_encoding_encode(&field, &e, &tensors, &model, NULL, 8, x, &note), SL_ERR_RANGE);
	assert_true(note.index == 6 && note.value == -100.5);
	model.d[2] = NAN;
	assert_int_equal(sl_encoding_encode(&field, &e, &tensors, &model, NULL, 8, x, &note), SL_ERR_INVALID);
	assert_int_equal(note.index, 4);
	model.i[1] = 100001;
	assert_int_equal(sl_encoding_encode(&field, &e, &tensors, &model, NULL, 8, x, &note), SL_ERR_RANGE);
	assert_int_equal(note.index, 1);
}

/* Any part of a model has the elements, and decodes to the bytes, that it has in the whole. */
TEST(parts_of_a_mixed_model)
{
	struct sl_field field = field_of(P61);
	struct sl_encoding e = {
		.kind = SL_ENCODING_WEIGHTED, .decimals = 3, .clipping_range = 100, .weight = 2};
	struct mixed model = a_mixed, whole, mean;
	struct sl_encode_note note, part;
	uint64_t x[9];
	assert_int_equal(sl_encoding_encode(&field, &e, &tensors, &model, NULL, 8, x, &note), SL_OK);
	assert_int_equal(sl_encoding_decode(&field, &e, &tensors, x, 8, &whole), SL_OK);
	for (size_t first = 0; first < 9; first++)
		for (size_t count = 1; first + count <= 9; count++) {
			uint64_t y[10];
			y[count] = 77;
			assert_int_equal(sl_encoding_encode_part(&field, &e, &tensors, &model, NULL, 8, first,
								 count, y, &part),
					 SL_OK);
			assert_memory_equal(y, x + first, count * sizeof *y);
			assert_int_equal(y[count], 77);
			assert_true(part.rounding <= note.rounding && part.vanished <= note.vanished);
		}
	for (size_t size = 1; size <= 8; size++) {
		memset(&mean, 0xa5, sizeof mean);
		for (size_t at = 0; at < 8; at += size)
			assert_int_equal(sl_encoding_decode_part(&field, &e, &tensors, x + at, NULL, x[8],
								 NULL, 8, at, 8 - at < size ? 8 - at : size,
								 (uint8_t *)&mean +
									 sl_tensors_offset(&tensors, 8, at)),
					 SL_OK);
		assert_memory_equal(mean.i, whole.i, sizeof mean.i);
		assert_memory_equal(mean.d, whole.d, sizeof mean.d);
		assert_memory_equal(mean.f, whole.f, sizeof mean.f);
	}
	model.f[1] = -100.5f;
	assert_int_equal(sl_encoding_encode_part(&field, &e, &tensors, &model, NULL, 8, 5, 3, x, &part),
			 SL_ERR_RANGE);
	assert_int_equal(part.index, 6); /* of the model */
}
