#include "tools/starling/decimal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/limits.h"

#define EXPONENT_MOST 30
#define EXPONENT_LIMIT (1L << 30) /* beyond the decimals of any text */

static int64_t power(uint32_t exponent)
{
	int64_t value = 1;
	while (exponent-- > 0)
		value *= 10;
	return value;
}

/* Read "e-3" at `text`; return false if it is something else. */
static bool parse_exponent(const char *text, long *exponent)
{
	char *end = NULL;
	*exponent = 0;
	if (*text == '\0')
		return true;
	if (*text != 'e' && *text != 'E')
		return false;
	char first = text[1 + (text[1] == '-' || text[1] == '+')];
	if (first < '0' || first > '9')
		return false;
	long value = strtol(text + 1, &end, 10);
	*exponent = value > EXPONENT_LIMIT    ? EXPONENT_LIMIT
		    : value < -EXPONENT_LIMIT ? -EXPONENT_LIMIT
					      : value;
	return *end == '\0';
}

enum sl_decimal_kind sl_decimal_parse(const char *text, struct sl_decimal *number)
{
	bool negative = *text == '-', fraction = false, any = false, overflow = false;
	long decimals = 0, exponent;
	int64_t digits = 0;
	if (*text == '\0' || strcasecmp(text, "nan") == 0 || strcasecmp(text, "na") == 0)
		return SL_DECIMAL_MISSING;
	text += *text == '-' || *text == '+';
	for (; (*text >= '0' && *text <= '9') || (*text == '.' && !fraction); text++) {
		if (*text == '.') {
			fraction = true;
			continue;
		}
		any = true;
		overflow |= digits >= SL_DECIMAL_DIGITS_MAX;
		digits = overflow ? digits : digits * 10 + (*text - '0');
		decimals += fraction;
	}
	if (!any || !parse_exponent(text, &exponent))
		return SL_DECIMAL_WRONG;
	decimals -= exponent;
	if (overflow || decimals > (long)SL_DECIMALS_MAX || decimals < -EXPONENT_MOST)
		return SL_DECIMAL_TOO_LONG;
	for (; decimals < 0 && digits < SL_DECIMAL_DIGITS_MAX; decimals++)
		digits *= 10;
	*number = (struct sl_decimal){negative ? -digits : digits, (uint32_t)decimals};
	return decimals < 0 || digits >= SL_DECIMAL_DIGITS_MAX ? SL_DECIMAL_TOO_LONG : SL_DECIMAL_NUMBER;
}

/* Write `number` with `decimals` decimals to *out; return false if the digits are too many, or would be lost.
 */
static bool rescale(const struct sl_decimal *number, uint32_t decimals, struct sl_decimal *out)
{
	int64_t digits = number->digits;
	if (decimals < number->decimals ||
	    __builtin_mul_overflow(digits, power(decimals - number->decimals), &digits))
		return false;
	*out = (struct sl_decimal){digits, decimals};
	return llabs(digits) < SL_DECIMAL_DIGITS_MAX;
}

bool sl_decimal_add(struct sl_decimal *sum, const struct sl_decimal *number)
{
	struct sl_decimal a, b;
	uint32_t decimals = sum->decimals > number->decimals ? sum->decimals : number->decimals;
	if (!rescale(sum, decimals, &a) || !rescale(number, decimals, &b))
		return false;
	*sum = (struct sl_decimal){a.digits + b.digits, decimals};
	return llabs(sum->digits) < SL_DECIMAL_DIGITS_MAX;
}

int sl_decimal_compare(const struct sl_decimal *a, const struct sl_decimal *b)
{
	__int128 left = (__int128)a->digits * power(b->decimals),
		 right = (__int128)b->digits * power(a->decimals);
	return (left > right) - (left < right);
}

double sl_decimal_double(const struct sl_decimal *number)
{
	return (double)number->digits / (double)power(number->decimals); /* both are exact */
}

struct sl_decimal sl_decimal_trim(struct sl_decimal number, uint32_t decimals)
{
	while (number.decimals > decimals && number.digits % 10 == 0) {
		number.digits /= 10;
		number.decimals--;
	}
	while (number.decimals < decimals && llabs(number.digits) < SL_DECIMAL_DIGITS_MAX) {
		number.digits *= 10;
		number.decimals++;
	}
	return number;
}

struct sl_decimal sl_decimal_divide(const struct sl_decimal *a, int64_t n, uint32_t decimals)
{
	__int128 top = (__int128)llabs(a->digits) * power(decimals),
		 bottom = (__int128)n * power(a->decimals);
	int64_t digits = (int64_t)((2 * top + bottom) / (2 * bottom));
	return (struct sl_decimal){a->digits < 0 ? -digits : digits, decimals};
}

void sl_decimal_text(const struct sl_decimal *number, char text[static SL_DECIMAL_BYTES])
{
	int64_t unit = power(number->decimals), digits = llabs(number->digits);
	const char *sign = number->digits < 0 ? "-" : "";
	if (number->decimals == 0)
		snprintf(text, SL_DECIMAL_BYTES, "%s%" PRId64, sign, digits);
	else
		snprintf(text, SL_DECIMAL_BYTES, "%s%" PRId64 ".%0*" PRId64, sign, digits / unit,
			 (int)number->decimals, digits % unit);
}
