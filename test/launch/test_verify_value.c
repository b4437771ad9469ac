/* The integers of elements: the cases that decide, and what the encoding of the daemon makes of many others.
 */
#include <math.h>

#include "common/field/encoding.h"
#include "test/graph/unit.h"
#include "test/lib/test.h"
#include "tools/launch/verify_value.h"

static void expect(const struct sl_verify_scale *scale, enum sl_dtype dtype, double theta, int64_t expected)
{
	float single = (float)theta;
	int64_t integer = (int64_t)theta;
	const void *elements[] = {[SL_FLOAT32] = &single, [SL_FLOAT64] = &theta, [SL_INT64] = &integer};
	assert_int_equal(sl_verify_value(scale, dtype, elements[dtype]), expected);
}

TEST(decisive_values)
{
	struct sl_verify_scale whole = {0}, tenth = {.decimals = 1}, thirds = {.decimals = 0, .learners = 3},
			       clipped = {.decimals = 1, .clip = 1.5}, fine = {.decimals = 12};
	static const double halves[][2] = {{0.5, 0}, {1.5, 2}, {2.5, 2}, {-0.5, 0}, {-1.5, -2}, {3.25, 3}};
	for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
		expect(&whole, SL_FLOAT32, halves[i][0], (int64_t)halves[i][1]);
		expect(&whole, SL_FLOAT64, halves[i][0], (int64_t)halves[i][1]);
	}
	expect(&tenth, SL_FLOAT64, 0.25, 2);
	expect(&tenth, SL_FLOAT64, nextafter(0.25, 1), 3); /* the product in double is 2.5 */
	expect(&thirds, SL_FLOAT32, -5, -1);
	expect(&clipped, SL_FLOAT32, 7, 15);
	expect(&clipped, SL_FLOAT64, -7, -15);
	expect(&clipped, SL_INT64, 16, 15);
	expect(&fine, SL_FLOAT64, 0x1p-1074, 0);
	expect(&fine, SL_INT64, -3, -3);
}

TEST(the_same_as_the_encoding)
{
	static const struct sl_tensor items[] = {{.name = "d", .dtype = SL_FLOAT64},
						 {.name = "f", .dtype = SL_FLOAT32}};
	static const struct sl_tensors tensors = {.items = items, .count = 2};
	struct sl_field field = field_of((UINT64_C(1) << 61) - 1);
	uint64_t seed = 23;
	for (int n = 0; n < 100000; n++) {
		uint32_t decimals = (uint32_t)(any64(&seed) % 13);
		double size = ldexp((double)(int64_t)any64(&seed), -63 - (int)(any64(&seed) % 60));
		struct {
			double d;
			float f;
		} model = {ldexp(size, 16), (float)size};
		struct sl_encoding e = {
			.decimals = decimals, .clipping_range = 65536, .weight = 1, .weight_total = 1};
		struct sl_verify_scale scale = {.decimals = decimals};
		struct sl_encode_note note;
		uint64_t x[3];
		assert_int_equal(sl_encoding_encode(&field, &e, &tensors, &model, NULL, 2, x, &note), SL_OK);
		assert_int_equal(sl_verify_value(&scale, SL_FLOAT64, &model.d),
				 sl_field_centred(&field, x[0]));
		assert_int_equal(sl_verify_value(&scale, SL_FLOAT32, &model.f),
				 sl_field_centred(&field, x[1]));
	}
}
