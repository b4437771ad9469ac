/* verify_mean.h - the test that a number is the mean of encodings, rounded as in ROUND.md §4.6 Decoding.
 * It checks the committed value instead of computing another one, and shares no code with the decoding. */
#pragma once

#include "common/base/tensors.h"

struct sl_verify_mean {
	uint64_t scale;	 /* 10^decimals */
	uint64_t weight; /* Z_n > 0, or 1 for paper */
};

/* Return true if `element`, of `dtype`, is the mean for the coordinate `sum` of Z, centred. */
bool sl_verify_mean_holds(const struct sl_verify_mean *mean, enum sl_dtype dtype, int64_t sum,
			  const void *element);

/* Return the mean, and the value of `element`, for a message. */
double sl_verify_mean_about(const struct sl_verify_mean *mean, enum sl_dtype dtype, int64_t sum);
double sl_verify_mean_value(enum sl_dtype dtype, const void *element);
