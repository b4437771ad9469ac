/* modulus.h - whether the modulus of a configuration can carry its rounds. Every view checks again, for its
 * own N. */
#pragma once

#include "common/base/err.h"
#include "common/config/settings.h"

/* Check that the configured modulus holds the sum of `learners` models, and is larger than `largest_id`.
 * *modulus is set to it; with `modulus: auto`, to the prime that is chosen. SL_ERR_RANGE, and the remedy in
 * the error. */
int sl_modulus_check(const struct sl_settings *settings, uint32_t learners, sl_id largest_id,
		     uint64_t *modulus, struct sl_error *error);
