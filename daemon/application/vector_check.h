/* vector_check.h - which values of a model can be encoded. */
#pragma once

#include "common/base/tensors.h"
#include "common/config/settings.h"

/* Check the `n` elements of `model`: finite; within clipping_range, unless `clipping` is clamp; if
 * clipping_range or decimals is `auto`, small enough that a modulus holds the sum of `learners` such models.
 * SL_ERR_RANGE: the error names the element by tensor and place. */
int sl_vector_check(const struct sl_settings *settings, enum sl_values values, uint32_t learners,
		    const struct sl_tensors *tensors, const void *model, size_t n, struct sl_error *error);
