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

/* Add the floats of one tensor, of which `bits` below the range count. */
static void add_floats(struct sl_need *need, double magnitude, int bits)
{
	double range = range_of(magnitude), unit = ldexp(range, -bits);
	need->range = larger(need->range, range);
	if (unit > 0 && (need->unit == 0 || unit < need->unit))
		need->unit = unit;
}

static void add_tensor(struct sl_need *need, enum sl_dtype dtype, const void *values, size_t n)
{
	if (dtype == SL_INT64)
		need->whole |= bits_of(values, n);
	else if (dtype == SL_FLOAT64)
		add_floats(need, largest_double(values, n), 40);
	else
		add_floats(need, largest_float(values, n), 24);
}

void sl_precision_measure(const struct sl_tensors *tensors, const void *model, size_t n, struct sl_need *need)
{
	const uint8_t *at = model;
	*need = (struct sl_need){0};
	uint32_t count = tensors == NULL ? 0 : tensors->count;
	if (count == 0)
		add_tensor(need, SL_FLOAT32, model, n);
	for (uint32_t i = 0; i < count; i++) {
		const struct sl_tensor *tensor = &tensors->items[i];
		size_t elements = (size_t)sl_tensor_elements(tensor);
		add_tensor(need, tensor->dtype, at, elements);
		at += elements * sl_tensors_dtype_bytes(tensor->dtype);
	}
	if (need->whole != 0)
		need->whole = UINT64_MAX >> __builtin_clzll(need->whole);
}

/* ---- choosing ---- */

static double power_of_ten(uint32_t digits)
{
	double power = 1;
	while (digits-- > 0)
		power *= 10;
	return power;
}

/* Return the fewest decimals d with 10^-d <= unit. */
static uint32_t decimals_of(double unit)
{
	uint32_t d = 0;
	while (unit > 0 && d < SL_DECIMALS_MAX && power_of_ten(d) * unit < 1)
		d++;
	return d;
}

void sl_precision_fit(struct sl_precision *precision, const struct sl_need *need)
{
	bool any_range = precision->clipping_range == SL_CLIPPING_RANGE_AUTO,
	     any_decimals = precision->decimals == SL_DECIMALS_AUTO;
	double range = any_range ? need->range : precision->clipping_range;
	if (range == 0)
		range = 1;
	uint32_t d = any_decimals ? decimals_of(need->unit) : precision->decimals;
	while (range * power_of_ten(d) < (double)need->whole) {
		if (any_range)
			range *= 2;
		else if (any_decimals && d < SL_DECIMALS_MAX)
			d++;
		else
			break;
	}
	*precision = (struct sl_precision){.decimals = d, .clipping_range = range};
}

uint32_t sl_precision_lower(const struct sl_encoding *encoding, const struct sl_addends *addends,
			    uint32_t bits_max)
{
	struct sl_encoding tried = *encoding;
	for (;; tried.decimals--) {
		if (sl_encoding_modulus(&tried, addends, bits_max) != 0)
			return tried.decimals;
		if (tried.decimals == 0)
			return encoding->decimals;
	}
}
