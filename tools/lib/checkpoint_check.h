/* checkpoint_check.h - a second, independent reader of checkpoints: what is verified must not be read by the
 * code that wrote it. */
#pragma once

#include <stdio.h>

#include "common/base/err.h"
#include "common/base/tensors.h"

/* A tensor in the data of the file. */
struct sl_tensor_place {
	uint64_t begin, bytes;
	enum sl_dtype dtype;
	bool nonnegative;
	bool metric; /* a number that is averaged beside the model */
	int range;   /* exponent, if the file has any */
};

struct sl_tensor_file {
	FILE *file; /* at the first of n elements, little-endian */
	size_t n;
	struct sl_tensor_place *places; /* in the order of the data, one after the other */
	size_t count;
	bool ranged; /* the metadata have the exponents of the ranges of all tensors */
};

/* Open a safetensors file whose tensors are F32, F64 or I64 and fill it. */
int sl_checkpoint_check_open(const char *path, struct sl_tensor_file *tensors, struct sl_error *error);
void sl_checkpoint_check_close(struct sl_tensor_file *tensors);
