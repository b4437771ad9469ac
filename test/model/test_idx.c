/* IDX files: what is read, how it is dealt, and what is said of damaged ones. */
#include "test/lib/folder.h"
#include "test/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/model/idx.h"

#define TRAIN "train-images-idx3-ubyte"
#define TRAIN_LABELS "train-labels-idx1-ubyte"
#define T10K "t10k-images-idx3-ubyte"

static void put_images(const char *folder, const char *name, uint32_t count)
{
	size_t size;
	uint8_t *bytes = idx_images(count, &size);
	folder_put(folder, name, bytes, size);
	free(bytes);
}

static void put_labels(const char *folder, const uint8_t *labels, uint32_t count)
{
	size_t size;
	uint8_t *bytes = idx_labels(labels, count, &size);
	folder_put(folder, TRAIN_LABELS, bytes, size);
	free(bytes);
}

static struct sl_dataset load(const char *folder, enum sl_partition partition, uint32_t rank,
			      uint32_t learners)
{
	struct sl_deal deal = {partition, rank, learners};
	struct sl_dataset set;
	struct sl_error error = {0};
	int rc = sl_images_dataset_load(folder, &deal, &set, &error);
	assert_ok(rc, error);
	return set;
}

/* Loading fails with `code` and exactly "FOLDER/<text>", and leaves nothing. */
static void expect_error(const char *folder, enum sl_partition partition, uint32_t learners, int code,
			 const char *text)
{
	struct sl_deal deal = {partition, 0, learners};
	struct sl_dataset set;
	struct sl_error error = {0};
	int rc = sl_images_dataset_load(folder, &deal, &set, &error);
	assert_string_equal(error.text, folder_path(folder, text));
	assert_int_equal(rc, code);
	assert_null(set.mine.pixels);
	assert_null(set.held.pixels);
}

/* Slices are disjoint and cover the pool 0..pool-1; the held-out images follow it, the same for all. */
static void expect_cover(const char *folder, enum sl_partition partition, uint32_t learners, uint32_t pool,
			 uint32_t held)
{
	uint8_t *seen = calloc(pool, 1);
	assert_non_null(seen);
	for (uint32_t r = 0; r < learners; r++) {
		struct sl_dataset set = load(folder, partition, r, learners);
		assert_in_range(set.mine.count, pool / learners, pool / learners + 1);
		for (uint32_t i = 0; i < set.mine.count; i++)
			assert_int_equal(seen[idx_number(&set.mine, i)]++, 0);
		assert_int_equal(set.held.count, held);
		for (uint32_t i = 0; i < held; i++)
			assert_int_equal(idx_number(&set.held, i), pool + i);
		sl_images_dataset_free(&set);
	}
	assert_null(memchr(seen, 0, pool));
	free(seen);
}

TEST_WITH(even_slices_cover_the_pool, folder_setup, folder_teardown)
{
	put_images(*state, TRAIN, 57);
	expect_cover(*state, SL_PARTITION_IID, 7, 52, 5);
	struct sl_dataset set = load(*state, SL_PARTITION_IID, 2, 7);
	for (uint32_t i = 0; i < set.mine.count; i++)
		assert_int_equal(idx_number(&set.mine, i), 2 + 7 * i);
	sl_images_dataset_free(&set);
}

TEST_WITH(large_sets_hold_out_a_thousand, folder_setup, folder_teardown)
{
	put_images(*state, TRAIN, 2003);
	expect_cover(*state, SL_PARTITION_IID, 3, 1003, 1000);
	assert_int_equal(sl_images_held_out(1999), 199);
	assert_int_equal(sl_images_held_out(5), 1);
}

TEST_WITH(label_slices_cover_the_pool_and_see_few_labels, folder_setup, folder_teardown)
{
	uint8_t labels[110];
	for (size_t i = 0; i < sizeof labels; i++)
		labels[i] = (uint8_t)(i * 7 % 10);
	put_images(*state, TRAIN, sizeof labels);
	put_labels(*state, labels, sizeof labels);
	expect_cover(*state, SL_PARTITION_BY_LABEL, 10, 99, 11);
	expect_cover(*state, SL_PARTITION_BY_LABEL, 7, 99, 11);
	for (uint32_t r = 0; r < 10; r++) {
		struct sl_dataset set = load(*state, SL_PARTITION_BY_LABEL, r, 10);
		unsigned kinds = 0;
		for (uint32_t i = 0; i < set.mine.count; i++)
			kinds |= 1u << labels[idx_number(&set.mine, i)];
		assert_in_range(__builtin_popcount(kinds), 1, 2);
		sl_images_dataset_free(&set);
	}
}

TEST_WITH(train_files_come_before_t10k, folder_setup, folder_teardown)
{
	put_images(*state, T10K, 20);
	struct sl_dataset set = load(*state, SL_PARTITION_IID, 0, 1);
	assert_int_equal(set.mine.count, 18);
	sl_images_dataset_free(&set);
	put_images(*state, TRAIN ".gz", 30);
	set = load(*state, SL_PARTITION_IID, 0, 1);
	assert_int_equal(set.mine.count, 27);
	sl_images_dataset_free(&set);
}

TEST_WITH(packed_and_plain_are_equal, folder_setup, folder_teardown)
{
	put_images(*state, TRAIN ".gz", 40);
	put_images(*state, T10K, 40);
	struct sl_dataset packed = load(*state, SL_PARTITION_IID, 1, 3);
	remove(folder_path(*state, TRAIN ".gz"));
	struct sl_dataset plain = load(*state, SL_PARTITION_IID, 1, 3);
	assert_int_equal(packed.mine.count, plain.mine.count);
	assert_memory_equal(packed.mine.pixels, plain.mine.pixels, (size_t)plain.mine.count * SL_PIXELS);
	assert_memory_equal(packed.held.pixels, plain.held.pixels, (size_t)plain.held.count * SL_PIXELS);
	sl_images_dataset_free(&packed);
	sl_images_dataset_free(&plain);
}

TEST_WITH(a_file_is_no_folder, folder_setup, folder_teardown)
{
	char path[256];
	struct sl_deal deal = {SL_PARTITION_IID, 0, 1};
	struct sl_dataset set;
	struct sl_error error = {0};
	put_images(*state, TRAIN, 20);
	snprintf(path, sizeof path, "%s", folder_path(*state, TRAIN));
	assert_int_equal(sl_images_dataset_load(path, &deal, &set, &error), SL_ERR_INVALID);
	assert_non_null(
		strstr(error.text,
		       "train-images-idx3-ubyte: not a folder; data must name the folder of the IDX files"));
}

TEST_WITH(nothing_there, folder_setup, folder_teardown)
{
	struct sl_deal deal = {SL_PARTITION_IID, 0, 1};
	struct sl_dataset set;
	struct sl_error error = {0};
	assert_int_equal(sl_images_dataset_load(*state, &deal, &set, &error), SL_ERR_NOTFOUND);
	assert_non_null(
		strstr(error.text, "no train-images-idx3-ubyte or t10k-images-idx3-ubyte, plain or .gz"));
}

/* A set of 20 images with one byte of it changed, or cut to `size`. */
static void put_damaged(const char *folder, const char *name, size_t at, uint8_t value, size_t size)
{
	size_t whole;
	uint8_t *bytes = idx_images(20, &whole);
	bytes[at] = value;
	folder_put(folder, name, bytes, size != 0 ? size : whole);
	free(bytes);
}

TEST_WITH(headers_are_checked, folder_setup, folder_teardown)
{
	put_damaged(*state, TRAIN, 3, 1, 0);
	expect_error(*state, SL_PARTITION_IID, 2, SL_ERR_FORMAT,
		     TRAIN ": offset 0: magic 0x00000801, expected 0x00000803 of IDX images");
	put_damaged(*state, TRAIN, 15, 27, 0);
	expect_error(*state, SL_PARTITION_IID, 2, SL_ERR_FORMAT,
		     TRAIN ": offset 8: images of 28 x 27 pixels, expected 28 x 28");
	put_damaged(*state, TRAIN, 4, 255, 0);
	expect_error(*state, SL_PARTITION_IID, 2, SL_ERR_FORMAT,
		     TRAIN ": offset 4: 4278190100 images, at most 10000000 are read");
	size_t size;
	uint8_t *bytes = idx_images(20, &size);
	memcpy(bytes + 4, (uint8_t[4]){0x00, 0x98, 0x96, 0x81}, 4);
	folder_put(*state, TRAIN, bytes, size);
	free(bytes);
	expect_error(*state, SL_PARTITION_IID, 2, SL_ERR_FORMAT,
		     TRAIN ": offset 4: 10000001 images, at most 10000000 are read");
	put_damaged(*state, TRAIN, 3, 3, 7);
	expect_error(*state, SL_PARTITION_IID, 2, SL_ERR_FORMAT,
		     TRAIN ": offset 0: expected 16 bytes of header, got 7");
}

TEST_WITH(short_and_long_files_are_refused, folder_setup, folder_teardown)
{
	put_damaged(*state, TRAIN, 3, 3, 16 + 12 * SL_PIXELS + 100);
	expect_error(*state, SL_PARTITION_IID, 2, SL_ERR_FORMAT,
		     TRAIN ": offset 9424: expected 784 bytes of image 12, got 100");
	put_damaged(*state, TRAIN, 7, 19, 0);
	expect_error(*state, SL_PARTITION_IID, 2, SL_ERR_FORMAT,
		     TRAIN ": offset 14912: bytes after the last item");
	put_damaged(*state, TRAIN, 6, 1, 0); /* a header that promises 276 images */
	expect_error(*state, SL_PARTITION_IID, 2, SL_ERR_FORMAT,
		     TRAIN ": offset 15696: expected 784 bytes of image 20, got 0");
}

TEST_WITH(too_few_images, folder_setup, folder_teardown)
{
	put_images(*state, TRAIN, 20);
	expect_error(*state, SL_PARTITION_IID, 19, SL_ERR_RANGE,
		     TRAIN ": offset 4: 20 images are too few for 19 learners and 2 held out");
	put_images(*state, TRAIN, 0);
	expect_error(*state, SL_PARTITION_IID, 1, SL_ERR_RANGE,
		     TRAIN ": offset 4: 0 images are too few for 1 learners and 1 held out");
}

TEST_WITH(labels_are_checked, folder_setup, folder_teardown)
{
	static const uint8_t labels[20] = {0};
	put_images(*state, TRAIN, 20);
	put_labels(*state, labels, 19);
	expect_error(*state, SL_PARTITION_BY_LABEL, 2, SL_ERR_FORMAT,
		     TRAIN_LABELS ": offset 4: 19 labels for 20 images");
	folder_put(*state, TRAIN_LABELS, "\0\0\10\1\0\0\0\24\1\2\3", 11);
	expect_error(*state, SL_PARTITION_BY_LABEL, 2, SL_ERR_FORMAT,
		     TRAIN_LABELS ": offset 8: expected 20 bytes of labels, got 3");
	folder_put(*state, TRAIN_LABELS, "\0\0\10\3\0\0\0\24", 8);
	expect_error(*state, SL_PARTITION_BY_LABEL, 2, SL_ERR_FORMAT,
		     TRAIN_LABELS ": offset 0: magic 0x00000803, expected 0x00000801 of IDX labels");
	struct sl_dataset set = load(*state, SL_PARTITION_IID, 0, 2); /* which reads no labels */
	sl_images_dataset_free(&set);
}

/* Changes or cuts the packed bytes themselves. */
static void repack(const char *folder, size_t cut, size_t flip_from_end)
{
	size_t size;
	uint8_t *bytes = folder_get(folder, TRAIN ".gz", &size);
	remove(folder_path(folder, TRAIN ".gz"));
	if (flip_from_end != 0)
		bytes[size - flip_from_end] ^= 0xff;
	FILE *file = fopen(folder_path(folder, TRAIN ".gz"), "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size - cut, file), size - cut);
	fclose(file);
	free(bytes);
}

/* zlib unpacks ahead, so where exactly it stumbles is its own affair. */
static void expect_gzip_trouble(const char *folder, const char *trouble)
{
	struct sl_deal deal = {SL_PARTITION_IID, 0, 2};
	struct sl_dataset set;
	struct sl_error error = {0};
	assert_int_equal(sl_images_dataset_load(folder, &deal, &set, &error), SL_ERR_FORMAT);
	assert_non_null(strstr(error.text, TRAIN ".gz: offset "));
	assert_non_null(strstr(error.text, trouble));
}

TEST_WITH(corrupt_gzip_is_refused, folder_setup, folder_teardown)
{
	put_images(*state, TRAIN ".gz", 20);
	repack(*state, 0, 6); /* in the checksum */
	expect_gzip_trouble(*state, "(incorrect data check)");
	put_images(*state, TRAIN ".gz", 20);
	repack(*state, 6, 0);
	expect_gzip_trouble(*state, "unexpected end of file");
}

TEST(real_mnist)
{
	const char *folder = mnist_folder();
	for (uint32_t r = 0; r < 10; r += 9) {
		struct sl_dataset set = load(folder, SL_PARTITION_BY_LABEL, r, 10);
		assert_int_equal(set.mine.count, 54);
		assert_int_equal(set.held.count, 60);
		sl_images_dataset_free(&set);
	}
}
