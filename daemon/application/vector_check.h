/* vector_check.h - which values of a model can be encoded. */
#pragma once

#include "common/base/tensors.h"
#include "common/config/settings.h"

/* Check the `n` elements of `model`: finite, and within clipping_range unless it clamps; where that is
 * `auto`, within what a sum of `learners` of them can have. SL_ERR_RANGE: the error names the element by
 * tensor and place. */
int sl_vector_check(const struct sl_settings *settings, uint32_t learners, const struct sl_tensors *tensors,
		    const void *model, size_t n, struct sl_error *error);
