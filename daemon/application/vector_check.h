/* vector_check.h - which values of a model can be encoded. */
#pragma once

#include "common/base/tensors.h"
#include "common/config/settings.h"

/* Check the `n` elements of `model`: finite; and, unless `dp` is on: with decimals, within clipping_range, if
 * `clipping` is not clamp; of exact values, below the largest one. SL_ERR_RANGE: the error names the element
 * by tensor and place. */
int sl_vector_check(const struct sl_settings *settings, enum sl_values values,
		    const struct sl_tensors *tensors, const void *model, size_t n, struct sl_error *error);
