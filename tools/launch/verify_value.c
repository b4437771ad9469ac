#include "tools/launch/verify_value.h"

#include <math.h>
#include <string.h>

typedef unsigned __int128 wide;

static uint64_t power_of_ten(uint32_t decimals)
{
	uint64_t power = 1;
	while (decimals-- > 0)
		power *= 10;
	return power;
}

/* top / bottom, to the nearest integer, halves to even. */
static uint64_t nearest(wide top, wide bottom)
{
	wide whole = top / bottom, rest = top % bottom;
	bool up = rest > bottom - rest || (rest == bottom - rest && whole % 2 == 1);
	return (uint64_t)(whole + up);
}

/* theta = m 2^e with m of 53 bits, so |theta| 10^sigma = m 10^sigma 2^e, and m 10^sigma has at most 93 bits.
 */
static uint64_t magnitude(const struct sl_verify_scale *scale, double theta)
{
	int e;
	wide top = (wide)ldexp(frexp(theta, &e), 53) * power_of_ten(scale->decimals);
	e -= 53;
	if (e >= 0)
		return (uint64_t)((top << e) / (scale->learners > 0 ? scale->learners : 1));
	if (e < -96)
		return 0; /* less than 2^-3 */
	wide unit = (wide)1 << -e;
	return scale->learners > 0 ? (uint64_t)(top / (unit * scale->learners)) : nearest(top, unit);
}

/* Return the largest number of the dtype that is not above the range. */
static double limit(double clip, enum sl_dtype dtype)
{
	float single = (float)clip;
	if (dtype != SL_FLOAT32)
		return clip;
	return (double)single > clip ? (double)nextafterf(single, 0) : (double)single;
}

static int64_t integer(const struct sl_verify_scale *scale, int64_t value)
{
	if (scale->clip == 0 || scale->clip >= 0x1p62 / (double)power_of_ten(scale->decimals))
		return value;
	int e; /* floor(clip 10^sigma), exactly */
	wide top = (wide)ldexp(frexp(scale->clip, &e), 53) * power_of_ten(scale->decimals);
	e -= 53;
	int64_t most = e >= 0 ? (int64_t)(top << e) : e < -96 ? 0 : (int64_t)(top >> -e);
	return value > most ? most : value < -most ? -most : value;
}

int64_t sl_verify_value(const struct sl_verify_scale *scale, enum sl_dtype dtype, const void *element)
{
	float single;
	double theta;
	int64_t whole;
	if (dtype == SL_INT64) {
		memcpy(&whole, element, sizeof whole);
		return integer(scale, whole);
	}
	memcpy(&single, element, sizeof single);
	theta = (double)single;
	if (dtype == SL_FLOAT64)
		memcpy(&theta, element, sizeof theta);
	double size = fabs(theta);
	if (scale->clip > 0 && size > scale->clip)
		size = limit(scale->clip, dtype);
	int64_t result = (int64_t)magnitude(scale, size);
	return signbit(theta) ? -result : result;
}
