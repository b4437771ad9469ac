/* decimal.h - numbers as they are typed, exactly: whole digits and a number of decimals. */
#pragma once

#include "common/base/types.h"

/* Digits below this survive exactly as a double, also after the two roundings of a mean and its product. */
#define SL_DECIMAL_DIGITS_MAX (INT64_C(1) << 51)

struct sl_decimal {
	int64_t digits; /* value * 10^decimals */
	uint32_t decimals;
};

enum sl_decimal_kind { SL_DECIMAL_NUMBER, SL_DECIMAL_MISSING, SL_DECIMAL_WRONG, SL_DECIMAL_TOO_LONG };

/* Read "-12.50", "1e3". MISSING: empty, or NaN or NA in any case; TOO_LONG: more decimals or digits than are
 * kept exactly. */
enum sl_decimal_kind sl_decimal_parse(const char *text, struct sl_decimal *number);

/* Add `number` to *sum, with the larger number of decimals. Return false if the digits are too many. */
bool sl_decimal_add(struct sl_decimal *sum, const struct sl_decimal *number);

/* Return less than, equal to or greater than 0, as a - b. */
int sl_decimal_compare(const struct sl_decimal *a, const struct sl_decimal *b);

/* Return the nearest double; an exact one if there is any. */
double sl_decimal_double(const struct sl_decimal *number);

/* Return the number without zeros at its end, but with at least `decimals` decimals. */
struct sl_decimal sl_decimal_trim(struct sl_decimal number, uint32_t decimals);

/* Return a/n with `decimals` decimals, rounded, halves away from 0; n > 0. */
struct sl_decimal sl_decimal_divide(const struct sl_decimal *a, int64_t n, uint32_t decimals);

#define SL_DECIMAL_BYTES 48u
void sl_decimal_text(const struct sl_decimal *number, char text[static SL_DECIMAL_BYTES]);
