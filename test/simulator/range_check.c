#include "test/simulator/range_check.h"

#include <math.h>

/* log2 of the largest update of a magnitude, over the range. */
static const int largest[SL_RANGE_CHECK_MAGNITUDES] = {0,  -24, -20, -16, -13, -10, -8, -6,
						       -5, -4,	-3,  -2,  -1,  0,   2,	5};

int sl_range_check_lower(int limbs, int bits)
{
	int limb = limbs > 1 ? (60 - bits) / (limbs - 1) : 0;
	return (limbs - 1) * (limb < bits ? limb : bits);
}

void sl_range_check_count(struct sl_range_grid *grid, int range)
{
	int place = 0;
	if (grid->change > 0) {
		place = 1;
		while (place < SL_RANGE_CHECK_MAGNITUDES - 1 &&
		       grid->change > ldexp(1, range + largest[place]))
			place++;
	}
	grid->counts[place]++;
	grid->change = 0;
}

/* Return the least e with value <= 2^e, of value > 0. */
static int above(double value)
{
	int e = ilogb(value);
	return ldexp(1, e) < value ? e + 1 : e;
}

static int within(int exponent)
{
	return exponent < -960 ? -960 : exponent > 1020 ? 1020 : exponent;
}

int sl_range_check_exponent(const struct sl_range_grid *grid, const struct sl_range_end *end)
{
	int place = SL_RANGE_CHECK_MAGNITUDES - 1, reached = 0, last = 0, g = 0;
	double sum = fmax(end->most, end->weight);
	for (; place > 0 && reached < (int)end->backed; place--) {
		reached += (int)grid->counts[place];
		last = grid->counts[place] > 0 ? place : last;
	}
	if (last == 0)
		return end->range;
	while (sum > ldexp(end->weight, g))
		g++;
	int wanted = end->range + largest[last] + 1,
	    most = end->range - end->bits + g + above(4.0 * end->learners);
	int least = end->range + (reached < (int)end->backed ? 0 : 2); /* it grows so far in any case */
	most = most > least ? most : least;
	return within(wanted < most ? wanted : most);
}

int sl_range_check_first(double most, double others, int limbs, bool nonnegative)
{
	if (most > 0 && limbs > 1 && above(most) < 30)
		return within(above(most) < 0 ? above(most) + 38 : 38);
	if (most > 0)
		return within(above(most) + 8);
	return within((others > 0 ? above(others) + 8 : 0) + (limbs > 1 && !nonnegative ? 12 : 0));
}
