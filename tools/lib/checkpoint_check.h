/* checkpoint_check.h - a second, independent reader of checkpoints: what is verified must not be read by the
 * code that wrote it. */
#pragma once

#include <stddef.h>

#include "common/base/err.h"
#include "common/base/tensors.h"

/* A file in memory. */
struct sl_checkpoint_map {
	const uint8_t *bytes;
	size_t size;
};
/* Map a file. SL_ERR_NOTFOUND, SL_ERR_IO. */
int sl_checkpoint_map_open(const char *path, struct sl_checkpoint_map *map, struct sl_error *error);
void sl_checkpoint_map_close(struct sl_checkpoint_map *map);

/* A tensor in the data of the file. */
struct sl_tensor_place {
	uint64_t begin, bytes;
	enum sl_dtype dtype;
	bool nonnegative;
	bool metric;  /* a number that is averaged beside the model */
	int range;    /* exponent, if the file has any */
	size_t first; /* elements before it */
};

struct sl_tensor_file {
	struct sl_checkpoint_map map;
	const uint8_t *data; /* n elements, little-endian */
	size_t n;
	struct sl_tensor_place *places; /* in the order of the data, one after the other */
	size_t count;
	bool ranged; /* the metadata have the exponents of the ranges of all tensors */
};

/* Open a safetensors file whose tensors are F32, F64 or I64 and fill it. */
int sl_checkpoint_check_open(const char *path, struct sl_tensor_file *tensors, struct sl_error *error);
void sl_checkpoint_check_close(struct sl_tensor_file *tensors);
