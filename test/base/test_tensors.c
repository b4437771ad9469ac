/* The layout of a model: runs of one dtype, their offsets, and the order of dtypes. */
#include "common/base/tensors.h"
#include "test/lib/test.h"

static const struct sl_tensor items[] = {
	{"none", SL_FLOAT32, 2, {0, 3}}, {"count", SL_INT64, 0, {0}}, {"mean", SL_FLOAT64, 1, {3}},
	{"none", SL_INT64, 1, {0}},	 {"var", SL_FLOAT64, 1, {2}}, {"w", SL_FLOAT32, 2, {2, 3}},
	{"b", SL_FLOAT32, 1, {1}},	 {"none", SL_INT64, 1, {0}},
};

TEST(runs)
{
	static const struct sl_tensor_run expected[] = {{SL_INT64, 0, 1, 0, 2},
							{SL_FLOAT64, 1, 3, 8, 3},
							{SL_FLOAT64, 4, 2, 32, 5},
							{SL_FLOAT32, 6, 7, 48, 7}};
	struct sl_tensors tensors = {items, 8};
	struct sl_tensor_run run = {0};
	for (size_t i = 0; i < 4; i++) {
		assert_true(sl_tensors_next(&tensors, 13, &run));
		assert_int_equal(run.dtype, expected[i].dtype);
		assert_int_equal(run.first, expected[i].first);
		assert_int_equal(run.count, expected[i].count);
		assert_int_equal(run.offset, expected[i].offset);
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
