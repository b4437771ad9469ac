/* encoding_scale.h - what the files of encodings share. No other file includes it. */
#pragma once

#include <assert.h>

#include "common/base/limits.h"
#include "common/base/types.h"

static inline uint64_t sl_encoding_power_of_ten(uint32_t digits)
{
	assert(digits <= SL_DECIMALS_MAX);
	uint64_t power = 1;
	while (digits-- > 0)
		power *= 10;
	return power;
}

/* Return `model` from byte `offset` on, NULL for NULL. */
static inline const void *sl_encoding_from(const void *model, size_t offset)
{
	return model == NULL ? NULL : (const uint8_t *)model + offset;
}
