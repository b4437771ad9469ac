/* modulus.h - whether the modulus of a configuration can carry its rounds. Every view checks again, for its
 * own N. */
#pragma once

#include "common/base/err.h"
#include "common/config/settings.h"
#include "common/field/encoding.h"

/* Check that the configured modulus holds the sum of `learners` models, and is larger than `largest_id`; with
 * `modulus: auto`, that some prime does. SL_ERR_RANGE, and the remedy in the error. */
int sl_modulus_check(const struct sl_settings *settings, uint32_t learners, sl_id largest_id,
		     struct sl_error *error);

/* Return the configured modulus, or the one that `auto` chooses; 0 if there is none. */
uint64_t sl_modulus_of(const struct sl_settings *settings, const struct sl_addends *addends);
