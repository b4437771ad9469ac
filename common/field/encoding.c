#include "common/field/encoding.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define MAGNITUDE_END (UINT64_C(1) << 60) /* (p-1)/2 is below it */
#define EXACT (UINT64_C(1) << 53)	  /* up to it, every integer is a double */

typedef unsigned __int128 wide;

static uint64_t power_of_ten(uint32_t digits)
{
	assert(digits <= SL_DECIMALS_MAX);
	uint64_t power = 1;
	while (digits-- > 0)
		power *= 10;
	return power;
}

/* Return floor((hi 2^64 + lo) / 2^right), saturating at UINT64_MAX. */
static uint64_t shift_down(wide hi, uint64_t lo, int right)
{
	if (right >= 192)
		return 0;
	if (right >= 64)
		hi >>= right - 64;
	else if (right > 0)
		hi = hi >> right != 0 ? (wide)UINT64_MAX : hi << (64 - right) | lo >> right;
	else if (hi != 0 || (lo != 0 && (right <= -64 || lo << -right >> -right != lo)))
		hi = UINT64_MAX;
	else
		hi = lo == 0 ? 0 : lo << -right;
	return hi > UINT64_MAX ? UINT64_MAX : (uint64_t)hi;
}

/* Return floor(2 * 10^decimals * clipping_range) exactly: the range is 53 bits times a power of two. */
static uint64_t twice_range(uint32_t decimals, double clipping_range)
{
	int exponent;
	if (!(clipping_range > 0) || !isfinite(clipping_range))
		return UINT64_MAX;
	wide a = (wide)(uint64_t)(frexp(clipping_range, &exponent) * 0x1p53) * power_of_ten(decimals);
	return shift_down(a >> 64, (uint64_t)a, 53 - 1 - exponent);
}

/* A finite number: bits * 2^exponent, with as few bits as it takes. */
struct binary {
	uint64_t bits;
	int exponent;
};

static struct binary binary_of(double value)
{
	struct binary b = {.exponent = 0};
	b.bits = (uint64_t)(frexp(fabs(value), &b.exponent) * 0x1p53);
	int zeros = b.bits == 0 ? 0 : __builtin_ctzll(b.bits);
	b.bits >>= zeros;
	b.exponent += zeros - 53;
	return b;
}

/* Return rint(|theta| 10^decimals) of the exact product, ties to even; at most MAGNITUDE_END. 53 and 40 bits
 * give the product 93. */
static uint64_t rounded(uint64_t scale, double theta)
{
	struct binary b = binary_of(theta);
	wide product = (wide)b.bits * scale;
	if (b.exponent >= 0)
		return b.exponent >= 60 || product >= MAGNITUDE_END >> b.exponent
			       ? MAGNITUDE_END
			       : (uint64_t)product << b.exponent;
	if (b.exponent < -94)
		return 0;
	wide half = (wide)1 << (-b.exponent - 1), rest = product & (2 * half - 1);
	wide whole = product >> -b.exponent;
	whole += rest > half || (rest == half && whole % 2 == 1);
	return whole < MAGNITUDE_END ? (uint64_t)whole : MAGNITUDE_END;
}

/* Return m * `whole`, at most MAGNITUDE_END. */
static uint64_t weighted(const struct sl_encoding *encoding, uint64_t whole)
{
	uint64_t magnitude;
	if (__builtin_mul_overflow(whole, encoding->weight, &magnitude) || magnitude > MAGNITUDE_END)
		return MAGNITUDE_END;
	return magnitude;
}

/* Return floor(top 2^doublings / bottom), at most MAGNITUDE_END, by long division in binary. */
static uint64_t divide_doubled(wide top, uint64_t bottom, int doublings)
{
	wide quotient = top / bottom, rest = top % bottom;
	for (; doublings > 0 && quotient < MAGNITUDE_END; doublings--) {
		rest <<= 1;
		quotient = quotient << 1 | (rest >= bottom);
		rest -= rest >= bottom ? bottom : 0;
	}
	return quotient < MAGNITUDE_END ? (uint64_t)quotient : MAGNITUDE_END;
}

/* Return floor(10^decimals |theta| m / m_total) exactly, by floor(a / (2^k b)) = floor(floor(a / 2^k) / b). A
 * float has 24 bits, so that 40 + 24 + 64 bits hold the product; of a double, m has at most 35. */
static uint64_t papers(const struct sl_encoding *encoding, uint64_t scale, double theta)
{
	struct binary b = binary_of(theta);
	wide top;
	if (__builtin_mul_overflow((wide)b.bits * scale, (wide)encoding->weight, &top))
		return MAGNITUDE_END;
	if (b.exponent < 0)
		top = b.exponent > -128 ? top >> -b.exponent : 0;
	return divide_doubled(top, encoding->weight_total, b.exponent > 0 ? b.exponent : 0);
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
	uint64_t scale, most;  /* 10^decimals; (p-1)/2, the largest magnitude that has a sign */
	uint64_t integer_most; /* floor(clipping_range * 10^decimals) */
	float edge, half;      /* largest float within the clipping range; largest that is rounded to 0 */
	double loss;	       /* largest rounding error, times 10^decimals */
	struct sl_encode_note *note;
};

/* Encode |theta| <= clipping_range. */
static uint64_t magnitude_of(struct encoder *e, double theta)
{
	if (e->encoding->kind == SL_ENCODING_PAPER)
		return papers(e->encoding, e->scale, theta);
	double product = fabs(theta) * (double)e->scale, nearest = rint(product);
	/* The error of the product, of 53 bits, cannot carry a sum below 2^40 over a half. */
	bool clear = product < 0x1p40 && fabs(product - nearest) < 0.499;
	uint64_t whole = clear ? (uint64_t)nearest : rounded(e->scale, theta);
	double loss = fabs(product - (double)whole);
	e->loss = loss > e->loss ? loss : e->loss;
	e->note->vanished += whole == 0 && theta != 0;
	return weighted(e->encoding, whole);
}

static uint64_t with_sign(const struct encoder *e, uint64_t magnitude, bool negative)
{
	uint64_t minus = negative ? UINT64_MAX : 0;
	return sl_field_lift(e->field, (magnitude ^ minus) - minus);
}

/* Encode a float or a double; `edge` is the largest of its dtype within the clipping range. */
static int encode_real(struct encoder *e, double value, double edge, size_t l, uint64_t *x)
{
	if (!isfinite(value))
		return refuse(e->note, l, value, SL_ERR_INVALID);
	if (!(fabs(value) <= e->encoding->clipping_range)) {
		if (!e->encoding->clamp)
			return refuse(e->note, l, value, SL_ERR_RANGE);
		e->note->clamped++;
		value = copysign(edge, value);
	}
	uint64_t magnitude = magnitude_of(e, value);
	if (magnitude > e->most)
		return refuse(e->note, l, value, SL_ERR_RANGE);
	*x = with_sign(e, magnitude, signbit(value));
	return SL_OK;
}

static int encode_integer(struct encoder *e, int64_t value, size_t l, uint64_t *x)
{
	uint64_t whole = value < 0 ? -(uint64_t)value : (uint64_t)value;
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
	*x = with_sign(e, magnitude, value < 0);
	return SL_OK;
}

/* ---- a block of weighted floats within the clipping range: no check per element ---- */

#define BLOCK 512u
#define LANES 4u
#define WHOLE                                                                                                \
	0x1p52 /* between it and its double, the doubles are the integers: adding it rounds, ties to even */

static bool bounded(const struct encoder *e)
{
	double most = e->encoding->clipping_range * (double)e->scale;
	uint64_t magnitude;
	return e->encoding->kind == SL_ENCODING_WEIGHTED && most >= 0 && most < WHOLE / 2 &&
	       !__builtin_mul_overflow((uint64_t)most + 1, e->encoding->weight, &magnitude) &&
	       magnitude <= e->most;
}

static bool within(const float *theta, float edge)
{
	bool all = true;
	for (size_t l = 0; l < BLOCK; l++)
		all &= fabsf(theta[l]) <= edge; /* false for NaN */
	return all;
}

/* Encode without a branch: signs are unpredictable. The product of a float is an exact double. */
static void encode_block(struct encoder *e, const float *restrict theta, uint64_t *restrict x)
{
	double scale = (double)e->scale, most[LANES] = {0};
	uint64_t weight = e->encoding->weight;
	for (size_t l = 0; l < BLOCK; l += LANES)
		for (size_t k = 0; k < LANES; k++) {
			double exact = fabs((double)theta[l + k]) * scale, whole = exact + WHOLE;
			uint64_t bits, minus = signbit(theta[l + k]) ? UINT64_MAX : 0;
			memcpy(&bits, &whole, sizeof bits);
			uint64_t magnitude = (bits & ((UINT64_C(1) << 52) - 1)) * weight;
			x[l + k] = sl_field_lift(e->field, (magnitude ^ minus) - minus);
			double loss = fabs(exact - (whole - WHOLE));
			most[k] = loss > most[k] ? loss : most[k];
		}
	for (size_t k = 0; k < LANES; k++)
		e->loss = most[k] > e->loss ? most[k] : e->loss;
}

/* Count the values of a block that are not 0 and are rounded to 0. */
static uint32_t vanished(const float *theta, float half)
{
	uint32_t count = 0;
	for (size_t l = 0; l < BLOCK; l++)
		count += (fabsf(theta[l]) <= half) & (theta[l] != 0);
	return count;
}

/* ---- a model ---- */

static int encode_floats(struct encoder *e, const float *theta, size_t first, size_t count, uint64_t *x)
{
	int err = SL_OK;
	for (size_t l = 0; l < count && err == SL_OK; l++)
		err = encode_real(e, (double)theta[l], (double)e->edge, first + l, &x[l]);
	return err;
}

static int encode_float_run(struct encoder *e, const float *theta, size_t first, size_t count, uint64_t *x)
{
	int err = SL_OK;
	bool quick = bounded(e);
	for (size_t at = 0; at < count && err == SL_OK; at += BLOCK) {
		size_t n = count - at < BLOCK ? count - at : BLOCK;
		if (quick && n == BLOCK && within(theta + at, e->edge)) {
			encode_block(e, theta + at, x + at);
			e->note->vanished += vanished(theta + at, e->half);
		} else {
			err = encode_floats(e, theta + at, first + at, n, x + at);
		}
	}
	return err;
}

static int encode_run(struct encoder *e, const struct sl_tensor_run *run, const void *model, uint64_t *x)
{
	int err = SL_OK;
	switch (run->dtype) {
	case SL_FLOAT32:
		return encode_float_run(e, model, run->first, run->count, x);
	case SL_FLOAT64:
		for (size_t l = 0; l < run->count && err == SL_OK; l++)
			err = encode_real(e, ((const double *)model)[l], e->encoding->clipping_range,
					  run->first + l, &x[l]);
		break;
	case SL_INT64:
		for (size_t l = 0; l < run->count && err == SL_OK; l++)
			err = encode_integer(e, ((const int64_t *)model)[l], run->first + l, &x[l]);
		break;
	}
	return err;
}

int sl_encoding_encode_part(const struct sl_field *field, const struct sl_encoding *encoding,
			    const struct sl_tensors *tensors, const void *model, size_t n, size_t first,
			    size_t count, uint64_t *x, struct sl_encode_note *note)
{
	struct encoder e = {.field = field,
			    .encoding = encoding,
			    .scale = power_of_ten(encoding->decimals),
			    .most = (field->p - 1) / 2,
			    .integer_most = twice_range(encoding->decimals, encoding->clipping_range) / 2,
			    .edge = float_below(encoding->clipping_range),
			    .half = float_below(0.5 / (double)power_of_ten(encoding->decimals)),
			    .note = note};
	*note = (struct sl_encode_note){0};
	int err = check_weight(field, encoding, n, note);
	for (struct sl_tensor_run run = {0}; err == SL_OK && sl_tensors_next(tensors, n, &run);) {
		struct sl_tensor_run part = sl_tensors_part(&run, first, count);
		if (part.count > 0)
			err = encode_run(&e, &part, (const uint8_t *)model + part.offset,
					 x + (part.first - first));
	}
	note->rounding = e.loss / (double)e.scale;
	if (err == SL_OK && first + count == n + 1)
		x[n - first] = encoding->kind == SL_ENCODING_PAPER ? 0 : encoding->weight;
	return err;
}

int sl_encoding_encode(const struct sl_field *field, const struct sl_encoding *encoding,
		       const struct sl_tensors *tensors, const void *model, size_t n, uint64_t *x,
		       struct sl_encode_note *note)
{
	return sl_encoding_encode_part(field, encoding, tensors, model, n, 0, n + 1, x, note);
}

/* ---- decoding ---- */

/* Z, and what each of its elements is divided by. */
struct decoder {
	const struct sl_field *field;
	uint64_t scale, weight; /* 10^decimals; Z_n, or 1 for paper */
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

static void decode_integers(const struct decoder *d, const uint64_t *z, size_t count, int64_t *theta)
{
	for (size_t l = 0; l < count; l++) {
		int64_t sum = sl_field_centred(d->field, z[l]);
		uint64_t magnitude = (uint64_t)(sum < 0 ? -sum : sum);
		uint64_t mean = magnitude / d->weight, rest = magnitude % d->weight, other = d->weight - rest;
		mean += rest > other || (rest == other && mean % 2 == 1); /* ties to even */
		theta[l] = sum < 0 ? -(int64_t)mean : (int64_t)mean;
	}
}

int sl_encoding_decode_part(const struct sl_field *field, const struct sl_encoding *encoding,
			    const struct sl_tensors *tensors, const uint64_t *z, uint64_t total, size_t n,
			    size_t first, size_t count, void *model)
{
	struct decoder d = {field, power_of_ten(encoding->decimals),
			    encoding->kind == SL_ENCODING_PAPER ? 1 : total};
	if (d.weight == 0)
		return SL_ERR_INVALID;
	for (struct sl_tensor_run run = {0}; sl_tensors_next(tensors, n, &run);) {
		struct sl_tensor_run part = sl_tensors_part(&run, first, count);
		uint8_t *at = (uint8_t *)model + part.offset;
		const uint64_t *sums = z + (part.first - first);
		if (part.count == 0)
			continue;
		if (part.dtype == SL_FLOAT32)
			decode_floats(&d, sums, part.count, (float *)at);
		else if (part.dtype == SL_FLOAT64)
			decode_doubles(&d, sums, part.count, (double *)at);
		else
			decode_integers(&d, sums, part.count, (int64_t *)at);
	}
	return SL_OK;
}

int sl_encoding_decode(const struct sl_field *field, const struct sl_encoding *encoding,
		       const struct sl_tensors *tensors, const uint64_t *z, size_t n, void *model)
{
	return sl_encoding_decode_part(field, encoding, tensors, z, z[n], n, 0, n, model);
}

/* ---- the modulus ---- */

uint64_t sl_encoding_largest(const struct sl_encoding *encoding)
{
	double range = encoding->clipping_range;
	uint64_t scale = power_of_ten(encoding->decimals), largest;
	if (!(range > 0) || !isfinite(range))
		return UINT64_MAX;
	if (encoding->kind == SL_ENCODING_PAPER)
		return twice_range(encoding->decimals, range) / 2;
	largest = rounded(scale, range);
	return largest < MAGNITUDE_END ? largest : UINT64_MAX;
}

/* Return floor(2 * the largest magnitude of a sum), saturating at UINT64_MAX. */
static uint64_t twice_sum(const struct sl_encoding *encoding, uint64_t total)
{
	uint64_t twice;
	if (encoding->kind == SL_ENCODING_PAPER)
		return twice_range(encoding->decimals, encoding->clipping_range);
	uint64_t largest = sl_encoding_largest(encoding);
	if (largest == UINT64_MAX || __builtin_mul_overflow(2 * largest, total, &twice))
		return UINT64_MAX;
	return twice;
}

static uint64_t least_p(const struct sl_encoding *encoding, uint32_t decimals, uint64_t total)
{
	struct sl_encoding tried = *encoding;
	tried.decimals = decimals;
	uint64_t range = twice_sum(&tried, total);
	uint64_t least = range > UINT64_MAX - 2 ? UINT64_MAX : range + 2; /* p > 1 + R is p >= floor(R) + 2 */
	return least > total ? least : total == UINT64_MAX ? UINT64_MAX : total + 1;
}

bool sl_encoding_bound(uint64_t p, const struct sl_encoding *encoding, const struct sl_addends *addends,
		       uint64_t *least, int *decimals_most)
{
	uint64_t total;
	if (__builtin_mul_overflow(addends->learners, addends->max_weight, &total))
		total = UINT64_MAX;
	uint64_t need = least_p(encoding, encoding->decimals, total);
	if (least != NULL)
		*least = need;
	if (decimals_most != NULL) {
		*decimals_most = (int)SL_DECIMALS_MAX;
		while (*decimals_most >= 0 && p < least_p(encoding, (uint32_t)*decimals_most, total))
			--*decimals_most;
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
