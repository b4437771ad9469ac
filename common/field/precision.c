#include "common/field/precision.h"

#include <float.h>
#include <math.h>

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* ---- measuring ---- */

/* A tensor, and the base of its updates; NULL: zeros. */
static double largest_float(const float *values, const float *base, size_t n)
{
	double most = 0;
	for (size_t l = 0; l < n; l++) {
		double value = (double)values[l] - (base == NULL ? 0 : (double)base[l]);
		most = isfinite(value) ? larger(most, fabs(value)) : most;
	}
	return most;
}

static double largest_double(const double *values, const double *base, size_t n)
{
	double most = 0;
	for (size_t l = 0; l < n; l++) {
		double value = values[l] - (base == NULL ? 0 : base[l]);
		most = isfinite(value) ? larger(most, fabs(value)) : most;
	}
	return most;
}

/* Return the union of the bits of all magnitudes. */
static uint64_t bits_of(const int64_t *values, const int64_t *base, size_t n)
{
	uint64_t bits = 0;
	for (size_t l = 0; l < n; l++) {
		int64_t from = base == NULL ? 0 : base[l];
		uint64_t up = (uint64_t)values[l] - (uint64_t)from;
		bits |= values[l] < from ? -up : up;
	}
	return bits;
}

/* Return the smallest power of two that is at least `magnitude`, times 2^above, or the largest one of all; 0
 * for 0. */
static double power_above(double magnitude, int above)
{
	int exponent = sl_ranges_above(magnitude) + above;
	return magnitude > 0 ? ldexp(1, exponent < DBL_MAX_EXP ? exponent : DBL_MAX_EXP - 1) : 0;
}

/* The bits below the range of a tensor that count, and the room above its values. */
struct margin {
	int below32, below64, above;
};
static const struct margin margins[] = {[SL_VALUES_MODEL] = {24, 40, 1}, [SL_VALUES_UPDATE] = {0, 0, 0}};

static void add_floats(struct sl_need *need, double magnitude, int above, int below)
{
	double range = power_above(magnitude, above), unit = ldexp(range, -below);
	need->range = larger(need->range, range);
	if (unit > 0 && (need->unit == 0 || unit < need->unit))
		need->unit = unit;
}

static void add_tensor(struct sl_need *need, const struct margin *margin, enum sl_dtype dtype,
		       const void *values, const void *base, size_t n)
{
	if (dtype == SL_INT64)
		need->whole |= bits_of(values, base, n);
	else if (dtype == SL_FLOAT64)
		add_floats(need, largest_double(values, base, n), margin->above, margin->below64);
	else
		add_floats(need, largest_float(values, base, n), margin->above, margin->below32);
}

void sl_precision_measure(enum sl_values values, const struct sl_tensors *tensors, const void *model,
			  const void *base, size_t n, struct sl_need *need)
{
	const struct margin *margin = &margins[values];
	const uint8_t *at = model, *from = values == SL_VALUES_UPDATE ? base : NULL;
	*need = (struct sl_need){0};
	uint32_t count = tensors == NULL ? 0 : tensors->count;
	if (count == 0)
		add_tensor(need, margin, SL_FLOAT32, at, from, n);
	for (uint32_t i = 0; i < count; i++) {
		const struct sl_tensor *tensor = &tensors->items[i];
		size_t elements = (size_t)sl_tensor_elements(tensor),
		       bytes = elements * sl_tensors_dtype_bytes(tensor->dtype);
		add_tensor(need, margin, tensor->dtype, at, from, elements);
		at += bytes;
		from = from == NULL ? NULL : from + bytes;
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

#define TENSOR_BITS 8u	  /* that the tensor of the smallest updates keeps below its own range */
#define MORE_BITS_MOST 8u /* than the setting, for its sake: it may hardly move */
#define WHOLE_BITS 8u	  /* more than the setting, of whole models: no later round adds what they lose */

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Return the bits for updates of tensors whose ranges are up to `spread` powers of two apart. */
static uint32_t bits_of_spread(uint32_t set, uint32_t spread)
{
	uint32_t bits = least(set, TENSOR_BITS) + spread;
	return bits > set ? least(bits, set + MORE_BITS_MOST) : set;
}

/* Return the bits with which each tensor of a whole model keeps as many below its own range. */
static uint32_t bits_of_whole(uint32_t set, uint32_t spread)
{
	return set + WHOLE_BITS + spread;
}

static void fit_update(struct sl_precision *precision, const struct sl_need *need)
{
	int largest, smallest; /* both 0 if all updates are 0 */
	if (precision->clipping_range == SL_CLIPPING_RANGE_AUTO)
		precision->clipping_range = need->range > 0 ? need->range : DBL_MIN; /* the least there is */
	(void)frexp(need->range, &largest);
	(void)frexp(need->unit, &smallest);
	uint32_t set = precision->update_bits, spread = (uint32_t)(largest - smallest);
	precision->update_bits =
		precision->whole_model ? bits_of_whole(set, spread) : bits_of_spread(set, spread);
	while (precision->update_bits < SL_UPDATE_BITS_MAX && need->whole >> precision->update_bits != 0)
		precision->update_bits++;
	precision->update_bits = least(precision->update_bits, SL_UPDATE_BITS_MAX);
	precision->decimals = 0;
}

static void fit_model(struct sl_precision *precision, const struct sl_need *need)
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
	precision->decimals = d;
	precision->clipping_range = range;
}

void sl_precision_fit(struct sl_precision *precision, const struct sl_need *need)
{
	if (precision->values == SL_VALUES_UPDATE)
		fit_update(precision, need);
	else
		fit_model(precision, need);
}

uint32_t sl_precision_lower(const struct sl_encoding *encoding, const struct sl_addends *addends,
			    uint32_t bits_max)
{
	struct sl_encoding tried = *encoding;
	for (uint32_t digits = sl_encoding_digits(encoding);; digits--) {
		sl_encoding_set_digits(&tried, digits);
		if (sl_encoding_modulus(&tried, addends, bits_max) != 0)
			return digits;
		if (digits == 0)
			return sl_encoding_digits(encoding);
	}
}
