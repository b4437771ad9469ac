#include "common/field/decimal.h"

#include <math.h>

#include "common/field/encoding_scale.h"

typedef unsigned __int128 wide;

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

/* The range is 53 bits times a power of two. */
uint64_t sl_decimal_twice(uint32_t decimals, double clipping_range)
{
	int exponent;
	if (!(clipping_range > 0) || !isfinite(clipping_range))
		return UINT64_MAX;
	wide a = (wide)(uint64_t)(frexp(clipping_range, &exponent) * 0x1p53) *
		 sl_encoding_power_of_ten(decimals);
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

/* 53 and 40 bits give the product 93. */
uint64_t sl_decimal_round(uint64_t scale, double theta)
{
	struct binary b = binary_of(theta);
	wide product = (wide)b.bits * scale;
	if (b.exponent >= 0)
		return b.exponent >= 60 || product >= SL_MAGNITUDE_END >> b.exponent
			       ? SL_MAGNITUDE_END
			       : (uint64_t)product << b.exponent;
	if (b.exponent < -94)
		return 0;
	wide half = (wide)1 << (-b.exponent - 1), rest = product & (2 * half - 1);
	wide whole = product >> -b.exponent;
	whole += rest > half || (rest == half && whole % 2 == 1);
	return whole < SL_MAGNITUDE_END ? (uint64_t)whole : SL_MAGNITUDE_END;
}

/* Return floor(top 2^doublings / bottom), at most SL_MAGNITUDE_END, by long division in binary. */
static uint64_t divide_doubled(wide top, uint64_t bottom, int doublings)
{
	wide quotient = top / bottom, rest = top % bottom;
	for (; doublings > 0 && quotient < SL_MAGNITUDE_END; doublings--) {
		rest <<= 1;
		quotient = quotient << 1 | (rest >= bottom);
		rest -= rest >= bottom ? bottom : 0;
	}
	return quotient < SL_MAGNITUDE_END ? (uint64_t)quotient : SL_MAGNITUDE_END;
}

/* By floor(a / (2^k b)) = floor(floor(a / 2^k) / b). A float has 24 bits, so that 40 + 24 + 64 bits hold the
 * product; of a double, m has at most 35. */
uint64_t sl_decimal_paper(uint64_t scale, double theta, uint64_t weight, uint64_t weight_total)
{
	struct binary b = binary_of(theta);
	wide top;
	if (__builtin_mul_overflow((wide)b.bits * scale, (wide)weight, &top))
		return SL_MAGNITUDE_END;
	if (b.exponent < 0)
		top = b.exponent > -128 ? top >> -b.exponent : 0;
	return divide_doubled(top, weight_total, b.exponent > 0 ? b.exponent : 0);
}
