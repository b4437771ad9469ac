/* images.h - the images that one learner trains on, and the held-out images, the same at all learners.
 *
 * A set of `total` images, in the order of its source, is a pool followed by the held-out images:
 *
 *      0                                 pool            total
 *      |  dealt to the learners            |  held out     |
 *
 * The last 1,000 are held out; of a set smaller than 2,000, the last tenth (at least one). The setting
 * `partition` says how the pool is dealt to R learners:
 *
 *   none      every learner has the whole pool
 *   iid       learner r has the images i with i mod R = r
 *   by_label  the pool is stably sorted by label; learner r has the places r*pool/R to (r+1)*pool/R - 1
 *
 * With by_label, ten learners and ten classes, most learners have one or two labels, some three. A data set
 * owns copies of the slice and of the held-out images, one byte a pixel.
 */
#pragma once

#include "common/base/err.h"
#include "common/config/settings.h"

#define SL_IMAGE_SIDE 28u
#define SL_PIXELS (SL_IMAGE_SIDE * SL_IMAGE_SIDE)
#define SL_IMAGES_MAX 10000000u /* in a set; bounds the memory that a header can claim */

/* The slice of learner `rank` of `learners`; with SL_PARTITION_NONE that is 0 of 1. */
struct sl_deal {
	enum sl_partition partition;
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

/* Load `data`: "digits" or a folder of IDX files. After an error there is nothing to free. */
int sl_images_dataset_load(const char *data, const struct sl_deal *deal, struct sl_dataset *set,
			   struct sl_error *error);
void sl_images_dataset_free(struct sl_dataset *set);

/* For the sources (idx.c, digits.c). */

/* Return the number of held-out images among `total`. */
uint32_t sl_images_held_out(uint32_t total);

/* Return the images of the pool that are dealt to the learner, as a bit set to free(); NULL: out of memory.
 * `labels`, one for each image of the pool, is only read for SL_PARTITION_BY_LABEL. */
uint64_t *sl_images_deal(const struct sl_deal *deal, const uint8_t *labels, uint32_t pool);

/* Return room for one more image, to be filled by the caller; NULL: out of memory. */
uint8_t *sl_images_add(struct sl_images *images);
