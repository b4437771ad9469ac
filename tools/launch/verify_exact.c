#include "tools/launch/verify_exact.h"

#include <math.h>
#include <openssl/bn.h>
#include <string.h>

#define BITS 53 /* of a double */

/* Set `number` to |value| 2^-bottom, rounded to an integer. */
static bool set_real(BIGNUM *number, double value, int bottom)
{
	int exponent;
	double units = ldexp(fabs(value), -bottom);
	if (!isfinite(value) || !isfinite(units))
		return false;
	if (units < 0x1p53)
		return BN_set_word(number, (BN_ULONG)nearbyint(units)) == 1;
	double mantissa = frexp(units, &exponent);
	return BN_set_word(number, (BN_ULONG)ldexp(mantissa, BITS)) == 1 &&
	       BN_lshift(number, number, exponent - BITS) == 1;
}

/* Set `number` to the magnitude of an element, and *negative to its sign. */
static bool set_element(BIGNUM *number, int bottom, enum sl_dtype dtype, const uint8_t *element,
			bool *negative)
{
	float single;
	double value;
	int64_t integer;
	if (dtype == SL_INT64) {
		memcpy(&integer, element, sizeof integer);
		*negative = integer < 0;
		return BN_set_word(number, integer < 0 ? -(uint64_t)integer : (uint64_t)integer) == 1;
	}
	if (dtype == SL_FLOAT32) {
		memcpy(&single, element, sizeof single);
		value = (double)single;
	} else {
		memcpy(&value, element, sizeof value);
	}
	*negative = signbit(value);
	return set_real(number, value, bottom);
}

bool sl_verify_exact_add(BIGNUM **sum, int bottom, enum sl_dtype dtype, const uint8_t *element,
			 uint64_t weight)
{
	bool negative = false;
	BIGNUM *term = BN_new();
	*sum = *sum == NULL ? BN_new() : *sum;
	bool whole = term != NULL && *sum != NULL && set_element(term, bottom, dtype, element, &negative) &&
		     BN_mul_word(term, weight) == 1 &&
		     (negative ? BN_sub(*sum, *sum, term) : BN_add(*sum, *sum, term)) == 1;
	BN_free(term);
	return whole;
}

/* Set `quotient` to the integer nearest to |sum| 2^up / weight, halves to even. */
static bool divide(BIGNUM *quotient, const BIGNUM *sum, int up, uint64_t weight)
{
	BN_CTX *context = BN_CTX_new();
	BIGNUM *divisor = BN_new(), *rest = BN_new(), *top = BN_dup(sum);
	bool done = context != NULL && divisor != NULL && rest != NULL && top != NULL;
	if (done) {
		BN_set_negative(top, 0);
		done = BN_set_word(divisor, weight) == 1 &&
		       (up >= 0 ? BN_lshift(top, top, up) : BN_lshift(divisor, divisor, -up)) == 1 &&
		       BN_div(quotient, rest, top, divisor, context) == 1 && BN_lshift1(rest, rest) == 1;
		int half = done ? BN_cmp(rest, divisor) : 0;
		if (done && (half > 0 || (half == 0 && BN_is_odd(quotient))))
			done = BN_add_word(quotient, 1) == 1;
	}
	BN_CTX_free(context);
	BN_free(divisor);
	BN_free(rest);
	BN_free(top);
	return done;
}

static uint64_t word_of(const BIGNUM *number)
{
	uint8_t bytes[16] = {0};
	uint64_t word;
	if (BN_num_bytes(number) > (int)sizeof bytes || BN_bn2lebinpad(number, bytes, sizeof bytes) < 0)
		return 0;
	memcpy(&word, bytes, sizeof word);
	return word;
}

/* Set *mean to the double nearest to sum 2^bottom / weight: an integer of 53 bits times a power of two. */
static bool real_mean(const BIGNUM *sum, int bottom, uint64_t weight, double *mean)
{
	BIGNUM *quotient = BN_new();
	int up = 0;
	bool done = quotient != NULL && divide(quotient, sum, 256, weight);
	if (done && !BN_is_zero(quotient)) {
		up = 256 + BITS - BN_num_bits(quotient);
		done = divide(quotient, sum, up, weight);
		if (done &&
		    BN_num_bits(quotient) != BITS) { /* the first quotient was rounded up to a power of two */
			up += BITS - BN_num_bits(quotient);
			done = divide(quotient, sum, up, weight);
		}
	}
	*mean = done ? ldexp((double)word_of(quotient), bottom - up) : 0;
	*mean = BN_is_negative(sum) ? -*mean : *mean;
	BN_free(quotient);
	return done;
}

bool sl_verify_exact_mean(const BIGNUM *sum, int bottom, uint64_t weight, enum sl_dtype dtype,
			  uint8_t *element)
{
	double mean;
	if (dtype == SL_INT64) {
		BIGNUM *quotient = BN_new();
		bool done = quotient != NULL && divide(quotient, sum, 0, weight);
		uint64_t integer = done ? word_of(quotient) : 0;
		integer = BN_is_negative(sum) ? -integer : integer;
		memcpy(element, &integer, sizeof integer);
		BN_free(quotient);
		return done;
	}
	if (!real_mean(sum, bottom, weight, &mean))
		return false;
	mean = mean == 0 ? 0 : mean;
	float single = (float)mean;
	memcpy(element, dtype == SL_FLOAT32 ? (const void *)&single : &mean, dtype == SL_FLOAT32 ? 4 : 8);
	return true;
}

void sl_verify_exact_free(BIGNUM *sum)
{
	BN_free(sum);
}
