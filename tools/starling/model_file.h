/* model_file.h - a checkpoint (model/checkpoint.h) as the list of its tensors, for `starling export`. */
#pragma once

#include <stdbool.h>

#include "common/base/err.h"
#include "common/base/tensors.h"

struct sl_model_tensor {
	struct sl_tensor tensor;
	const char *bytes;
	size_t size;
};

struct sl_model_file {
	const char *path; /* borrowed */
	char *memory;	  /* the whole file */
	size_t size;
	sl_round round;
	uint32_t learners;
	char run[SL_NAME_BYTES];
	struct sl_model_tensor *tensors; /* in the order of their bytes */
	size_t count;
	void *names; /* memory of theirs */
};

/* Read a checkpoint and compare it with its checksum. Errors name the file. */
int sl_model_file_open(struct sl_model_file *file, const char *path, struct sl_error *error);
void sl_model_file_close(struct sl_model_file *file);
