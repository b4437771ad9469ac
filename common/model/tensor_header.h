/* tensor_header.h - the tensors of a model in the header of a safetensors file (safetensors.h).
 *
 *   {"__metadata__":{...},"weight":{"data_offsets":[0,12],"dtype":"F32","shape":[3]},...}
 *
 * The tensors are in the order of their bytes; neighbours without elements, in that of their names. If
 * tensors are declared non-negative, the metadata have their names in the same order:
 * "nonnegative":"[\"var\"]".
 */
#pragma once

#include <jansson.h>

#include "common/base/tensors.h"

/* Return a new header of `metadata`, whose reference is taken over, and `tensors`. NULL: out of memory, or
 * `metadata` is NULL. */
json_t *sl_tensor_header_make(json_t *metadata, const struct sl_tensors *tensors);

/* Set *tensors to those of `header`, with items to be freed, and *bytes to the size of their data. Return the
 * flaw that was found, or NULL. */
const char *sl_tensor_header_read(json_t *header, struct sl_tensors *tensors, uint64_t *bytes);
