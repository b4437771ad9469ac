#include "common/field/exact.h"

#include <math.h>

#include "common/base/real.h"

#define MANTISSA_BITS 52
#define WORD 64u

typedef unsigned __int128 wide;

/* ---- values to limbs ---- */

/* Return mantissa / 2^down, rounded to the nearest, halves to even. */
static uint64_t rounded_down(uint64_t mantissa, int down)
{
	if (down > MANTISSA_BITS + 1) /* below a half */
		return 0;
	uint64_t whole = mantissa >> down, rest = mantissa - (whole << down),
		 half = UINT64_C(1) << (down - 1);
	return whole + (rest > half || (rest == half && whole % 2 == 1));
}

bool sl_exact_real(const struct sl_exact *exact, double real, struct sl_exact_value *value)
{
	uint64_t bits = sl_real_bits(real);
	int exponent = (int)(bits >> MANTISSA_BITS & 0x7ff);
	uint64_t mantissa = bits & ((UINT64_C(1) << MANTISSA_BITS) - 1);
	mantissa |= exponent > 0 ? UINT64_C(1) << MANTISSA_BITS : 0;
	int shift = (exponent > 0 ? exponent : 1) - 1023 - MANTISSA_BITS - exact->bottom;
	*value = (struct sl_exact_value){.negative = bits >> 63 != 0};
	if (fabs(real) >= ldexp(1, (int)exact->bits + exact->bottom))
		return false;
	value->mantissa = shift < 0 ? rounded_down(mantissa, -shift) : mantissa;
	value->shift = shift < 0 ? 0 : (uint32_t)shift;
	return true;
}

void sl_exact_integer(int64_t integer, struct sl_exact_value *value)
{
	*value = (struct sl_exact_value){.mantissa = integer < 0 ? -(uint64_t)integer : (uint64_t)integer,
					 .negative = integer < 0};
}

uint64_t sl_exact_limb(const struct sl_exact *exact, const struct sl_exact_value *value, uint32_t limb)
{
	uint32_t below = exact->limb_bits * (exact->count - 1 - limb);
	uint64_t mask = (UINT64_C(1) << exact->limb_bits) - 1;
	if (value->shift >= below) {
		uint32_t up = value->shift - below;
		return up < exact->limb_bits ? value->mantissa << up & mask : 0;
	}
	uint32_t down = below - value->shift;
	return down < WORD ? value->mantissa >> down & mask : 0;
}

/* ---- sums to means ---- */

void sl_exact_add(const struct sl_exact *exact, struct sl_exact_sum *sum, uint32_t limb, int64_t limbs)
{
	uint32_t below = exact->limb_bits * (exact->count - 1 - limb), at = below / WORD;
	wide part = (wide)(__int128)limbs << below % WORD; /* |limbs| < 2^61: a sign is left */
	uint64_t more = limbs < 0 ? UINT64_MAX : 0, carry = 0;
	for (uint32_t w = at; w < SL_EXACT_WORDS; w++) {
		uint64_t word = w == at ? (uint64_t)part : w == at + 1 ? (uint64_t)(part >> WORD) : more;
		wide total = (wide)sum->words[w] + word + carry;
		sum->words[w] = (uint64_t)total;
		carry = (uint64_t)(total >> WORD);
	}
}

/* Set `magnitude` to |sum|, and return true if the sum is negative. */
static bool magnitude_of(const struct sl_exact_sum *sum, uint64_t magnitude[static SL_EXACT_WORDS])
{
	bool negative = sum->words[SL_EXACT_WORDS - 1] >> 63 != 0;
	uint64_t carry = negative;
	for (uint32_t w = 0; w < SL_EXACT_WORDS; w++) {
		magnitude[w] = (negative ? ~sum->words[w] : sum->words[w]) + carry;
		carry = carry != 0 && magnitude[w] == 0;
	}
	return negative;
}

#define FRACTION_WORDS 2u /* of the quotient: it has 53 bits also if the sum is 1 and the weight 2^61 */

double sl_exact_mean(const struct sl_exact *exact, const struct sl_exact_sum *sum, uint64_t weight)
{
	uint64_t magnitude[SL_EXACT_WORDS], rest = 0;
	bool negative = magnitude_of(sum, magnitude), inexact = false;
	wide top = 0; /* the leading words of the quotient: 65 to 128 bits, or all */
	int exponent = exact->bottom;
	for (int w = SL_EXACT_WORDS - 1; w >= -(int)FRACTION_WORDS; w--) {
		uint64_t word = w < 0 ? 0 : magnitude[w];
		if (w >= 0 && (word | rest) == 0 && top == 0) /* no division yet */
			continue;
		if (top >> WORD != 0) { /* enough: what follows only breaks ties */
			inexact |= word != 0;
			exponent += w >= 0 ? (int)WORD : 0;
			continue;
		}
		wide dividend = (wide)rest << WORD | word;
		top = top << WORD | (uint64_t)(dividend / weight);
		rest = (uint64_t)(dividend % weight);
		exponent -= w < 0 ? (int)WORD : 0;
	}
	inexact |= rest != 0;
	if (top == 0)
		return 0;
	uint64_t high = (uint64_t)(top >> WORD), low = (uint64_t)top;
	int zeros = high != 0 ? __builtin_clzll(high) : (int)WORD + __builtin_clzll(low);
	wide left = top << zeros;						/* the highest bit is 1 */
	uint64_t mantissa = (uint64_t)(left >> (2 * WORD - MANTISSA_BITS - 3)); /* 55 bits */
	inexact |= left << (MANTISSA_BITS + 3) != 0;
	double mean =
		ldexp((double)(mantissa | inexact), exponent + (int)(2 * WORD) - MANTISSA_BITS - 3 - zeros);
	return negative ? -mean : mean;
}

int64_t sl_exact_mean_integer(const struct sl_exact_sum *sum, uint64_t weight)
{
	uint64_t magnitude[SL_EXACT_WORDS], rest = 0, mean = 0;
	bool negative = magnitude_of(sum, magnitude);
	for (uint32_t w = SL_EXACT_WORDS; w-- > 0;) {
		wide dividend = (wide)rest << WORD | magnitude[w];
		mean = (uint64_t)(dividend / weight);
		rest = (uint64_t)(dividend % weight);
	}
	uint64_t other = weight - rest;
	mean += rest > other || (rest == other && mean % 2 == 1);
	return (int64_t)(negative ? -mean : mean);
}
