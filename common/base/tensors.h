/* tensors.h - how the n floats of a model are laid out: named tensors, one after the other, each in row-major
 * order. */
#pragma once

#include "common/base/types.h"

#define SL_TENSOR_NAME_BYTES 64u
#define SL_TENSOR_DIMENSIONS_MAX 8u

struct sl_tensor {
	char name[SL_TENSOR_NAME_BYTES];
	uint32_t dimensions; /* 0: a single number */
	uint64_t shape[SL_TENSOR_DIMENSIONS_MAX];
};

/* The tensors of a model in the order of their floats; the owner of `items` is the trainer. */
struct sl_tensors {
	const struct sl_tensor *items;
	uint32_t count;
};

/* Return the floats of a tensor. */
static inline uint64_t sl_tensor_elements(const struct sl_tensor *tensor)
{
	uint64_t elements = 1;
	for (uint32_t d = 0; d < tensor->dimensions; d++)
		elements *= tensor->shape[d];
	return elements;
}
