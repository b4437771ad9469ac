#include "common/field/encoding.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/field/decimal.h"
#include "common/field/encoding_scale.h"
#include "common/field/kernels/table.h"

/* ---- the scale ---- */

double sl_encoding_step(const struct sl_encoding *encoding)
{
	bool ranged = encoding->values == SL_VALUES_UPDATE;
	if (sl_encoding_is_noisy(encoding))
		return ldexp(1, encoding->noisy.step);
	return ranged ? ldexp(1, -(int)encoding->update_bits)
	       : encoding->values == SL_VALUES_EXACT
		       ? 0
		       : 1 / (double)sl_encoding_power_of_ten(encoding->decimals);
}

struct sl_grid sl_encoding_grid(const struct sl_encoding *encoding, uint32_t tensor)
{
	return sl_ranges_grid(sl_ranges_limb_count(encoding->ranges->class[tensor]),
			      encoding->exponents[tensor], encoding->update_bits);
}

struct sl_exact sl_encoding_exact(const struct sl_encoding *encoding, uint32_t tensor)
{
	return sl_ranges_exact((enum sl_tensor_class)encoding->ranges->class[tensor],
			       encoding -> ranges -> layout.n, encoding->update_bits);
}

uint32_t sl_encoding_digits(const struct sl_encoding *encoding)
{
	return sl_encoding_has_limbs(encoding) ? encoding->update_bits : encoding->decimals;
}

void sl_encoding_set_digits(struct sl_encoding *encoding, uint32_t digits)
{
	*(sl_encoding_has_limbs(encoding) ? &encoding->update_bits : &encoding->decimals) = digits;
}

/* ---- magnitudes ---- */

/* Return m * `whole`, at most SL_MAGNITUDE_END. */
static uint64_t weighted(const struct sl_encoding *encoding, uint64_t whole)
{
	uint64_t magnitude;
	if (__builtin_mul_overflow(whole, encoding->weight, &magnitude) || magnitude > SL_MAGNITUDE_END)
		return SL_MAGNITUDE_END;
	return magnitude;
}

/* Return the largest float that is not above `limit`. */
static float float_below(double limit)
{
	float f = limit < (double)__FLT_MAX__ ? (float)limit : __FLT_MAX__;
	return (double)f > limit ? nextafterf(f, 0) : f;
}

static int refuse(struct sl_encode_note *note, size_t index, double value, int err)
{
	note->index = index;
	note->value = value;
	return err;
}

static int check_weight(const struct sl_field *field, const struct sl_encoding *encoding, size_t n,
			struct sl_encode_note *note)
{
	bool paper = encoding->kind == SL_ENCODING_PAPER;
	if (paper && sl_encoding_has_limbs(encoding))
		return refuse(note, n, 0, SL_ERR_INVALID);
	if (paper && (encoding->weight_total == 0 || encoding->weight > encoding->weight_total))
		return refuse(note, n, (double)encoding->weight, SL_ERR_INVALID);
	if (!paper && encoding->weight >= field->p)
		return refuse(note, n, (double)encoding->weight, SL_ERR_RANGE);
	return SL_OK;
}

/* ---- one element ---- */

struct encoder {
	const struct sl_field *field;
	const struct sl_encoding *encoding;
	double scale, range;   /* of u */
	uint64_t ten;	       /* 10^decimals; 0 with limbs */
	uint64_t most;	       /* (p-1)/2, the largest magnitude that has a sign */
	uint64_t integer_most; /* floor(range * scale) */
	double edge;	       /* what a float32 beyond the range is cut to */
	double loss;	       /* largest rounding error, times the scale */
	struct sl_encode_note *note;
};

/* Encode |u| <= range. The product of an update is exact: the scale is a power of two. */
static uint64_t magnitude_of(struct encoder *e, double u)
{
	if (e->encoding->kind == SL_ENCODING_PAPER)
		return sl_decimal_paper(e->ten, u, e->encoding->weight, e->encoding->weight_total);
	double product = fabs(u) * e->scale, nearest = rint(product);
	/* The error of the product, of 53 bits, cannot carry a sum below 2^40 over a half. */
	bool clear =
		sl_encoding_has_limbs(e->encoding) || (product < 0x1p40 && fabs(product - nearest) < 0.499);
	uint64_t whole = clear ? (uint64_t)nearest : sl_decimal_round(e->ten, u);
	double loss = fabs(product - (double)whole);
	e->loss = loss > e->loss ? loss : e->loss;
	e->note->vanished += whole == 0 && u != 0;
	return weighted(e->encoding, whole);
}

static uint64_t with_sign(const struct encoder *e, uint64_t magnitude, bool negative)
{
	uint64_t minus = negative ? UINT64_MAX : 0;
	return sl_field_lift(e->field, (magnitude ^ minus) - minus);
}

/* Encode u of a float or a double; one beyond the range is cut to `edge`. */
static int encode_real(struct encoder *e, double u, double edge, size_t l, uint64_t *x)
{
	if (!isfinite(u))
		return refuse(e->note, l, u, SL_ERR_INVALID);
	if (!(fabs(u) <= e->range)) {
		if (!e->encoding->clamp)
			return refuse(e->note, l, u, SL_ERR_RANGE);
		e->note->clamped++;
		u = copysign(edge, u);
	}
	uint64_t magnitude = magnitude_of(e, u);
	if (magnitude > e->most)
		return refuse(e->note, l, u, SL_ERR_RANGE);
	*x = with_sign(e, magnitude, signbit(u));
	return SL_OK;
}

static int encode_integer(struct encoder *e, int64_t value, size_t l, uint64_t *x)
{
	bool negative = value < 0;
	uint64_t whole = negative ? -(uint64_t)value : (uint64_t)value;
	if (e->encoding->kind == SL_ENCODING_PAPER)
		return refuse(e->note, l, (double)value, SL_ERR_INVALID);
	if (whole > e->integer_most) {
		if (!e->encoding->clamp)
			return refuse(e->note, l, (double)value, SL_ERR_RANGE);
		e->note->clamped++;
		whole = e->integer_most;
	}
	uint64_t magnitude = weighted(e->encoding, whole);
	if (magnitude > e->most)
		return refuse(e->note, l, (double)value, SL_ERR_RANGE);
	*x = with_sign(e, magnitude, negative);
	return SL_OK;
}

/* ---- a block of weighted floats within the clipping range: no check per element ---- */

#define BLOCK SL_KERNEL_BLOCK

static bool bounded(const struct encoder *e)
{
	double most = e->range * e->scale;
	uint64_t magnitude;
	return e->encoding->kind == SL_ENCODING_WEIGHTED && most >= 0 && most < 0x1p51 &&
	       !__builtin_mul_overflow((uint64_t)most + 1, e->encoding->weight, &magnitude) &&
	       magnitude <= e->most;
}

/* ---- a model ---- */

static int encode_each(struct encoder *e, const float *theta, const float *base, size_t first, size_t count,
		       uint64_t *x)
{
	int err = SL_OK;
	for (size_t l = 0; l < count && err == SL_OK; l++)
		err = encode_real(e, base == NULL ? (double)theta[l] : (double)theta[l] - (double)base[l],
				  e->edge, first + l, &x[l]);
	return err;
}

static int encode_floats(struct encoder *e, const float *theta, const float *base, size_t first, size_t count,
			 uint64_t *x)
{
	struct sl_floats block = {
		.field = e->field, .scale = e->scale, .range = e->range, .weight = e->encoding->weight};
	struct sl_encoded encoded = {0};
	bool quick = bounded(e);
	int err = SL_OK;
	for (size_t at = 0, n; at < count && err == SL_OK; at += n) {
		n = count - at < BLOCK ? count - at : BLOCK;
		n -= n > SL_ENCODE_LANES ? n % SL_ENCODE_LANES : 0;
		block.theta = theta + at;
		block.base = base == NULL ? NULL : base + at;
		block.count = n;
		if (!quick || n % SL_ENCODE_LANES != 0 || !sl_kernels()->encode(&block, x + at, &encoded))
			err = encode_each(e, block.theta, block.base, first + at, n, x + at);
	}
	e->loss = encoded.loss > e->loss ? encoded.loss : e->loss;
	e->note->vanished += encoded.vanished;
	return err;
}

/* Return a - b; of finite numbers, a finite one. */
static double difference(double a, double b)
{
	double u = a - b;
	return isinf(u) && isfinite(a) && isfinite(b) ? copysign(DBL_MAX, u) : u;
}

static int encode_doubles(struct encoder *e, const double *theta, const double *base, size_t first,
			  size_t count, uint64_t *x)
{
	int err = SL_OK;
	for (size_t l = 0; l < count && err == SL_OK; l++)
		err = encode_real(e, difference(theta[l], base == NULL ? 0 : base[l]), e->range, first + l,
				  &x[l]);
	return err;
}

static int encode_integers(struct encoder *e, const int64_t *theta, size_t first, size_t count, uint64_t *x)
{
	int err = SL_OK;
	for (size_t l = 0; l < count && err == SL_OK; l++)
		err = encode_integer(e, theta[l], first + l, &x[l]);
	return err;
}

static int encode_run(struct encoder *e, const struct sl_tensor_run *run, const void *model, const void *base,
		      uint64_t *x)
{
	switch (run->dtype) {
	case SL_FLOAT32:
		return encode_floats(e, model, base, run->first, run->count, x);
	case SL_FLOAT64:
		return encode_doubles(e, model, base, run->first, run->count, x);
	case SL_INT64:
		return encode_integers(e, model, run->first, run->count, x);
	}
	return SL_OK;
}

/* ---- exact tensors ---- */

/* Encode limb `limb` of a run, which is a part of an exact tensor. The first limb fills in the note. */
static int encode_exact(struct encoder *e, const struct sl_exact *exact, uint32_t limb,
			const struct sl_tensor_run *run, const void *model, uint64_t *x)
{
	struct sl_exact_value value;
	for (size_t l = 0; l < run->count; l++) {
		double real = run->dtype == SL_FLOAT32	 ? (double)((const float *)model)[l]
			      : run->dtype == SL_FLOAT64 ? ((const double *)model)[l]
							 : 0;
		if (!isfinite(real))
			return refuse(e->note, run->first + l, real, SL_ERR_INVALID);
		if (run->dtype == SL_INT64)
			sl_exact_integer(((const int64_t *)model)[l], &value);
		else if (!sl_exact_real(exact, real, &value))
			return refuse(e->note, run->first + l, real, SL_ERR_RANGE);
		uint64_t magnitude = weighted(e->encoding, sl_exact_limb(exact, &value, limb));
		if (magnitude > e->most)
			return refuse(e->note, run->first + l, real, SL_ERR_RANGE);
		x[l] = with_sign(e, magnitude, value.negative);
		if (limb > 0 || real == 0 || value.shift > 0)
			continue;
		e->note->vanished += value.mantissa == 0;
		double whole = ldexp((double)value.mantissa, exact->bottom);
		e->note->rounding = fmax(e->note->rounding, fabs(fabs(real) - whole));
	}
	return SL_OK;
}

/* ---- updates, by ranges ---- */

static int64_t steps_of(const struct sl_grid *g, double u)
{
	double steps = rint(fabs(u) * ldexp(1, -g->step)); /* the product is exact, or beyond the edge */
	int64_t whole = steps < (double)g->edge ? (int64_t)steps : g->edge;
	return signbit(u) ? -whole : whole;
}

/* Return the update of element `l` of a run of floats. */
static double update_of(const struct sl_tensor_run *run, const void *model, const void *base, size_t l)
{
	if (run->dtype == SL_FLOAT32)
		return (double)((const float *)model)[l] - (double)((const float *)base)[l];
	return difference(((const double *)model)[l], ((const double *)base)[l]);
}

/* Encode limb `limb` of a run, which is a part of a tensor. The first limb fills in the note. */
static int encode_limb(struct encoder *e, const struct sl_grid *g, uint32_t limb,
		       const struct sl_tensor_run *run, const void *model, const void *base, uint64_t *x)
{
	for (size_t l = 0; l < run->count; l++) {
		double u = update_of(run, model, base, l);
		if (!isfinite(u))
			return refuse(e->note, run->first + l, u, SL_ERR_INVALID);
		int64_t steps = steps_of(g, u), digit = sl_ranges_limb(&g->limbs, steps, limb);
		uint64_t magnitude = weighted(e->encoding, (uint64_t)(digit < 0 ? -digit : digit));
		if (magnitude > e->most)
			return refuse(e->note, run->first + l, u, SL_ERR_RANGE);
		x[l] = with_sign(e, magnitude, digit < 0);
		if (limb > 0)
			continue;
		bool cut = fabs(u) > ldexp((double)g->edge, g->step);
		double loss = fabs(u - ldexp((double)steps, g->step));
		e->note->clamped += cut;
		e->note->rounding = cut ? e->note->rounding : fmax(e->note->rounding, loss);
		e->note->vanished += steps == 0 && u != 0;
	}
	return SL_OK;
}

/* Encode a run of updates that have one limb. */
static int encode_on_grid(struct encoder *e, const struct sl_grid *g, const struct sl_tensor_run *run,
			  const void *model, const void *base, uint64_t *x)
{
	e->scale = ldexp(1, -g->step);
	e->range = e->edge = ldexp((double)g->edge, g->step);
	e->loss = 0;
	int err = encode_run(e, run, model, base, x);
	e->note->rounding = fmax(e->note->rounding, e->loss / e->scale);
	return err;
}

/* ---- vectors with limbs ---- */

uint32_t sl_encoding_limbs(const struct sl_encoding *encoding, uint32_t tensor)
{
	return sl_encoding_is_exact(encoding, tensor) ? sl_encoding_exact(encoding, tensor).count
						      : sl_encoding_grid(encoding, tensor).limbs.count;
}

/* Encode limb `limb` of a run, a part of tensor run->tensor - 1 of `model`. */
static int encode_part(struct encoder *e, uint32_t limb, const struct sl_tensor_run *run, const void *model,
		       const void *base, uint64_t *x)
{
	uint32_t tensor = run->tensor - 1;
	const void *values = sl_encoding_from(model, run->offset),
		   *from = sl_encoding_from(base, run->offset);
	if (sl_encoding_is_exact(e->encoding, tensor)) {
		struct sl_exact exact = sl_encoding_exact(e->encoding, tensor);
		return encode_exact(e, &exact, limb, run, values, x);
	}
	struct sl_grid g = sl_encoding_grid(e->encoding, tensor);
	return g.limbs.count == 1 ? encode_on_grid(e, &g, run, values, from, x)
				  : encode_limb(e, &g, limb, run, values, from, x);
}

/* Encode those of the first limbs that are among the elements first .. first + count - 1. */
static int encode_first_limbs(struct encoder *e, const struct sl_tensors *tensors, const void *model,
			      const void *base, size_t n, size_t first, size_t count, uint64_t *x)
{
	int err = SL_OK;
	struct sl_tensor_run run = {.apart = true};
	for (sl_tensors_seek(tensors, first, &run);
	     err == SL_OK && run.first + run.count < first + count && sl_tensors_next(tensors, n, &run);) {
		struct sl_tensor_run some = sl_tensors_part(&run, first, count);
		if (some.count > 0)
			err = encode_part(e, 0, &some, model, base, x + (some.first - first));
	}
	return err;
}

/* The same of the lower limbs; `first` counts from the first of them. */
static int encode_lower_limbs(struct encoder *e, const struct sl_tensors *tensors, const void *model,
			      const void *base, size_t n, size_t first, size_t count, uint64_t *x)
{
	int err = SL_OK;
	const struct sl_ranges *ranges = e->encoding->ranges;
	bool ranged = e->encoding->exponents != NULL;
	uint32_t bits = e->encoding->update_bits;
	struct sl_tensor_run run = {.apart = true};
	size_t at = 0; /* of the lower limb that begins */
	if (tensors != NULL && tensors->begins != NULL) {
		uint32_t tensor = sl_ranges_lower_tensor(ranges, ranged, bits, first);
		at = (size_t)sl_ranges_lower_before(ranges, ranged, bits, tensor);
		sl_tensors_at(tensors, tensor, &run);
	}
	while (at < first + count && sl_tensors_next(tensors, n, &run)) {
		uint32_t limbs = sl_encoding_limbs(e->encoding, run.tensor - 1);
		for (uint32_t limb = 1; err == SL_OK && limb < limbs; limb++, at += run.count) {
			if (at + run.count <= first || at >= first + count)
				continue;
			size_t from = at < first ? first - at : 0;
			struct sl_tensor_run some =
				sl_tensors_part(&run, run.first + from, first + count - at - from);
			err = encode_part(e, limb, &some, model, base, x + (at + from - first));
		}
	}
	return err;
}

struct piece {
	size_t first, count; /* within a part of the vector */
	uint64_t *x;
};

/* Return the elements of the part of `size` elements from `part` on that are among first .. first + count
 * - 1.
 */
static struct piece piece_of(size_t part, size_t size, size_t first, size_t count, uint64_t *x)
{
	size_t from = first > part ? first : part, end = first + count;
	size_t to = end < part + size ? end : part + size;
	return to <= from ? (struct piece){0} : (struct piece){from - part, to - from, x + (from - first)};
}

static int encode_with_limbs(struct encoder *e, const struct sl_tensors *tensors, const void *model,
			     const void *base, size_t n, size_t first, size_t count, uint64_t *x)
{
	const struct sl_ranges *ranges = e->encoding->ranges;
	bool ranged = e->encoding->exponents != NULL;
	size_t lower_size = (size_t)sl_ranges_lower(&ranges->layout, ranged, e->encoding->update_bits);
	struct piece values = piece_of(0, n, first, count, x),
		     lower = piece_of(n, lower_size, first, count, x),
		     counts = piece_of(n + lower_size, ranged ? SL_MAGNITUDES * (size_t)ranges->count : 0,
				       first, count, x);
	int err = SL_OK;
	if (values.count > 0)
		err = encode_first_limbs(e, tensors, model, base, n, values.first, values.count, values.x);
	if (err == SL_OK && lower.count > 0)
		err = encode_lower_limbs(e, tensors, model, base, n, lower.first, lower.count, lower.x);
	for (size_t i = 0; i < counts.count; i++) {
		size_t at = counts.first + i;
		counts.x[i] = at % SL_MAGNITUDES == ranges->own[at / SL_MAGNITUDES];
	}
	return err;
}

/* ---- with decimals ---- */

static int encode_decimals(struct encoder *e, const struct sl_tensors *tensors, const void *model, size_t n,
			   size_t first, size_t count, uint64_t *x)
{
	int err = SL_OK;
	struct sl_tensor_run run = {.apart = true};
	for (sl_tensors_seek(tensors, first, &run);
	     err == SL_OK && run.first + run.count < first + count && sl_tensors_next(tensors, n, &run);) {
		struct sl_tensor_run some = sl_tensors_part(&run, first, count);
		if (some.count > 0)
			err = encode_run(e, &some, sl_encoding_from(model, some.offset), NULL,
					 x + (some.first - first));
	}
	e->note->rounding = e->loss / e->scale;
	return err;
}

int sl_encoding_encode_part(const struct sl_field *field, const struct sl_encoding *encoding,
			    const struct sl_tensors *tensors, const void *model, const void *base, size_t n,
			    size_t first, size_t count, uint64_t *x, struct sl_encode_note *note)
{
	bool limbs = sl_encoding_has_limbs(encoding);
	uint64_t ten = limbs ? 0 : sl_encoding_power_of_ten(encoding->decimals);
	struct sl_encoding cutting = *encoding;
	cutting.clamp |= limbs;
	struct encoder e = {
		.field = field,
		.encoding = &cutting,
		.scale = (double)ten,
		.range = encoding->clipping_range,
		.ten = ten,
		.most = (field->p - 1) / 2,
		.integer_most =
			limbs ? 0 : sl_decimal_twice(encoding->decimals, encoding->clipping_range) / 2,
		.edge = (double)float_below(encoding->clipping_range),
		.note = note};
	*note = (struct sl_encode_note){0};
	int err = check_weight(field, encoding, n, note);
	if (err == SL_OK)
		err = limbs ? encode_with_limbs(&e, tensors, model, base, n, first, count, x)
			    : encode_decimals(&e, tensors, model, n, first, count, x);
	size_t weight = (size_t)sl_encoding_elements(encoding, n) - 1;
	if (err == SL_OK && first + count == weight + 1)
		x[weight - first] = encoding->kind == SL_ENCODING_PAPER ? 0 : encoding->weight;
	return err;
}

/* ---- the modulus ---- */

uint64_t sl_encoding_largest(const struct sl_encoding *encoding)
{
	double range = encoding->clipping_range;
	if (sl_encoding_has_limbs(encoding))
		return UINT64_C(1) << encoding->update_bits;
	if (sl_encoding_is_noisy(encoding))
		return encoding->noisy.most + encoding->noisy.room;
	uint64_t scale = sl_encoding_power_of_ten(encoding->decimals), largest;
	if (!(range > 0) || !isfinite(range))
		return UINT64_MAX;
	if (encoding->kind == SL_ENCODING_PAPER)
		return sl_decimal_twice(encoding->decimals, range) / 2;
	largest = sl_decimal_round(scale, range);
	return largest < SL_MAGNITUDE_END ? largest : UINT64_MAX;
}

/* Return floor(2 * the largest magnitude of a sum), saturating at UINT64_MAX. */
static uint64_t twice_sum(const struct sl_encoding *encoding, uint64_t total)
{
	uint64_t twice;
	if (encoding->kind == SL_ENCODING_PAPER)
		return sl_decimal_twice(encoding->decimals, encoding->clipping_range);
	uint64_t largest = sl_encoding_largest(encoding);
	if (largest == UINT64_MAX || __builtin_mul_overflow(2 * largest, total, &twice))
		return UINT64_MAX;
	return twice;
}

static uint64_t least_p(const struct sl_encoding *encoding, uint32_t digits, uint64_t total)
{
	struct sl_encoding tried = *encoding;
	sl_encoding_set_digits(&tried, digits);
	uint64_t range = twice_sum(&tried, total);
	uint64_t least = range > UINT64_MAX - 2 ? UINT64_MAX : range + 2; /* p > 1 + R is p >= floor(R) + 2 */
	return least > total ? least : total == UINT64_MAX ? UINT64_MAX : total + 1;
}

bool sl_encoding_bound(uint64_t p, const struct sl_encoding *encoding, const struct sl_addends *addends,
		       uint64_t *least, int *digits_most)
{
	uint64_t total;
	if (__builtin_mul_overflow(addends->learners, addends->max_weight, &total))
		total = UINT64_MAX;
	uint64_t need = least_p(encoding, sl_encoding_digits(encoding), total);
	if (least != NULL)
		*least = need;
	if (digits_most != NULL) {
		*digits_most = (int)(sl_encoding_has_limbs(encoding) ? SL_UPDATE_BITS_MAX : SL_DECIMALS_MAX);
		while (*digits_most >= 0 && p < least_p(encoding, (uint32_t)*digits_most, total))
			--*digits_most;
	}
	return p >= need && need != UINT64_MAX;
}

uint64_t sl_encoding_prime(uint32_t bits)
{
	static const uint8_t below[SL_P_BITS_MAX + 1] = {
		[12] = 3, 1,   3,  19, 15, 1,	5,  1,	 3,  9,	 3, 15, 3,  39, 5,  39, 57,
		3,	  35,  1,  5,  9,  41,	31, 5,	 25, 45, 7, 87, 21, 11, 57, 17, 55,
		21,	  115, 59, 81, 27, 129, 47, 111, 33, 55, 5, 13, 27, 55, 93, 1};
	assert(bits >= SL_P_BITS_LEAST && bits <= SL_P_BITS_MAX);
	return (UINT64_C(1) << bits) - below[bits];
}

/* Return the bits by which p is to exceed its bound. Elements that have nothing to do with models then make a
 * plausible sum with a probability of at most 2^-64. */
static uint32_t spare_bits(const struct sl_addends *addends)
{
	return (uint32_t)((64 + addends->n) / (addends->n + 1));
}

uint64_t sl_encoding_modulus(const struct sl_encoding *encoding, const struct sl_addends *addends,
			     uint32_t bits_max)
{
	uint32_t spare = spare_bits(addends);
	uint64_t p = 0;
	for (uint32_t bits = SL_P_BITS_LEAST; bits <= bits_max; bits++) {
		p = sl_encoding_prime(bits);
		if (p > addends->largest_id && sl_encoding_bound(p >> spare, encoding, addends, NULL, NULL))
			return p;
	}
	return p > addends->largest_id && sl_encoding_bound(p, encoding, addends, NULL, NULL) ? p : 0;
}

uint32_t sl_encoding_lower(uint64_t p, const struct sl_encoding *encoding, const struct sl_addends *addends,
			   uint32_t bits_max)
{
	struct sl_encoding tried = *encoding;
	for (uint32_t digits = sl_encoding_digits(encoding);; digits--) {
		sl_encoding_set_digits(&tried, digits);
		if (p == 0 ? sl_encoding_modulus(&tried, addends, bits_max) != 0
			   : sl_encoding_bound(p, &tried, addends, NULL, NULL))
			return digits;
		if (digits == 0)
			return sl_encoding_digits(encoding);
	}
}
