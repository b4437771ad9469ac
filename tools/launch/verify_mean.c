#include "tools/launch/verify_mean.h"

#include <math.h>
#include <string.h>

typedef unsigned __int128 wide;

/* Three operations in double and one to float, each rounded once. */
static bool float_holds(const struct sl_verify_mean *mean, int64_t sum, const void *element)
{
	volatile double divisor = (double)mean->scale * (double)mean->weight;
	float exact = (float)((double)sum / divisor);
	return memcmp(element, &exact, sizeof exact) == 0;
}

/* Return true if `value` = m 2^e, m of 53 bits, is the double nearest to top / bottom, ties to even: the
 * difference of top and m 2^e bottom is at most half of 2^e bottom (a quarter, below a power of two). All are
 * multiplied by 2^-e and taken mod 2^128: as the value is close, the difference has fewer bits. */
static bool nearest(uint64_t top, wide bottom, double value)
{
	int e;
	uint64_t m = (uint64_t)ldexp(frexp(value, &e), 53);
	e -= 53;
	if (fabs(value * (double)bottom - (double)top) > 1e-9 * (double)top)
		return false;
	wide left = e >= 0 ? top : e > -128 ? (wide)top << -e : 0;
	wide unit = e >= 0 ? bottom << e : bottom, off = left - m * unit;
	bool below = off >> 127 == 1;
	off = below ? -off : off;
	off *= below && m == UINT64_C(1) << 52 ? 4 : 2;
	return off < unit || (off == unit && m % 2 == 0);
}

static bool double_holds(const struct sl_verify_mean *mean, int64_t sum, const void *element)
{
	double value;
	memcpy(&value, element, sizeof value);
	if (sum == 0 || value == 0)
		return sum == 0 && value == 0 && !signbit(value);
	return isfinite(value) && (sum < 0) == signbit(value) &&
	       nearest((uint64_t)(sum < 0 ? -sum : sum), (wide)mean->scale * mean->weight, fabs(value));
}

/* The value times the weight differs from the sum by at most half of the weight; by half only if it is even.
 */
static bool integer_holds(const struct sl_verify_mean *mean, int64_t sum, const void *element)
{
	int64_t value;
	memcpy(&value, element, sizeof value);
	__int128 weight = (__int128)mean->weight, off = 2 * (sum - value * weight);
	return (off < weight && off > -weight) || ((off == weight || off == -weight) && value % 2 == 0);
}

bool sl_verify_mean_holds(const struct sl_verify_mean *mean, enum sl_dtype dtype, int64_t sum,
			  const void *element)
{
	switch (dtype) {
	case SL_FLOAT32:
		return float_holds(mean, sum, element);
	case SL_FLOAT64:
		return double_holds(mean, sum, element);
	case SL_INT64:
		return integer_holds(mean, sum, element);
	}
	return false;
}

double sl_verify_mean_about(const struct sl_verify_mean *mean, enum sl_dtype dtype, int64_t sum)
{
	double scale = dtype == SL_INT64 ? 1 : (double)mean->scale;
	return (double)sum / (scale * (double)mean->weight);
}

double sl_verify_mean_value(enum sl_dtype dtype, const void *element)
{
	float single;
	double value;
	int64_t integer;
	switch (dtype) {
	case SL_FLOAT32:
		memcpy(&single, element, sizeof single);
		return (double)single;
	case SL_FLOAT64:
		memcpy(&value, element, sizeof value);
		return value;
	case SL_INT64:
		memcpy(&integer, element, sizeof integer);
		return (double)integer;
	}
	return NAN;
}
