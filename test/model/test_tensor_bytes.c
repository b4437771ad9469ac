/* Tensors as bytes: the hash counts every property of them, and a peer's list is checked before it is
 * compared. */
#include <stdio.h>
#include <string.h>

#include "common/model/tensor_bytes.h"
#include "test/lib/test.h"

static const struct sl_tensor two[] = {{.name = "fc.weight", .dimensions = 2, .shape = {2, 3}},
				       {.name = "fc.bias", .dimensions = 1, .shape = {2}}};
static const struct sl_tensors own = {.items = two, .count = 2};

static uint64_t hash_of(struct sl_tensor first)
{
	const struct sl_tensor items[] = {first, two[1]};
	return sl_tensor_bytes_hash(&(struct sl_tensors){.items = items, .count = 2});
}

TEST(the_hash_counts_everything)
{
	struct sl_tensor turned = two[0], renamed = two[0], flat = two[0], wider = two[0], positive = two[0];
	turned.shape[0] = 3, turned.shape[1] = 2;
	renamed.name = "Fc.weight";
	flat.dimensions = 1, flat.shape[0] = 6;
	wider.dtype = SL_FLOAT64;
	positive.nonnegative = true;
	const uint64_t hashes[] = {sl_tensor_bytes_hash(&own),
				   hash_of(turned),
				   hash_of(renamed),
				   hash_of(flat),
				   hash_of(wider),
				   hash_of(positive),
				   sl_tensor_bytes_hash(&(struct sl_tensors){.items = two, .count = 1})};
	assert_int_equal(hash_of(two[0]), hashes[0]);
	assert_true(hashes[0] == UINT64_C(0x3fc8ad6e1ad5c436)); /* by another program */
	for (size_t i = 0; i < 7; i++)
		for (size_t j = 0; j < i; j++)
			assert_true(hashes[i] != hashes[j]);
}

/* Compare `own` with what a peer with `theirs` sends; "": equal. */
static void expect(const struct sl_tensor *theirs, uint32_t count, size_t room, const char *difference)
{
	uint8_t bytes[1024];
	char text[512] = "";
	const struct sl_tensors tensors = {.items = theirs, .count = count};
	size_t size = sl_tensor_bytes_write(&tensors, bytes, room);
	int rc = sl_tensor_bytes_compare(&own, bytes, size, count, text, sizeof text);
	assert_int_equal(rc, *difference == '\0' ? SL_OK : SL_ERR_INVALID);
	assert_string_equal(text, difference);
}

TEST(differences_are_named)
{
	struct sl_tensor theirs[] = {two[0], two[1], {.name = "scale"}};
	expect(theirs, 2, 1024, "");
	expect(theirs, 3, 1024, "tensor scale is there, and not here");
	expect(theirs, 1, 1024, "tensor fc.bias is here, and not there");
	expect(theirs, 2, 40, "they differ after the first 1 tensors"); /* or not at all: it cannot be seen */
	expect(theirs, 3, 40, "it has 3 tensors there and 2 here");
	theirs[0].shape[0] = 3, theirs[0].shape[1] = 2;
	expect(theirs, 2, 1024, "tensor fc.weight is float32 [3,2] there and float32 [2,3] here");
	theirs[0] = two[0];
	theirs[0].nonnegative = true;
	expect(theirs, 2, 1024,
	       "tensor fc.weight is float32 [2,3] non-negative there and float32 [2,3] here");
	theirs[0].nonnegative = false;
	theirs[0].shape[0] = 3, theirs[0].shape[1] = 2;
	theirs[0] = two[0];
	theirs[0].dtype = SL_INT64;
	expect(theirs, 2, 1024, "tensor fc.weight is int64 [2,3] there and float32 [2,3] here");
	expect(theirs + 1, 2, 1024, "tensor fc.weight is here, and not there");
	expect(theirs + 1, 2, 21, "tensor 1 is fc.bias there and fc.weight here"); /* it may come later */
	theirs[1].name = "a\x1b[2J\xc3\xa4";
	expect(theirs + 1, 1, 1024, "tensor a?[2J?? is there, and not here");
}

/* A float64 comes before every float32: the tensor is found by its name, from both sides. */
TEST(a_tensor_of_another_dtype_is_named)
{
	struct sl_tensor theirs[] = {two[1], two[0]};
	char text[512];
	expect(theirs, 2, 1024, "tensor 1 is fc.bias there and fc.weight here");
	theirs[0].dtype = SL_FLOAT64;
	expect(theirs, 2, 1024, "tensor fc.bias is float64 [2] there and float32 [2] here");
	assert_true(sl_tensor_bytes_differ(&(struct sl_tensors){.items = theirs, .count = 2}, &own, 2, text,
					   sizeof text));
	assert_string_equal(text, "tensor fc.bias is float32 [2] there and float64 [2] here");
}

/* A metric that is averaged is no tensor of the application. */
TEST(metrics_are_named)
{
	struct sl_tensor theirs[] = {{.name = "metric:loss", .dtype = SL_FLOAT64}, two[0], two[1]};
	expect(theirs, 3, 1024, "the averaged metric loss is there, and not here");
	theirs[0].name = "metric:stop";
	expect(theirs, 3, 1024,
	       "the averaged metric stop, which stop= of starling.join adds, is there, and not here");
}

/* A length beyond 127 has two bytes; a message shows the begin and the end of a long name. */
TEST(long_names)
{
	static char name[SL_TENSOR_NAME_BYTES];
	static uint8_t bytes[4096];
	char text[512];
	for (size_t length = 126; length < sizeof name; length += length < 130 ? 1 : 893) {
		memset(name, 'x', length);
		name[0] = 'a', name[length - 1] = 'b', name[length] = '\0';
		const struct sl_tensor items[] = {{.name = name, .dimensions = 1, .shape = {2}}, two[1]};
		const struct sl_tensors theirs = {.items = items, .count = 2};
		size_t size = sl_tensor_bytes_write(&theirs, bytes, sizeof bytes);
		assert_int_equal(size, length + (length < 128 ? 1 : 2) + 2 + 8 + 1 + 7 + 2 + 8);
		assert_int_equal(sl_tensor_bytes_compare(&theirs, bytes, size, 2, text, sizeof text), SL_OK);
		assert_int_equal(sl_tensor_bytes_compare(&own, bytes, size, 2, text, sizeof text),
				 SL_ERR_INVALID);
		assert_memory_equal(text, "tensor axxx", 11);
		assert_non_null(strstr(text, length < 128 ? "xxb is there" : "xx...xx"));
		assert_non_null(strstr(text, "xxb is there, and not here"));
		assert_true(strlen(text) < 180);
	}
	assert_int_equal(strlen(name), SL_TENSOR_NAME_BYTES - 1);
}

/* ---- from a peer that lies ---- */

TEST(a_tensor_twice_is_a_difference)
{
	const struct sl_tensor theirs[] = {two[0], two[1], two[1]};
	expect(theirs, 3, 1024, "it has 3 tensors there and 2 here");
}

static int compare(const uint8_t *bytes, size_t size, uint32_t count)
{
	char text[512];
	return sl_tensor_bytes_compare(&own, bytes, size, count, text, sizeof text);
}

TEST(every_cut_is_refused)
{
	uint8_t bytes[1024];
	size_t size = sl_tensor_bytes_write(&own, bytes, sizeof bytes), first = 1 + 9 + 2 + 16;
	for (size_t cut = 1; cut < size; cut++)
		assert_int_equal(compare(bytes, cut, 2), cut == first ? SL_ERR_INVALID : SL_ERR_FORMAT);
	assert_int_equal(compare(bytes, size, 1), SL_ERR_FORMAT); /* more than it says */
}

TEST(impossible_tensors_are_refused)
{
	/* One tensor "w" of shape [1]: each row is a place and the byte that spoils it. */
	static const struct {
		size_t at;
		uint8_t value;
	} wrong[] = {{0, 0},	{0, 128}, {0, 255}, {1, 0},   {2, 3},	{2, 0x83},
		     {2, 0x40}, {3, 0},	  {3, 9},   {3, 255}, {7, 128}, {11, 1}};
	const struct sl_tensor w = {.name = "w", .dimensions = 1, .shape = {1}};
	uint8_t bytes[64];
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		size_t size = sl_tensor_bytes_write(&(struct sl_tensors){.items = &w, .count = 1}, bytes,
						    sizeof bytes);
		assert_int_equal(compare(bytes, size, 1), SL_ERR_INVALID);
		bytes[wrong[i].at] = wrong[i].value;
		assert_int_equal(compare(bytes, size, 1), SL_ERR_FORMAT);
	}
}

TEST(impossible_lengths_of_names_are_refused)
{
	static const uint8_t heads[][2] = {{0x81, 0}, {0x80, 8}, {0x80, 0xff}, {0x80, 0x81}};
	static char name[129];
	static uint8_t bytes[4096];
	memset(name, 'n', sizeof name - 1);
	const struct sl_tensor n = {.name = name};
	size_t size =
		sl_tensor_bytes_write(&(struct sl_tensors){.items = &n, .count = 1}, bytes, sizeof bytes);
	assert_int_equal(compare(bytes, size, 1), SL_ERR_INVALID);
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		memcpy(bytes, heads[i], sizeof heads[i]);
		assert_int_equal(compare(bytes, sizeof bytes, 1), SL_ERR_FORMAT);
	}
}

TEST(too_many_elements_are_refused)
{
	const struct sl_tensor big = {.name = "b", .dimensions = 2, .shape = {1 << 15, (1 << 14) + 1}},
			       items[] = {big, big};
	uint8_t bytes[128];
	size_t size =
		sl_tensor_bytes_write(&(struct sl_tensors){.items = items, .count = 2}, bytes, sizeof bytes);
	assert_int_equal(compare(bytes, size, 2), SL_ERR_FORMAT);
	assert_int_equal(compare(bytes, size / 2, 1), SL_ERR_INVALID);
}
