/* images.h - the images one learner trains on, and those that all learners test on.
 *
 * A set of `total` images, in the order of its source, is a pool followed by the held-out images:
 *
 *      0                                 pool            total
 *      |  dealt to the learners            |  held out     |
 *
 * The last 1,000 are held out; of a set smaller than 2,000, the last tenth (at least one). The pool is dealt
 *   even:  image i to learner i mod R;
 *   label: sorted by label (equal labels stay in order), then cut into R blocks in a row, learner r having
 * the places r*pool/R to (r+1)*pool/R - 1. With ten learners on ten classes most see one or two labels, some
 * three. Owns copies of its own slice and of the held-out images, one byte a pixel, and nothing else of the
 * set.
 */
#pragma once

#include "common/base/err.h"
#include "common/config/settings.h"

#define SL_IMAGE_SIDE 28u
#define SL_PIXELS (SL_IMAGE_SIDE * SL_IMAGE_SIDE)
#define SL_IMAGES_MAX 10000000u /* of a set; bounds what its header can make us ask for */

/* Who asks, of how many. */
struct sl_deal {
	enum sl_split split;
	uint32_t rank, learners;
};

/* count images of SL_PIXELS bytes, 0 (background) to 255 (ink). */
struct sl_images {
	uint8_t *pixels;
	uint32_t count, room;
};

struct sl_dataset {
	struct sl_images mine, held;
};

/* Reads `data`: "digits" or a folder of IDX files. On failure nothing is left to free. */
int sl_images_dataset_load(const char *data, const struct sl_deal *deal, struct sl_dataset *set,
			   struct sl_error *error);
void sl_images_dataset_free(struct sl_dataset *set);

/* For the sources (idx.c, digits.c). */

/* How many of `total` images are held out. */
uint32_t sl_images_held_out(uint32_t total);

/* Which images of the pool are the learner's: a bit set to free(), or NULL without memory. `labels` (one for
 * each image of the pool) is read only when the split is by label. */
uint64_t *sl_images_deal(const struct sl_deal *deal, const uint8_t *labels, uint32_t pool);

/* Room for one image more, to be filled by the caller; NULL without memory. */
uint8_t *sl_images_add(struct sl_images *images);
