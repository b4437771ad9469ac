/* verify_exact.h - means of values that nothing was rounded of (ROUND.md §4.3 Limbs and ranges), in the
 * big integers of OpenSSL. It shares no code with the daemon's decoding.
 */
#pragma once

#include "common/base/tensors.h"

/* The sum of one element over the learners, in units of 2^bottom. */
struct bignum_st;

/* Add the value of `element` times `weight` to *sum, NULL before the first. A float is rounded to the nearest
 * multiple of 2^bottom, halves to even. Return false without memory, or if it is no number. */
bool sl_verify_exact_add(struct bignum_st **sum, int bottom, enum sl_dtype dtype, const uint8_t *element,
			 uint64_t weight);
/* Write the mean, of `dtype`, to `element`. Return false without memory. */
bool sl_verify_exact_mean(const struct bignum_st *sum, int bottom, uint64_t weight, enum sl_dtype dtype,
			  uint8_t *element);
void sl_verify_exact_free(struct bignum_st *sum);
