/* verify_value.h - the integer that stands for an element of a trained model (ROUND.md §4.2 Encoding), in
 * exact rationals. It shares no code with the encoding of the daemon.
 */
#pragma once

#include "common/base/tensors.h"

struct sl_verify_scale {
	uint32_t decimals; /* sigma: the scale is 10^sigma */
	uint32_t learners; /* N of `paper`; 0: weighted */
	double clip;	   /* with `clipping: clamp`, the clipping range; 0: nothing is clamped */
};

/* Return the integer for `element`: rint(theta 10^sigma), an int64 itself, or for `paper`
 * trunc(theta 10^sigma / N). theta is finite and |theta| 10^sigma is below 2^62. */
int64_t sl_verify_value(const struct sl_verify_scale *scale, enum sl_dtype dtype, const void *element);
