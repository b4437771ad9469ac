/* Loads a data set from its source. */
#include "common/model/images.h"

#include <stdlib.h>
#include <string.h>

#include "common/model/digits.h"
#include "common/model/idx.h"

/* Free the room that doubling left unused. */
static void trim(struct sl_images *images)
{
	uint8_t *pixels = realloc(images->pixels, (size_t)images->count * SL_PIXELS);
	if (pixels == NULL)
		return;
	images->pixels = pixels;
	images->room = images->count;
}

int sl_images_dataset_load(const char *data, const struct sl_deal *deal, struct sl_dataset *set,
			   struct sl_error *error)
{
	*set = (struct sl_dataset){0};
	int rc = strcmp(data, "digits") == 0 ? sl_digits_load(deal, set, error)
					     : sl_idx_load(data, deal, set, error);
	if (rc != SL_OK) {
		sl_images_dataset_free(set);
		return rc;
	}
	trim(&set->mine);
	trim(&set->held);
	return SL_OK;
}

void sl_images_dataset_free(struct sl_dataset *set)
{
	free(set->mine.pixels);
	free(set->held.pixels);
	*set = (struct sl_dataset){0};
}
