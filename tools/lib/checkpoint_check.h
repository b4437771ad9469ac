/* checkpoint_check.h - a second, independent reader of checkpoints: what is verified must not be read by the
 * code that wrote it. */
#pragma once

#include <stdio.h>

#include "common/base/err.h"
#include "common/base/types.h"

struct sl_tensor_file {
	FILE *file; /* at the first of n little-endian floats; the caller closes it */
	size_t n;
};

/* Open a safetensors file whose F32 tensors have n elements together, and nothing after them. */
int sl_checkpoint_check_open(const char *path, struct sl_tensor_file *tensor, struct sl_error *error);
