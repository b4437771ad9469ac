#include "common/model/images.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"

#define HELD_OUT 1000u
#define SMALL_SET 2000u

uint32_t sl_images_held_out(uint32_t total)
{
	if (total >= SMALL_SET)
		return HELD_OUT;
	return total < 10 ? 1 : total / 10;
}

static void slice_iid(const struct sl_deal *deal, uint32_t pool, uint64_t *slice)
{
	for (uint64_t i = deal->rank; i < pool; i += deal->learners)
		sl_bit_set(slice, i);
}

/* Counting sort by label without moving images: next[l] is the place of the next image with label l. */
static void slice_by_label(const struct sl_deal *deal, const uint8_t *labels, uint32_t pool, uint64_t *slice)
{
	uint64_t low = (uint64_t)deal->rank * pool / deal->learners;
	uint64_t high = ((uint64_t)deal->rank + 1) * pool / deal->learners;
	uint32_t next[257] = {0};
	for (uint32_t i = 0; i < pool; i++)
		next[labels[i] + 1]++;
	for (size_t l = 1; l < 257; l++)
		next[l] += next[l - 1];
	for (uint32_t i = 0; i < pool; i++) {
		uint32_t place = next[labels[i]]++;
		if (place >= low && place < high)
			sl_bit_set(slice, i);
	}
}

uint64_t *sl_images_deal(const struct sl_deal *deal, const uint8_t *labels, uint32_t pool)
{
	assert(deal->rank < deal->learners);
	uint64_t *slice = calloc(sl_bit_words(pool) + 1, sizeof *slice);
	if (slice == NULL)
		return NULL;
	if (deal->partition == SL_PARTITION_BY_LABEL)
		slice_by_label(deal, labels, pool, slice);
	else
		slice_iid(deal, pool, slice);
	return slice;
}

/* The memory grows with the images that arrive, whatever the header of the file claims. */
uint8_t *sl_images_add(struct sl_images *images)
{
	if (images->count == images->room) {
		uint32_t room = images->room < 64 ? 64 : images->room * 2;
		uint8_t *pixels = realloc(images->pixels, (size_t)room * SL_PIXELS);
		if (pixels == NULL)
			return NULL;
		images->pixels = pixels;
		images->room = room;
	}
	return images->pixels + (size_t)images->count++ * SL_PIXELS;
}
