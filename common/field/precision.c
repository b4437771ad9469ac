#include "common/field/precision.h"

#include <float.h>
#include <math.h>

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* ---- measuring ---- */

static double largest_float(const float *values, size_t n)
{
	double most = 0;
	for (size_t l = 0; l < n; l++)
		most = isfinite(values[l]) ? larger(most, fabs((double)values[l])) : most;
	return most;
}

static double largest_double(const double *values, size_t n)
{
	double most = 0;
	for (size_t l = 0; l < n; l++)
		most = isfinite(values[l]) ? larger(most, fabs(values[l])) : most;
	return most;
}

/* Return the union of the bits of all magnitudes. */
static uint64_t bits_of(const int64_t *values, size_t n)
{
	uint64_t bits = 0;
	for (size_t l = 0; l < n; l++)
		bits |= values[l] < 0 ? -(uint64_t)values[l] : (uint64_t)values[l];
	return bits;
}

/* Return the smallest power of two that is at least twice `magnitude`, or the largest one of all; 0 for 0. */
static double range_of(double magnitude)
{
	int exponent;
	double part = frexp(magnitude, &exponent); /* magnitude = part 2^exponent, 1/2 <= part < 1 */
	exponent += part > 0.5;
	return magnitude > 0 ? ldexp(1, exponent < DBL_MAX_EXP ? exponent : DBL_MAX_EXP - 1) : 0;
}

void sl_precision_measure(const struct sl_tensors *tensors, const void *model, size_t n, struct sl_need *need)
{
	struct sl_tensor_run run = {0};
	double most = 0;
	uint64_t bits = 0;
	*need = (struct sl_need){0};
	while (sl_tensors_next(tensors, n, &run)) {
		const void *values = (const uint8_t *)model + run.offset;
		if (run.dtype == SL_INT64)
			bits |= bits_of(values, run.count);
		else if (run.dtype == SL_FLOAT64)
			most = larger(most, largest_double(values, run.count));
		else
			most = larger(most, largest_float(values, run.count));
		if (run.dtype != SL_INT64 && need->bits < 40)
			need->bits = run.dtype == SL_FLOAT64 ? 40 : 24;
	}
	need->range = range_of(most);
	need->whole = bits == 0 ? 0 : UINT64_MAX >> __builtin_clzll(bits);
}

/* ---- choosing ---- */

static double power_of_ten(uint32_t digits)
{
	double power = 1;
	while (digits-- > 0)
		power *= 10;
	return power;
}

/* Return the fewest decimals d with 10^-d <= range 2^-bits. */
static uint32_t decimals_of(double range, uint32_t bits)
{
	uint32_t d = 0;
	while (bits > 0 && d < SL_DECIMALS_MAX && power_of_ten(d) * range < ldexp(1, (int)bits))
		d++;
	return d;
}

void sl_precision_fit(struct sl_precision *precision, const struct sl_need *need, double least)
{
	bool any_range = precision->clipping_range == SL_CLIPPING_RANGE_AUTO,
	     any_decimals = precision->decimals == SL_DECIMALS_AUTO;
	double range = any_range ? larger(need->range, least) : precision->clipping_range;
	if (range == 0)
		range = 1;
	uint32_t d = any_decimals ? decimals_of(range, need->bits) : precision->decimals;
	while (range * power_of_ten(d) < (double)need->whole) {
		if (any_range)
			range *= 2;
		else if (any_decimals && d < SL_DECIMALS_MAX)
			d++;
		else
			break;
		if (any_range && any_decimals)
			d = decimals_of(range, need->bits);
	}
	*precision = (struct sl_precision){.decimals = d, .clipping_range = range};
}

uint32_t sl_precision_lower(const struct sl_encoding *encoding, uint64_t learners, uint64_t max_weight,
			    uint32_t bits_max)
{
	struct sl_encoding tried = *encoding;
	for (;; tried.decimals--) {
		if (sl_encoding_modulus(&tried, learners, max_weight, bits_max) != 0)
			return tried.decimals;
		if (tried.decimals == 0)
			return encoding->decimals;
	}
}
