/* Sums of encodings to the mean (ROUND.md §4.6 Decoding). */
#include <math.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/field/encoding.h"
#include "common/field/encoding_scale.h"
#include "common/field/kernels/table.h"

#define EXACT (UINT64_C(1) << 53) /* up to it, every integer is a double */

typedef unsigned __int128 wide;

/* Z, and what each of its elements is divided by. */
struct decoder {
	const struct sl_field *field;
	uint64_t scale, weight; /* 10^decimals; Z_n, or 1 for paper */
	double step;		/* of updates, a power of two */
};

/* Round once to double for the numerator, the denominator and the quotient, and once to float. There are no
 * sums that a machine could fuse, so every machine gets the same bits. */
static void decode_floats(const struct decoder *d, const uint64_t *z, size_t count, float *theta)
{
	double denominator = (double)d->scale * (double)d->weight;
	for (size_t l = 0; l < count; l++)
		theta[l] = (float)((double)sl_field_centred(d->field, z[l]) / denominator);
}

/* Return top / bottom, correctly rounded: 55 bits of the quotient, the last of them 1 if any bit after it is.
 * top < 2^61, 0 < bottom < 2^102. */
static double divide(uint64_t top, wide bottom)
{
	uint64_t quotient = 0;
	wide rest = top;
	int exponent = 0;
	if (top == 0)
		return 0;
	for (; rest < bottom; exponent--)
		rest <<= 1;
	wide unit = bottom;
	for (; rest >> 1 >= unit; exponent++)
		unit <<= 1;
	for (int bit = 0; bit < 55; bit++, rest <<= 1) {
		quotient = quotient << 1 | (rest >= unit);
		rest -= rest >= unit ? unit : 0;
	}
	return ldexp((double)(quotient | (rest != 0)), exponent - 54);
}

/* A division of integers below 2^53 is one operation, which the machine rounds correctly. */
static void decode_doubles(const struct decoder *d, const uint64_t *z, size_t count, double *theta)
{
	wide denominator = (wide)d->scale * d->weight;
	bool small = denominator <= EXACT;
	for (size_t l = 0; l < count; l++) {
		int64_t sum = sl_field_centred(d->field, z[l]);
		uint64_t magnitude = (uint64_t)(sum < 0 ? -sum : sum);
		double mean = small && magnitude <= EXACT ? (double)magnitude / (double)denominator
							  : divide(magnitude, denominator);
		theta[l] = sum < 0 ? -mean : mean;
	}
}

/* Return the integer nearest to centred(z) / weight, halves to even. */
static int64_t nearest(const struct decoder *d, uint64_t z)
{
	int64_t sum = sl_field_centred(d->field, z);
	uint64_t magnitude = (uint64_t)(sum < 0 ? -sum : sum);
	uint64_t mean = magnitude / d->weight, rest = magnitude % d->weight, other = d->weight - rest;
	mean += rest > other || (rest == other && mean % 2 == 1);
	return sum < 0 ? -(int64_t)mean : (int64_t)mean;
}

/* ---- updates of one limb ---- */

/* Return B + u, each operation rounded once: two conversions and a division; the product by the step is
 * exact, so a machine that fuses it with the sum gets the same bits. Of u = 0, B, also if that is -0. */
static double updated(const struct decoder *d, uint64_t z, double base)
{
	return z == 0 ? base : base + (double)sl_field_centred(d->field, z) / (double)d->weight * d->step;
}

static void update_floats(const struct decoder *d, const uint64_t *z, const float *base, size_t count,
			  float *theta)
{
	if (d->field->bits <= 52) {
		const struct sl_updates updates = {.base = base, .count = count, .step = d->step};
		sl_kernels()->decode(d->field, &updates, z, (double)d->weight, theta);
		return;
	}
	for (size_t l = 0; l < count; l++)
		theta[l] = (float)updated(d, z[l], (double)base[l]);
}

static void update_doubles(const struct decoder *d, const uint64_t *z, const double *base, size_t count,
			   double *theta)
{
	for (size_t l = 0; l < count; l++)
		theta[l] = updated(d, z[l], base[l]);
}

static void decode_integers(const struct decoder *d, const uint64_t *z, size_t count, int64_t *theta)
{
	for (size_t l = 0; l < count; l++)
		theta[l] = nearest(d, z[l]);
}

/* Set the values of a non-negative tensor that are not above 0, -0.0 among them, to 0. */
static void raise_run(const struct sl_tensor_run *run, void *theta)
{
	switch (run->dtype) {
#define RAISE(dtype, name, file_name, type)                                                                  \
	case dtype:                                                                                          \
		for (type *v = theta, *end = v + run->count; v < end; v++)                                   \
			*v = *v > 0 ? *v : 0;                                                                \
		break;
		SL_DTYPES(RAISE)
#undef RAISE
	}
}

static void decode_run(const struct decoder *d, const struct sl_tensor_run *run, const uint64_t *z,
		       void *theta)
{
	switch (run->dtype) {
	case SL_FLOAT32:
		decode_floats(d, z, run->count, theta);
		break;
	case SL_FLOAT64:
		decode_doubles(d, z, run->count, theta);
		break;
	case SL_INT64:
		decode_integers(d, z, run->count, theta);
	}
	if (run->nonnegative)
		raise_run(run, theta);
}

/* ---- with limbs ---- */

/* Z, packed, from the element on that is the first lower limb of a tensor of `elements`. */
struct lower {
	const uint8_t *packed;
	size_t first, elements;
};

/* Return the sum of limb `limb` >= 1 of element `l` of the tensor. */
static int64_t lower_sum(const struct decoder *d, const struct lower *lower, uint32_t limb, size_t l)
{
	size_t at = lower->first + (limb - 1) * lower->elements + l;
	return sl_field_centred(d->field, sl_bytes_element(lower->packed, at, d->field->bits));
}

/* Return the sum of updates in units of the last limb: of the first limb, `z`, and the lower ones. */
static __int128 whole_sum(const struct decoder *d, const struct sl_limbs *limbs, const struct lower *lower,
			  size_t l, uint64_t z)
{
	__int128 sum = sl_field_centred(d->field, z);
	for (uint32_t limb = 1; limb < limbs->count; limb++)
		sum = sum * ((__int128)1 << limbs->lower) + lower_sum(d, lower, limb, l);
	return sum;
}

/* Decode updates of several limbs, a part of a tensor from its element `at` on. */
static void decode_updates(const struct decoder *d, const struct sl_grid *g, const struct lower *lower,
			   size_t at, const struct sl_tensor_run *run, const uint64_t *z, const void *base,
			   void *theta)
{
	for (size_t l = 0; l < run->count; l++) {
		__int128 sum = whole_sum(d, &g->limbs, lower, at + l, z[l]);
		double mean = (double)sum / (double)d->weight * d->step, from;
		if (run->dtype == SL_FLOAT32) {
			from = (double)((const float *)base)[l];
			((float *)theta)[l] = (float)(sum == 0 ? from : from + mean);
		} else {
			from = ((const double *)base)[l];
			((double *)theta)[l] = sum == 0 ? from : from + mean;
		}
	}
}

/* Decode exact values, a part of a tensor from its element `at` on. */
static void decode_exact(const struct decoder *d, const struct sl_exact *exact, const struct lower *lower,
			 size_t at, const struct sl_tensor_run *run, const uint64_t *z, void *theta)
{
	for (size_t l = 0; l < run->count; l++) {
		struct sl_exact_sum sum = {0};
		sl_exact_add(exact, &sum, 0, sl_field_centred(d->field, z[l]));
		for (uint32_t limb = 1; limb < exact->count; limb++)
			sl_exact_add(exact, &sum, limb, lower_sum(d, lower, limb, at + l));
		if (run->dtype == SL_INT64)
			((int64_t *)theta)[l] = sl_exact_mean_integer(&sum, d->weight);
		else if (run->dtype == SL_FLOAT64)
			((double *)theta)[l] = sl_exact_mean(exact, &sum, d->weight);
		else
			((float *)theta)[l] = (float)sl_exact_mean(exact, &sum, d->weight);
	}
}

/* Decode `some` of the elements of a run, a tensor. */
static void decode_tensor(struct decoder *d, const struct sl_encoding *encoding, const struct lower *lower,
			  const struct sl_tensor_run *run, const struct sl_tensor_run *some,
			  const uint64_t *z, const void *base, void *to)
{
	uint32_t tensor = run->tensor - 1;
	size_t at = some->first - run->first;
	if (sl_encoding_is_exact(encoding, tensor)) {
		struct sl_exact exact = sl_encoding_exact(encoding, tensor);
		decode_exact(d, &exact, lower, at, some, z, to);
		return;
	}
	struct sl_grid g = sl_encoding_grid(encoding, tensor);
	d->step = ldexp(1, g.step);
	if (g.limbs.count > 1)
		decode_updates(d, &g, lower, at, some, z, base, to);
	else if (some->dtype == SL_FLOAT32)
		update_floats(d, z, base, some->count, to);
	else
		update_doubles(d, z, base, some->count, to);
}

static void decode_with_limbs(struct decoder *d, const struct sl_encoding *encoding,
			      const struct sl_tensors *tensors, const uint64_t *z, const uint8_t *packed,
			      const void *base, size_t n, size_t first, size_t count, uint8_t *part)
{
	struct lower lower = {packed, n, 0};
	size_t before = sl_tensors_offset(tensors, n, first);
	struct sl_tensor_run run = {.apart = true};
	sl_tensors_seek(tensors, first, &run);
	if (run.tensor > 0)
		lower.first += sl_ranges_lower_before(encoding->ranges, encoding->exponents != NULL,
						      encoding->update_bits, run.tensor);
	while (run.first + run.count < first + count && sl_tensors_next(tensors, n, &run)) {
		struct sl_tensor_run some = sl_tensors_part(&run, first, count);
		lower.elements = run.count;
		if (some.count > 0) {
			uint8_t *to = part + (some.offset - before);
			decode_tensor(d, encoding, &lower, &run, &some, z + (some.first - first),
				      sl_encoding_from(base, some.offset), to);
			if (some.nonnegative)
				raise_run(&some, to);
		}
		lower.first += (sl_encoding_limbs(encoding, run.tensor - 1) - 1) * run.count;
	}
}

/* The mean of vectors with noise; base: B, or NULL. */
static void decode_noisy(const struct decoder *d, const struct sl_tensors *tensors, const uint64_t *z,
			 const void *base, size_t n, size_t first, size_t count, uint8_t *part)
{
	size_t before = sl_tensors_offset(tensors, n, first);
	struct sl_tensor_run run = {.apart = true};
	for (sl_tensors_seek(tensors, first, &run);
	     run.first + run.count < first + count && sl_tensors_next(tensors, n, &run);) {
		struct sl_tensor_run some = sl_tensors_part(&run, first, count);
		const void *from = sl_encoding_from(base, some.offset);
		uint8_t *to = part + (some.offset - before);
		for (size_t l = 0; l < some.count; l++) {
			uint64_t sum = z[some.first - first + l];
			if (some.dtype == SL_FLOAT32)
				((float *)(void *)to)[l] = (float)updated(
					d, sum, from == NULL ? 0 : (double)((const float *)from)[l]);
			else
				((double *)(void *)to)[l] =
					updated(d, sum, from == NULL ? 0 : ((const double *)from)[l]);
		}
		if (some.nonnegative && some.count > 0)
			raise_run(&some, to);
	}
}

static void decode_decimals(const struct decoder *d, const struct sl_tensors *tensors, const uint64_t *z,
			    size_t n, size_t first, size_t count, uint8_t *part)
{
	size_t before = sl_tensors_offset(tensors, n, first);
	struct sl_tensor_run run = {.apart = true};
	for (sl_tensors_seek(tensors, first, &run);
	     run.first + run.count < first + count && sl_tensors_next(tensors, n, &run);) {
		struct sl_tensor_run some = sl_tensors_part(&run, first, count);
		if (some.count > 0)
			decode_run(d, &some, z + (some.first - first), part + (some.offset - before));
	}
}

int sl_encoding_decode_part(const struct sl_field *field, const struct sl_encoding *encoding,
			    const struct sl_tensors *tensors, const uint64_t *z, const uint8_t *packed,
			    uint64_t total, const void *base, size_t n, size_t first, size_t count,
			    void *part)
{
	bool limbs = sl_encoding_has_limbs(encoding), noisy = sl_encoding_is_noisy(encoding);
	struct decoder d = {field, limbs ? 0 : sl_encoding_power_of_ten(encoding->decimals),
			    encoding->kind == SL_ENCODING_PAPER ? 1 : total,
			    noisy ? sl_encoding_step(encoding) : 0};
	if (d.weight == 0)
		return SL_ERR_INVALID;
	if (noisy)
		decode_noisy(&d, tensors, z, base, n, first, count, part);
	else if (limbs)
		decode_with_limbs(&d, encoding, tensors, z, packed, base, n, first, count, part);
	else
		decode_decimals(&d, tensors, z, n, first, count, part);
	return SL_OK;
}
