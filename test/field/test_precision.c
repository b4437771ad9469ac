/* What a model needs, and what is chosen for it. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/field/precision.h"
#include "test/lib/test.h"

static struct sl_need need_of(enum sl_dtype dtype, const void *model, uint64_t n)
{
	const struct sl_tensor one = {.name = "w", .dtype = dtype, .dimensions = 1, .shape = {n}};
	const struct sl_tensors tensors = {&one, 1};
	struct sl_need need;
	sl_precision_measure(SL_VALUES_MODEL, &tensors, model, NULL, n, &need);
	return need;
}

TEST(a_range_is_twice_to_four_times_the_largest)
{
	static const struct {
		float value;
		double range;
	} cases[] = {{1, 2},   {-1, 2},	  {1.0000001f, 4},	 {15.9f, 32},
		     {16, 32}, {0.3f, 1}, {0x1p-149f, 0x1p-148}, {__FLT_MAX__, 0x1p129},
		     {0, 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		float model[] = {0, cases[i].value, -cases[i].value / 2, NAN, INFINITY};
		struct sl_need need = need_of(SL_FLOAT32, model, 5);
		assert_true(need.range == cases[i].range);
		assert_true(need.unit == ldexp(cases[i].range, -24));
		assert_int_equal(need.whole, 0);
	}
}

TEST(the_largest_range_is_finite)
{
	const double model[] = {DBL_MAX, 1};
	assert_true(need_of(SL_FLOAT64, model, 2).range == 0x1p1023);
	assert_true(need_of(SL_FLOAT64, model, 2).unit == 0x1p983);
}

TEST(whole_numbers_need_their_bits)
{
	int64_t model[] = {0, -5, 3, 1000}, least[] = {INT64_MIN};
	struct sl_need need = need_of(SL_INT64, model, 4);
	assert_int_equal(need.whole, 1023);
	assert_true(need.unit == 0);
	assert_true(need.range == 0);
	assert_true(need_of(SL_INT64, least, 1).whole == UINT64_MAX);
	assert_int_equal(need_of(SL_INT64, model, 1).whole, 0);
}

TEST(each_dtype_counts)
{
	const struct sl_tensor items[] = {{.name = "a", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {1}},
					  {.name = "b", .dtype = SL_INT64},
					  {.name = "c", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {2}}};
	struct {
		double a;
		int64_t b;
		float c[2];
	} model = {3, -7, {0.5f, -9}};
	const struct sl_tensors tensors = {items, 3};
	struct sl_need need;
	sl_precision_measure(SL_VALUES_MODEL, &tensors, &model, NULL, 4, &need);
	assert_true(need.range == 32);
	assert_int_equal(need.whole, 7);
	assert_true(need.unit == 0x1p-37); /* of a */
	model.c[1] = 0x1p-14f;
	model.c[0] = 0;
	sl_precision_measure(SL_VALUES_MODEL, &tensors, &model, NULL, 4, &need);
	assert_true(need.range == 8);
	assert_true(need.unit == 0x1p-37); /* as that of c, 2^-13 less 24 bits */
	model.c[1] /= 2;
	sl_precision_measure(SL_VALUES_MODEL, &tensors, &model, NULL, 4, &need);
	assert_true(need.unit == 0x1p-38); /* a tensor of small values keeps its digits beside a large one */
	model.c[1] = 0;
	sl_precision_measure(SL_VALUES_MODEL, &tensors, &model, NULL, 4, &need);
	assert_true(need.unit == 0x1p-37); /* zeros need none */
}

static void expect(struct sl_need need, struct sl_precision set, uint32_t decimals, double range)
{
	sl_precision_fit(&set, &need);
	assert_int_equal(set.decimals, decimals);
	assert_true(set.clipping_range == range);
}

#define AUTO ((struct sl_precision){SL_VALUES_MODEL, SL_DECIMALS_AUTO, 0, SL_CLIPPING_RANGE_AUTO, false})

TEST(what_is_auto_is_chosen)
{
	const struct sl_need half = {.range = 2, .unit = 0x1p-23};
	expect(half, AUTO, 7, 2); /* 10^-7 <= 2 / 2^24 = 1.19e-7 < 10^-6 */
	expect(half, (struct sl_precision){SL_VALUES_MODEL, 3, 0, SL_CLIPPING_RANGE_AUTO, false}, 3, 2);
	expect(half, (struct sl_precision){SL_VALUES_MODEL, SL_DECIMALS_AUTO, 0, 16, false}, 7, 16);
	expect(half, (struct sl_precision){SL_VALUES_MODEL, 4, 0, 16, false}, 4, 16);
	expect((struct sl_need){.range = 0x1p24, .unit = 1}, AUTO, 0, 0x1p24);
	expect((struct sl_need){.range = 0x1p30, .unit = 64}, AUTO, 0, 0x1p30);
	expect((struct sl_need){.range = 0x1p-60, .unit = 0x1p-84}, AUTO, SL_DECIMALS_MAX, 0x1p-60);
	expect((struct sl_need){.range = 2, .unit = 0x1p-39}, AUTO, 12, 2);
	expect((struct sl_need){0}, AUTO, 0, 1); /* zeros */
}

TEST(whole_numbers_fit)
{
	expect((struct sl_need){.whole = 1023}, AUTO, 0, 1024);
	expect((struct sl_need){.whole = 1023},
	       (struct sl_precision){SL_VALUES_MODEL, 4, 0, SL_CLIPPING_RANGE_AUTO, false}, 4, 1);
	expect((struct sl_need){.whole = (1 << 20) - 1},
	       (struct sl_precision){SL_VALUES_MODEL, 4, 0, SL_CLIPPING_RANGE_AUTO, false}, 4, 128);
	expect((struct sl_need){.whole = 1023},
	       (struct sl_precision){SL_VALUES_MODEL, SL_DECIMALS_AUTO, 0, 16, false}, 2, 16);
	expect((struct sl_need){.range = 2, .unit = 0x1p-23, .whole = 255}, AUTO, 7,
	       2); /* 2 * 10^7 is more */
	for (uint64_t whole = 1; whole != UINT64_MAX; whole = whole * 2 + 1) {
		struct sl_precision p = AUTO;
		sl_precision_fit(&p, &(struct sl_need){.range = 2, .unit = 0x1p-23, .whole = whole});
		assert_true(p.clipping_range * pow(10, p.decimals) >= (double)whole);
		assert_true(pow(10, -(double)p.decimals) <= 0x1p-23);
	}
}

static uint32_t lower(uint32_t decimals, double range, uint64_t max_weight, uint32_t bits)
{
	const struct sl_encoding encoding = {.decimals = decimals, .clipping_range = range};
	const struct sl_addends addends = {.learners = 4, .max_weight = max_weight, .n = 1};
	return sl_precision_lower(&encoding, &addends, bits);
}

/* 1 + 2 10^d range 4 max_weight is below 2^61 = 2.3 10^18, or 2^44 = 1.76 10^13. */
TEST(decimals_are_lowered_as_far_as_need_be)
{
	assert_int_equal(lower(12, 16, 1, 61), 12);
	assert_int_equal(lower(12, 16, 1000000, 61), 10);
	assert_int_equal(lower(12, 16, 1, 44), 11);
	assert_int_equal(lower(5, 16, 1, 44), 5);
	assert_int_equal(lower(12, 0x1p57, 1, 61), 0);
	assert_int_equal(lower(12, 0x1p58, 1, 61), 12); /* none will do */
}

/* ---- updates ---- */

static void expect_update(struct sl_need need, double set_range, uint32_t bits, double range)
{
	struct sl_precision set = {SL_VALUES_UPDATE, SL_DECIMALS_AUTO, 12, set_range, false};
	sl_precision_fit(&set, &need);
	assert_int_equal(set.update_bits, bits);
	assert_int_equal(set.decimals, 0);
	assert_true(set.clipping_range == range);
}

TEST(bits_of_an_update)
{
	const double any = SL_CLIPPING_RANGE_AUTO;
	expect_update((struct sl_need){.range = 0.25, .unit = 0.25}, any, 12, 0.25);
	expect_update((struct sl_need){.range = 0.25, .unit = 0x1p-6}, any, 12, 0.25);
	expect_update((struct sl_need){.range = 0.25, .unit = 0x1p-7}, any, 13, 0.25); /* it keeps 8 */
	expect_update((struct sl_need){.range = 0.25, .unit = 0x1p-14}, any, 20, 0.25);
	expect_update((struct sl_need){.range = 0.25, .unit = 0x1p-60}, any, 20, 0.25); /* nearly frozen */
	expect_update((struct sl_need){.range = 0.25, .unit = 0x1p-8}, 3, 14, 3);
	expect_update((struct sl_need){.range = 1, .unit = 1, .whole = 0x1ffff}, any, 17, 1);
	expect_update((struct sl_need){.range = 1, .unit = 1, .whole = UINT64_MAX}, any, SL_UPDATE_BITS_MAX,
		      1);
	struct sl_precision few = {SL_VALUES_UPDATE, 0, 4, any, false};
	sl_precision_fit(&few, &(struct sl_need){.range = 0.25, .unit = 0.125}); /* as few as were set */
	assert_int_equal(few.update_bits, 5);
	struct sl_precision none = {SL_VALUES_UPDATE, 0, 12, any, false};
	sl_precision_fit(&none, &(struct sl_need){0}); /* all are 0: any positive range will do */
	assert_true(none.clipping_range > 0 && none.update_bits == 12);
}

/* Before the first commit, each tensor keeps 8 bits more than the setting below its own range. */
TEST(bits_of_a_whole_model)
{
	static const struct {
		struct sl_need need;
		uint32_t set, bits;
	} cases[] = {{{.range = 0.25, .unit = 0.25}, 12, 20},
		     {{.range = 0.25, .unit = 0x1p-8}, 12, 26},
		     {{.range = 0.25, .unit = 0x1p-8}, 4, 18},
		     {{.range = 0.25, .unit = 0x1p-60}, 12, SL_UPDATE_BITS_MAX},
		     {{.range = 1, .unit = 1, .whole = 0x1ffffff}, 12, 25},
		     {{.range = 0}, 12, 20}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sl_precision set = {SL_VALUES_UPDATE, 0, cases[i].set, SL_CLIPPING_RANGE_AUTO, true};
		sl_precision_fit(&set, &cases[i].need);
		assert_int_equal(set.update_bits, cases[i].bits);
	}
}

TEST(range_of_an_update)
{
	const struct sl_tensor list[] = {{.name = "d", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {1}},
					 {.name = "i", .dtype = SL_INT64, .dimensions = 1, .shape = {1}},
					 {.name = "f", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {2}}};
	const struct sl_tensors all = {list, 3};
	struct {
		double d;
		int64_t i;
		float f[2];
	} model = {1.0625, INT64_MIN, {8, -3}}, base = {1, INT64_MAX, {8.5f, -3}};
	struct sl_need need;
	sl_precision_measure(SL_VALUES_UPDATE, &all, &model, &base, 4, &need);
	assert_true(need.range == 0.5 && need.unit == 0.0625 && need.whole == UINT64_MAX);
	model.f[0] = 9.01f;
	model.d = 1;
	sl_precision_measure(SL_VALUES_UPDATE, &all, &model, &base, 4, &need);
	assert_true(need.range == 1 && need.unit == 1); /* the least that is not below; zeros do not count */
	sl_precision_measure(SL_VALUES_UPDATE, &all, &model, NULL, 4, &need);
	assert_true(need.range == 16 && need.unit == 1);
	sl_precision_measure(SL_VALUES_MODEL, &all, &model, &base, 4, &need);
	assert_true(need.range == 32 && need.unit == 0x1p-39);
}
