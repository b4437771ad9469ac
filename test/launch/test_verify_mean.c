/* The check of committed values: it accepts what decoding makes of a sum, and neither of its neighbours. */
#include <math.h>
#include <stdlib.h>

#include "common/field/encoding.h"
#include "test/graph/unit.h"
#include "test/lib/test.h"
#include "tools/launch/launch.h"
#include "tools/launch/verify_mean.h"

static const struct sl_tensor items[] = {{.name = "i", .dtype = SL_INT64},
					 {.name = "d", .dtype = SL_FLOAT64},
					 {.name = "f", .dtype = SL_FLOAT32}};
static const struct sl_tensors tensors = {.items = items, .count = 3};

struct model {
	int64_t i;
	double d;
	float f;
};

static void expect_only(const struct sl_verify_mean *mean, int64_t sum, const struct model *model)
{
	for (int side = -1; side <= 1; side++) {
		int64_t i = model->i + side;
		double d = side == 0 ? model->d : nextafter(model->d, side * HUGE_VAL);
		float f = side == 0 ? model->f : nextafterf(model->f, (float)side * HUGE_VALF);
		assert_int_equal(sl_verify_mean_holds(mean, SL_INT64, sum, &i), side == 0);
		assert_int_equal(sl_verify_mean_holds(mean, SL_FLOAT64, sum, &d), side == 0);
		assert_int_equal(sl_verify_mean_holds(mean, SL_FLOAT32, sum, &f), side == 0);
	}
}

TEST(the_mean_and_nothing_else)
{
	struct sl_field field = field_of((UINT64_C(1) << 61) - 1);
	uint64_t seed = 17;
	for (int n = 0; n < 100000; n++) {
		struct sl_encoding e = {.decimals = (uint32_t)(any64(&seed) % 13)};
		struct sl_verify_mean mean = {.scale = 1};
		for (uint32_t d = 0; d < e.decimals; d++)
			mean.scale *= 10;
		uint64_t sum = any64(&seed) >> (4 + any64(&seed) % 60), bits = 4 + any64(&seed) % 60;
		mean.weight = 1 + (any64(&seed) >> bits);
		if (n % 4 == 0)
			mean.weight = 2; /* halves of integers */
		uint64_t at = n % 2 == 0 || sum == 0 ? sum : field.p - sum;
		uint64_t z[] = {at, at, at, mean.weight};
		struct model model;
		assert_int_equal(sl_encoding_decode(&field, &e, &tensors, z, 3, &model), SL_OK);
		expect_only(&mean, sl_field_centred(&field, at), &model);
	}
}

TEST(halves)
{
	struct sl_verify_mean mean = {.scale = 10, .weight = 2};
	static const int64_t cases[][2] = {{5, 2}, {7, 4}, {-5, -2}, {-7, -4}, {1, 0}, {-1, 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int64_t other = cases[i][1] - 1; other <= cases[i][1] + 1; other++)
			assert_int_equal(sl_verify_mean_holds(&mean, SL_INT64, cases[i][0], &other),
					 other == cases[i][1]);
	const double wild[] = {NAN, HUGE_VAL, -0.25, 0, 0x1p-1074};
	for (size_t i = 0; i < sizeof wild / sizeof *wild; i++)
		assert_false(sl_verify_mean_holds(&mean, SL_FLOAT64, 5, &wild[i]));
	assert_true(sl_verify_mean_holds(&mean, SL_FLOAT64, 5, &(double){0.25}));
	mean.scale = mean.weight = 1; /* a tie of doubles */
	assert_true(sl_verify_mean_holds(&mean, SL_FLOAT64, (INT64_C(1) << 54) + 2, &(double){0x1p54}));
	assert_false(sl_verify_mean_holds(&mean, SL_FLOAT64, (INT64_C(1) << 54) + 2, &(double){0x1p54 + 4}));
}

/* How a round was encoded is in its row; decimals that are not, in the settings. */
TEST(encoding_of_a_round)
{
	struct sl_plan plan = {.learners = 5};
	plan.settings.decimals = 6;
	plan.settings.clipping = SL_CLIPPING_CLAMP;
	plan.settings.clipping_range = 3;
	struct sl_round_row row = {.values = SL_VALUES_UPDATE, .bits = 19, .decimals = 4};
	struct sl_encoding encoding = sl_plan_encoding(&plan, &row);
	assert_true(encoding.values == SL_VALUES_UPDATE && encoding.update_bits == 19);
	assert_true(encoding.decimals == 6 && encoding.clamp && encoding.clipping_range == 3);
	row.decimals_known = true;
	row.values = SL_VALUES_EXACT;
	encoding = sl_plan_encoding(&plan, &row);
	assert_true(encoding.values == SL_VALUES_EXACT && encoding.decimals == 4);
	assert_int_equal(encoding.weight_total, 5);
}
