/* decimal.h - exact products of a number by a power of ten, rounded once (ROUND.md §4.2 Encoding). */
#pragma once

#include "common/base/types.h"

#define SL_MAGNITUDE_END (UINT64_C(1) << 60) /* (p-1)/2 is below it */

/* Return floor(2 * 10^decimals * clipping_range), saturating at UINT64_MAX. */
uint64_t sl_decimal_twice(uint32_t decimals, double clipping_range);
/* Return rint(|theta| scale), ties to even; at most SL_MAGNITUDE_END. scale: 10^decimals. */
uint64_t sl_decimal_round(uint64_t scale, double theta);
/* Return floor(scale |theta| weight / weight_total); at most SL_MAGNITUDE_END. */
uint64_t sl_decimal_paper(uint64_t scale, double theta, uint64_t weight, uint64_t weight_total);
