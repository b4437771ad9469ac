/* Read images and labels. Input: how they are dealt and packed, the number of bytes of the labels, labels,
 * images. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/model/idx.h"
#include "test/fuzz/fuzz.h"

#define PLAIN "train-images-idx3-ubyte"
#define PACKED "t10k-images-idx3-ubyte.gz"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct sl_deal deal = {.rank = 1, .learners = 2};
	struct sl_dataset set = {0};
	struct sl_error error;
	if (count < 2 || (size_t)bytes[1] + 2 > count)
		return 0;
	bool packed = bytes[0] & 4;
	size_t labels = bytes[1];
	deal.partition = (enum sl_partition)(bytes[0] & 3) % (SL_PARTITION_BY_LABEL + 1);
	if (deal.partition == SL_PARTITION_NONE)
		deal = (struct sl_deal){.learners = 1};
	fuzz_file("idx/train-labels-idx1-ubyte", bytes + 2, labels);
	fuzz_file("idx/t10k-labels-idx1-ubyte", bytes + 2, labels);
	fuzz_file("idx/" PACKED, packed ? bytes + 2 + labels : (const uint8_t *)"",
		  packed ? count - 2 - labels : 0);
	char plain[128];
	strcpy(plain, fuzz_file("idx/" PLAIN, bytes + 2 + labels, count - 2 - labels));
	if (packed)
		remove(plain);
	char folder[80];
	snprintf(folder, sizeof folder, "%s/idx", fuzz_folder());
	if (sl_idx_load(folder, &deal, &set, &error) == SL_OK)
		assert(set.held.count > 0);
	sl_images_dataset_free(&set);
	return 0;
}
