#include "tools/lib/range_check.h"

#include <math.h>
#include <string.h>

/* log2 of the largest update of a magnitude, over the range. */
static const int largest[SL_RANGE_CHECK_MAGNITUDES] = {0,  -24, -20, -16, -13, -10, -8, -6,
						       -5, -4,	-3,  -2,  -1,  0,   2,	5};

static uint64_t elements_of(const struct sl_tensor_place *place)
{
	return place->bytes / (place->dtype == SL_FLOAT32 ? 4 : 8);
}

/* Return true if the tensors with at most as many elements as `place` are small together. */
static bool is_small(const struct sl_tensor_file *tensors, const struct sl_tensor_place *place)
{
	uint64_t sum = 0, room = tensors->n / 192;
	for (size_t i = 0; i < tensors->count; i++)
		if (elements_of(&tensors->places[i]) <= elements_of(place))
			sum += elements_of(&tensors->places[i]);
	return sum <= (room > 1024 ? room : 1024);
}

bool sl_range_check_always_exact(const struct sl_tensor_place *place)
{
	return place->dtype == SL_INT64 || place->metric;
}

int sl_range_check_limbs(const struct sl_tensor_file *tensors, const struct sl_tensor_place *place)
{
	return sl_range_check_always_exact(place) ? 1
	       : is_small(tensors, place)	  ? 5
	       : place->nonnegative		  ? 3
						  : 1;
}

int sl_range_check_bottom(const struct sl_tensor_file *tensors, const struct sl_tensor_place *place)
{
	if (place->dtype == SL_INT64)
		return 0;
	if (place->metric || sl_range_check_limbs(tensors, place) > 1 || tensors->n <= 65536)
		return -128;
	return tensors->n <= 16777216 ? -64 : -40;
}

int sl_range_check_lower(int limbs, int bits)
{
	int limb = limbs > 1 ? (60 - bits) / (limbs - 1) : 0;
	return (limbs - 1) * (limb < bits ? limb : bits);
}

void sl_range_check_grids(struct sl_range_grid *grids, const struct sl_tensor_file *tensors,
			  const struct sl_tensor_file *before, int bits)
{
	for (size_t i = 0; i < tensors->count; i++) {
		int lower = sl_range_check_lower(sl_range_check_limbs(tensors, &tensors->places[i]), bits);
		grids[i] = (struct sl_range_grid){.step = before->places[i].range - bits - lower,
						  .lower = lower,
						  .most = ldexp(1, bits + lower)};
	}
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
