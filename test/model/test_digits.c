/* The drawn digits: one pool for all, dealt without overlap, and they look like something. */
#include "test/lib/folder.h"
#include "test/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "common/model/digits.h"

static struct sl_dataset load(enum sl_partition partition, uint32_t rank, uint32_t learners)
{
	struct sl_deal deal = {partition, rank, learners};
	struct sl_dataset set;
	struct sl_error error = {0};
	int rc = sl_images_dataset_load("digits", &deal, &set, &error);
	assert_ok(rc, error);
	return set;
}

TEST(each_learner_draws_its_part_of_one_pool)
{
	struct sl_dataset first = load(SL_PARTITION_IID, 0, 10), last = load(SL_PARTITION_IID, 9, 10);
	uint8_t image[SL_PIXELS];
	assert_int_equal(first.mine.count, 900);
	assert_int_equal(last.mine.count, 900);
	assert_int_equal(first.held.count, 1000);
	assert_memory_equal(first.held.pixels, last.held.pixels, 1000 * SL_PIXELS);
	sl_digits_draw(10 * 37 + 9, image);
	assert_memory_equal(last.mine.pixels + 37 * SL_PIXELS, image, SL_PIXELS);
	sl_digits_draw(9123, image);
	assert_memory_equal(last.held.pixels + 123 * SL_PIXELS, image, SL_PIXELS);
	sl_images_dataset_free(&first);
	sl_images_dataset_free(&last);
}

TEST(every_image_has_ink_and_its_own_hand)
{
	uint8_t image[SL_PIXELS], before[SL_PIXELS] = {0};
	for (uint32_t i = 0; i < 1000; i++) {
		unsigned long ink = 0;
		sl_digits_draw(i, image);
		for (size_t p = 0; p < SL_PIXELS; p++)
			ink += image[p];
		assert_in_range(ink, 255 * 15, 255 * 350);
		assert_memory_not_equal(image, before, SL_PIXELS);
		memcpy(before, image, SL_PIXELS);
	}
}

TEST(ten_classes_about_equally)
{
	unsigned count[10] = {0};
	for (uint32_t i = 0; i < SL_DIGITS; i++) {
		assert_in_range(sl_digits_label(i), 0, 9);
		count[sl_digits_label(i)]++;
	}
	for (size_t l = 0; l < 10; l++)
		assert_in_range(count[l], 900, 1100);
}

TEST(more_learners_than_images)
{
	struct sl_deal deal = {SL_PARTITION_IID, 0, 9001};
	struct sl_dataset set;
	struct sl_error error = {0};
	assert_int_equal(sl_images_dataset_load("digits", &deal, &set, &error), SL_ERR_RANGE);
	assert_string_equal(error.text, "data: digits: 9000 images are too few for 9001 learners");
}
