#include "common/field/encoding.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define MAGNITUDE_END (UINT64_C(1) << 60) /* (p-1)/2 is below it */

typedef unsigned __int128 wide;

static uint64_t power_of_ten(uint32_t digits)
{
	assert(digits <= SL_DECIMALS_MAX);
	uint64_t power = 1;
	while (digits-- > 0)
		power *= 10;
	return power;
}

/* Return m * rint(|theta| 10^decimals), at most MAGNITUDE_END. The product is an exact double. */
static uint64_t weighted(const struct sl_encoding *encoding, uint64_t scale, double theta)
{
	double scaled = rint(fabs(theta) * (double)scale); /* ties to even */
	uint64_t magnitude;
	if (scaled >= (double)MAGNITUDE_END ||
	    __builtin_mul_overflow((uint64_t)scaled, encoding->weight, &magnitude) ||
	    magnitude > MAGNITUDE_END)
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

/* Return floor(10^decimals |theta| m / m_total) exactly: theta is 24 bits times a power of two, so 40 + 24 +
 * 64 bits hold the product, and floor(a / (2^k b)) = floor(floor(a / 2^k) / b). */
static uint64_t papers(const struct sl_encoding *encoding, uint64_t scale, double theta)
{
	int exponent;
	uint64_t mantissa = (uint64_t)(frexp(fabs(theta), &exponent) * 0x1p24);
	wide top = (wide)(mantissa * scale) * encoding->weight;
	exponent -= 24;
	if (exponent < 0)
		top = exponent > -128 ? top >> -exponent : 0;
	return divide_doubled(top, encoding->weight_total, exponent > 0 ? exponent : 0);
}

/* Return the largest float within the clipping range, so that a clamped value is a float. */
static float clip_float(double clipping_range)
{
	float f = clipping_range < (double)__FLT_MAX__ ? (float)clipping_range : __FLT_MAX__;
	return (double)f > clipping_range ? nextafterf(f, 0) : f;
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
	uint64_t scale, most; /* 10^decimals; (p-1)/2, the largest magnitude that has a sign */
	float edge;
};

static int encode_one(const struct encoder *e, float theta, size_t l, uint64_t *x,
		      struct sl_encode_note *note)
{
	double value = (double)theta;
	if (!isfinite(value))
		return refuse(note, l, value, SL_ERR_INVALID);
	if (!(fabs(value) <= e->encoding->clipping_range)) {
		if (!e->encoding->clamp)
			return refuse(note, l, value, SL_ERR_RANGE);
		note->clamped++;
		value = copysign((double)e->edge, value);
	}
	uint64_t magnitude = e->encoding->kind == SL_ENCODING_PAPER ? papers(e->encoding, e->scale, value)
								    : weighted(e->encoding, e->scale, value);
	if (magnitude > e->most)
		return refuse(note, l, value, SL_ERR_RANGE);
	*x = signbit(value) && magnitude != 0 ? e->field->p - magnitude : magnitude;
	return SL_OK;
}

/* ---- a block of weighted values within the clipping range: no check per element ---- */

#define BLOCK 512u
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

static bool within(const float *theta, size_t n, double clipping_range)
{
	bool all = true;
	for (size_t l = 0; l < n; l++)
		all &= fabs((double)theta[l]) <= clipping_range; /* false for NaN */
	return all;
}

/* Encode without a branch: signs are unpredictable. */
static void encode_block(const struct encoder *e, const float *restrict theta, size_t n, uint64_t *restrict x)
{
	double scale = (double)e->scale;
	uint64_t weight = e->encoding->weight;
	for (size_t l = 0; l < n; l++) {
		double whole = fabs((double)theta[l]) * scale + WHOLE;
		uint64_t bits, minus = signbit(theta[l]) ? UINT64_MAX : 0;
		memcpy(&bits, &whole, sizeof bits);
		uint64_t magnitude = (bits & ((UINT64_C(1) << 52) - 1)) * weight;
		x[l] = sl_field_lift(e->field, (magnitude ^ minus) - minus);
	}
}

static int encode_any(const struct encoder *e, const float *theta, size_t at, size_t n, uint64_t *x,
		      struct sl_encode_note *note)
{
	int err = SL_OK;
	for (size_t l = at; l < at + n && err == SL_OK; l++)
		err = encode_one(e, theta[l], l, &x[l], note);
	return err;
}

int sl_encoding_encode(const struct sl_field *field, const struct sl_encoding *encoding, const float *theta,
		       size_t n, uint64_t *x, struct sl_encode_note *note)
{
	struct encoder e = {.field = field,
			    .encoding = encoding,
			    .scale = power_of_ten(encoding->decimals),
			    .most = (field->p - 1) / 2,
			    .edge = clip_float(encoding->clipping_range)};
	*note = (struct sl_encode_note){0};
	int err = check_weight(field, encoding, n, note);
	bool quick = bounded(&e);
	for (size_t at = 0; at < n && err == SL_OK; at += BLOCK) {
		size_t count = n - at < BLOCK ? n - at : BLOCK;
		if (quick && within(theta + at, count, encoding->clipping_range))
			encode_block(&e, theta + at, count, x + at);
		else
			err = encode_any(&e, theta, at, count, x, note);
	}
	if (err == SL_OK)
		x[n] = encoding->kind == SL_ENCODING_PAPER ? 0 : encoding->weight;
	return err;
}

/* Round once to double for the numerator, the denominator and the quotient, and once to float. There are no
 * sums that a machine could fuse, so every machine gets the same bits. */
int sl_encoding_decode(const struct sl_field *field, const struct sl_encoding *encoding, const uint64_t *z,
		       size_t n, float *theta)
{
	bool paper = encoding->kind == SL_ENCODING_PAPER;
	if (!paper && z[n] == 0)
		return SL_ERR_INVALID;
	double denominator = (double)power_of_ten(encoding->decimals) * (paper ? 1.0 : (double)z[n]);
	for (size_t l = 0; l < n; l++)
		theta[l] = (float)((double)sl_field_centred(field, z[l]) / denominator);
	return SL_OK;
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

/* Return floor(2 * 10^decimals * clipping_range * factor) exactly: the range is 53 bits times a power of two.
 */
static uint64_t twice_range(uint32_t decimals, double clipping_range, uint64_t factor)
{
	int exponent;
	if (!(clipping_range > 0) || !isfinite(clipping_range))
		return UINT64_MAX;
	wide a = (wide)(uint64_t)(frexp(clipping_range, &exponent) * 0x1p53) * power_of_ten(decimals);
	wide low = (wide)(uint64_t)a * factor;
	wide high = (a >> 64) * factor + (low >> 64);
	return shift_down(high, (uint64_t)low, 53 - 1 - exponent);
}

static uint64_t least_p(const struct sl_encoding *encoding, uint32_t decimals, uint64_t total)
{
	bool paper = encoding->kind == SL_ENCODING_PAPER;
	uint64_t range = twice_range(decimals, encoding->clipping_range, paper ? 1 : total);
	uint64_t least = range > UINT64_MAX - 2 ? UINT64_MAX : range + 2; /* p > 1 + R is p >= floor(R) + 2 */
	return least > total ? least : total == UINT64_MAX ? UINT64_MAX : total + 1;
}

bool sl_encoding_bound(uint64_t p, const struct sl_encoding *encoding, uint64_t learners, uint64_t max_weight,
		       uint64_t *least, int *decimals_most)
{
	uint64_t total;
	if (__builtin_mul_overflow(learners, max_weight, &total))
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

uint64_t sl_encoding_modulus(const struct sl_encoding *encoding, uint64_t learners, uint64_t max_weight,
			     uint32_t bits_max)
{
	static const struct {
		uint64_t p;
		uint32_t bits;
	} primes[] = {
		{SL_P_MERSENNE31, 31},		{(UINT64_C(1) << 36) - 5, 36}, {(UINT64_C(1) << 40) - 87, 40},
		{(UINT64_C(1) << 44) - 17, 44}, {(UINT64_C(1) << 61) - 1, 61},
	};
	for (size_t i = 0; i < sizeof primes / sizeof *primes; i++)
		if (primes[i].bits <= bits_max &&
		    sl_encoding_bound(primes[i].p, encoding, learners, max_weight, NULL, NULL))
			return primes[i].p;
	return 0;
}
