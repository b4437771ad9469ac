/* The layout of a model: runs of one dtype and declaration, their offsets, and the order of dtypes. */
#include "common/base/tensors.h"
#include "test/lib/test.h"

static const struct sl_tensor items[] = {
	{.name = "none", .dtype = SL_FLOAT32, .dimensions = 2, .shape = {0, 3}},
	{.name = "count", .dtype = SL_INT64},
	{.name = "mean", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {3}},
	{.name = "none", .dtype = SL_INT64, .dimensions = 1, .shape = {0}},
	{.name = "var", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {2}},
	{.name = "w", .dtype = SL_FLOAT32, .dimensions = 2, .shape = {2, 3}},
	{.name = "b", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {1}, .nonnegative = true},
	{.name = "none", .dtype = SL_INT64, .dimensions = 1, .shape = {0}},
};

TEST(runs)
{
	static const struct sl_tensor_run expected[] = {
		{.dtype = SL_INT64, .first = 0, .count = 1, .offset = 0},
		{.dtype = SL_FLOAT64, .first = 1, .count = 3, .offset = 8},
		{.dtype = SL_FLOAT64, .first = 4, .count = 2, .offset = 32},
		{.dtype = SL_FLOAT32, .first = 6, .count = 6, .offset = 48},
		{.dtype = SL_FLOAT32, .first = 12, .count = 1, .offset = 72, .nonnegative = true}};
	struct sl_tensors tensors = {items, 8};
	struct sl_tensor_run run = {0};
	for (size_t i = 0; i < 5; i++) {
		assert_true(sl_tensors_next(&tensors, 13, &run));
		assert_int_equal(run.dtype, expected[i].dtype);
		assert_int_equal(run.first, expected[i].first);
		assert_int_equal(run.count, expected[i].count);
		assert_int_equal(run.offset, expected[i].offset);
		assert_int_equal(run.nonnegative, expected[i].nonnegative);
	}
	assert_false(sl_tensors_next(&tensors, 13, &run));
	assert_int_equal(sl_tensors_bytes(&tensors, 13), 6 * 8 + 7 * 4);
}

TEST(parts)
{
	const struct sl_tensor_run run = {.dtype = SL_FLOAT64, .first = 4, .count = 6, .offset = 100};
	for (size_t first = 0; first < 14; first++)
		for (size_t count = 0; count < 14; count++) {
			struct sl_tensor_run part = sl_tensors_part(&run, first, count);
			size_t expected = 0, least = 0;
			for (size_t l = 10; l-- > 4;)
				if (l >= first && l < first + count) {
					expected++;
					least = l;
				}
			assert_int_equal(part.count, expected);
			if (expected > 0)
				assert_true(part.first == least && part.offset == 100 + 8 * (least - 4));
		}
}

/* A model without tensors is one run of float32. */
TEST(floats)
{
	struct sl_tensor_run run = {0};
	assert_true(sl_tensors_next(NULL, 5, &run));
	assert_true(run.dtype == SL_FLOAT32 && run.count == 5 && run.offset == 0);
	assert_false(sl_tensors_next(NULL, 5, &run));
	assert_int_equal(sl_tensors_bytes(&(struct sl_tensors){0}, 5), 20);
}

TEST(names)
{
	enum sl_dtype dtype;
	for (enum sl_dtype d = SL_FLOAT32; d <= SL_INT64; d++) {
		assert_true(sl_tensors_dtype_parse(sl_tensors_dtype_name(d), &dtype) && dtype == d);
		assert_true(sl_tensors_dtype_parse_file(sl_tensors_dtype_file_name(d), &dtype) && dtype == d);
	}
	assert_false(sl_tensors_dtype_parse("F32", &dtype));
	assert_false(sl_tensors_dtype_parse(NULL, &dtype));
	assert_false(sl_tensors_dtype_parse_file("F16", &dtype));
}

TEST(elements_are_aligned)
{
	assert_true(sl_tensors_aligned(&(struct sl_tensors){items + 1, 6}));
	assert_false(sl_tensors_aligned(&(struct sl_tensors){items, 8}));
	assert_false(sl_tensors_aligned(&(struct sl_tensors){items + 6, 2}));
}
