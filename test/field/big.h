/* big.h - exact values in the big integers of OpenSSL, as the tests of them need it. They share no code with
 * common/field/exact.c. */
#pragma once

#include <math.h>
#include <openssl/bn.h>
#include <stdint.h>

#include "common/field/exact.h"
#include "test/graph/unit.h"

static inline BIGNUM *big_of(uint64_t magnitude, bool negative)
{
	BIGNUM *number = BN_new();
	assert_non_null(number);
	assert_int_equal(BN_set_word(number, magnitude), 1);
	BN_set_negative(number, negative);
	return number;
}

/* Return the integer nearest to a / 2^down, halves to even. */
static inline void big_round(BIGNUM *a, int down)
{
	bool negative = BN_is_negative(a) == 1, half = BN_is_bit_set(a, down - 1) == 1, odd;
	int low = 0;
	while (low < down - 1 && !BN_is_bit_set(a, low))
		low++;
	assert_int_equal(BN_rshift(a, a, down), 1);
	odd = BN_is_odd(a) == 1;
	BN_set_negative(a, 0);
	if (half && (odd || low < down - 1))
		assert_int_equal(BN_add_word(a, 1), 1);
	BN_set_negative(a, negative);
}

/* Return the integer nearest to real / 2^bottom, halves to even. */
static inline BIGNUM *big_units(double real, int bottom)
{
	int exponent;
	double part = frexp(fabs(real), &exponent);
	BIGNUM *units = big_of((uint64_t)ldexp(part, 53), signbit(real));
	exponent -= 53 + bottom;
	if (exponent >= 0)
		assert_int_equal(BN_lshift(units, units, exponent), 1);
	else
		big_round(units, -exponent);
	return units;
}

/* Add a 2^up to *sum. */
static inline void big_add(BIGNUM *sum, const BIGNUM *a, int up)
{
	BIGNUM *term = BN_new();
	assert_true(BN_lshift(term, a, up) == 1 && BN_add(sum, sum, term) == 1);
	BN_free(term);
}

/* Return the magnitude of a number of at most 64 bits. */
static inline uint64_t big_word(const BIGNUM *number)
{
	uint8_t bytes[8] = {0};
	uint64_t word;
	assert_true(BN_bn2lebinpad(number, bytes, sizeof bytes) == 8);
	memcpy(&word, bytes, sizeof word);
	return word;
}

/* Return the double nearest to sum 2^bottom / weight: of 64 bits of the quotient, the last of which is 1 if
 * any bit after it is, the machine takes those of a double. */
static inline double big_mean(const BIGNUM *sum, int bottom, uint64_t weight)
{
	BN_CTX *context = BN_CTX_new();
	BIGNUM *top = BN_dup(sum), *divisor = big_of(weight, false), *quotient = BN_new(), *rest = BN_new();
	int up = 64 + BN_num_bits(divisor) - BN_num_bits(sum);
	double mean = 0;
	BN_set_negative(top, 0);
	if (!BN_is_zero(sum)) {
		assert_int_equal(up >= 0 ? BN_lshift(top, top, up) : BN_lshift(divisor, divisor, -up), 1);
		assert_int_equal(BN_div(quotient, rest, top, divisor, context), 1);
		int more = BN_num_bits(quotient) - 64; /* 0 or 1 */
		bool inexact = !BN_is_zero(rest) || (more > 0 && BN_is_odd(quotient));
		assert_true(more == 0 || more == 1);
		assert_int_equal(BN_rshift(quotient, quotient, more), 1);
		mean = ldexp((double)(big_word(quotient) | inexact), bottom - up + more);
	}
	BN_free(top);
	BN_free(divisor);
	BN_free(quotient);
	BN_free(rest);
	BN_CTX_free(context);
	return BN_is_negative(sum) ? -mean : mean;
}

/* Return the integer nearest to sum / weight, halves to even, modulo 2^64. */
static inline int64_t big_mean_integer(const BIGNUM *sum, uint64_t weight)
{
	BN_CTX *context = BN_CTX_new();
	BIGNUM *top = BN_dup(sum), *divisor = big_of(weight, false), *quotient = BN_new(), *rest = BN_new();
	BN_set_negative(top, 0);
	assert_int_equal(BN_div(quotient, rest, top, divisor, context), 1);
	assert_int_equal(BN_lshift1(rest, rest), 1);
	int half = BN_cmp(rest, divisor);
	if (half > 0 || (half == 0 && BN_is_odd(quotient)))
		assert_int_equal(BN_add_word(quotient, 1), 1);
	assert_int_equal(BN_mask_bits(quotient, 64) == 1 || BN_num_bits(quotient) <= 64, 1);
	uint64_t mean = big_word(quotient);
	BN_free(top);
	BN_free(divisor);
	BN_free(quotient);
	BN_free(rest);
	BN_CTX_free(context);
	return (int64_t)(BN_is_negative(sum) ? -mean : mean);
}
