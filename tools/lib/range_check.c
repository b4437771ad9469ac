#include "tools/lib/range_check.h"

#include <limits.h>
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
	uint64_t sum = 0, room = tensors->n / 64;
	for (size_t i = 0; i < tensors->count; i++)
		if (elements_of(&tensors->places[i]) <= elements_of(place))
			sum += elements_of(&tensors->places[i]);
	return sum <= (room > 1024 ? room : 1024);
}

int sl_range_check_limbs(const struct sl_tensor_file *tensors, const struct sl_tensor_place *place)
{
	bool fine = place->nonnegative || is_small(tensors, place);
	return place->dtype == SL_INT64 ? 4 : fine ? 2 : 1;
}

int sl_range_check_bits(int limbs, int bits)
{
	int each = limbs == 1 ? 0 : (60 - bits) / (limbs - 1);
	return bits + (limbs - 1) * (each < bits ? each : bits);
}

int sl_range_check_room(int limbs, bool zeros)
{
	return limbs == 1 ? 0 : zeros ? 12 : 30;
}

void sl_range_check_grids(struct sl_range_grid *grids, const struct sl_tensor_file *tensors,
			  const struct sl_tensor_file *before, int bits, int first_step)
{
	for (size_t i = 0; i < tensors->count; i++) {
		bool whole = tensors->places[i].dtype == SL_INT64;
		int all = sl_range_check_bits(sl_range_check_limbs(tensors, &tensors->places[i]), bits);
		int step = before == NULL ? first_step : before->places[i].range - all;
		grids[i] = (struct sl_range_grid){.step = whole && (before == NULL || step < 0) ? 0 : step,
						  .lower = before == NULL ? 0 : all - bits,
						  .most = before == NULL ? INFINITY : ldexp(1, all)};
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

int sl_range_check_exponent(const struct sl_range_grid *grid, const struct sl_range_end *end)
{
	int place = SL_RANGE_CHECK_MAGNITUDES - 1, reached = 0, last = 0, g = 0;
	double sum = end->most;
	if (end->first) {
		if (sum == 0)
			return INT_MAX;
		for (g = -1100; sum > ldexp(end->weight, g); g++)
			;
		g += end->range + 8;
		return g < -960 ? -960 : g > 1020 ? 1020 : g;
	}
	for (; place > 0 && reached < (int)end->backed; place--) {
		reached += (int)grid->counts[place];
		last = grid->counts[place] > 0 ? place : last;
	}
	if (last == 0)
		return end->range;
	if (sum < end->weight)
		sum = end->weight;
	while (sum > ldexp(end->weight, g))
		g++;
	int wanted = end->range + largest[last] + 1,
	    most = end->range - end->bits + g + above(4.0 * end->learners);
	most = most > end->range + 2 ? most : end->range + 2;
	wanted = wanted < most ? wanted : most;
	return wanted < -960 ? -960 : wanted > 1020 ? 1020 : wanted;
}
