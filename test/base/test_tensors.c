/* The layout of a model: runs of one dtype and declaration, their offsets, and the order of dtypes. */
#include <stdlib.h>
#include <string.h>

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
	struct sl_tensors tensors = {.items = items, .count = 8};
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

/* With the begins, a run is found at once, and is what counting finds. */
TEST(runs_are_found_by_their_begins)
{
	struct sl_tensor_begin begins[5];
	const struct sl_tensors counted = {.items = items + 1, .count = 5};
	struct sl_tensors known = counted;
	sl_tensors_begin(&counted, begins);
	known.begins = begins;
	for (size_t element = 0; element <= 12; element++) {
		struct sl_tensor_run slow = {.apart = true}, fast = {.apart = true};
		assert_int_equal(sl_tensors_offset(&known, 12, element),
				 sl_tensors_offset(&counted, 12, element));
		assert_int_equal(sl_tensors_offset(&known, 12, element),
				 element < 6 ? 8 * element : 24 + 4 * element);
		sl_tensors_seek(&counted, element, &slow);
		while (sl_tensors_next(&counted, 12, &slow) && element >= slow.first + slow.count)
			;
		sl_tensors_seek(&known, element, &fast);
		assert_true(sl_tensors_next(&known, 12, &fast));
		if (element < 12)
			assert_memory_equal(&slow, &fast, sizeof slow);
	}
	struct sl_tensor_run run = {.apart = true};
	assert_false(sl_tensors_at(&counted, 3, &run));
	assert_true(run.first == 0 && run.tensor == 0 && run.apart);
	assert_true(sl_tensors_at(&known, 3, &run) && run.first == 4 && run.tensor == 3 && run.offset == 32);
}

/* A copy needs nothing of the first list. */
TEST(copies)
{
	char name[] = "a";
	const struct sl_tensor one[] = {{.name = name, .dimensions = 1, .shape = {7}}, {.name = "bc"}};
	struct sl_tensor *copy = sl_tensors_copy(&(struct sl_tensors){.items = one, .count = 2});
	name[0] = 'x';
	assert_string_equal(copy[0].name, "a");
	assert_string_equal(copy[1].name, "bc");
	assert_int_equal(copy[0].shape[0], 7);
	free(copy);
}

TEST(labels)
{
	char label[SL_TENSOR_LABEL_BYTES], name[SL_TENSOR_NAME_BYTES];
	assert_string_equal(sl_tensors_label("sch\xc3\xa4tzung", label), "sch\xc3\xa4tzung");
	for (size_t length = SL_TENSOR_LABEL_BYTES - 2; length < SL_TENSOR_NAME_BYTES; length++) {
		memset(name, 'm', length);
		memset(name + 5, '\xc3', 2);
		name[0] = '(', name[length - 1] = ')', name[length] = '\0';
		sl_tensors_label(name, label);
		assert_true(label[0] == '(' && label[strlen(label) - 1] == ')');
		assert_int_equal(strstr(label, "m...m") != NULL, length >= SL_TENSOR_LABEL_BYTES);
		assert_int_equal(strchr(label, '\xc3') != NULL, length < SL_TENSOR_LABEL_BYTES);
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
	assert_true(sl_tensors_aligned(&(struct sl_tensors){.items = items + 1, .count = 6}));
	assert_false(sl_tensors_aligned(&(struct sl_tensors){.items = items, .count = 8}));
	assert_false(sl_tensors_aligned(&(struct sl_tensors){.items = items + 6, .count = 2}));
}
