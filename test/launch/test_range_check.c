/* The checker of the simulator comes to the limbs, counts and exponents of the learners by code of its own
 * (ROUND.md §4.3 Limbs and ranges). */
#include <math.h>

#include "common/base/limits.h"
#include "common/base/random.h"
#include "common/field/encoding.h"
#include "test/lib/test.h"
#include "test/simulator/range_check.h"

#define TENSORS 6u

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	return sl_random_next(seed) % below;
}

static int limbs_of(uint8_t class)
{
	return class == SL_CLASS_SMALL ? 5 : class == SL_CLASS_NONNEGATIVE ? 3 : 1;
}

/* The bits of lower limbs, of each class and for all bits of the first one. */
TEST(lower_limbs)
{
	for (uint8_t class = 0; class < SL_CLASS_COUNT; class ++)
		for (int bits = 1; bits <= (int)SL_UPDATE_BITS_MAX; bits++) {
			struct sl_ranges ranges = {.count = 1, .class = &class};
			int16_t exponent = 0;
			struct sl_encoding encoding = {.values = SL_VALUES_UPDATE,
						       .update_bits = (uint32_t)bits,
						       .ranges = &ranges,
						       .exponents = &exponent};
			if (sl_encoding_is_exact(&encoding, 0))
				continue;
			struct sl_grid grid = sl_encoding_grid(&encoding, 0);
			assert_int_equal(sl_range_check_lower(limbs_of(class), bits),
					 sl_limbs_below(&grid.limbs, 0));
		}
}

TEST(counts)
{
	uint64_t seed = 32;
	struct sl_range_grid grid = {.change = 0};
	unsigned want[SL_RANGE_CHECK_MAGNITUDES] = {0};
	for (int turn = 0; turn < 20000; turn++) {
		int range = (int)draw(&seed, 40) - 20;
		double power = ldexp(1, range + (int)draw(&seed, 20) - 12);
		const double changes[] = {
			0,	power,	    nextafter(power, INFINITY), nextafter(power, 0), 1e300,
			1e-300, power * 1.3};
		grid.change = changes[draw(&seed, 7)];
		want[sl_ranges_magnitude(grid.change, range)]++;
		sl_range_check_count(&grid, range);
		assert_true(grid.change == 0);
		for (size_t b = 0; b < SL_RANGE_CHECK_MAGNITUDES; b++)
			assert_int_equal(grid.counts[b], want[b]);
	}
}

/* Sums as they may be, and ranges up to their ends. */
TEST(exponents)
{
	uint64_t seed = 33;
	for (int turn = 0; turn < 200000; turn++) {
		static const int ends[] = {
			0, -100, SL_RANGE_LEAST, SL_RANGE_LEAST + 3, SL_RANGE_MOST, SL_RANGE_MOST - 3};
		struct sl_range_sums sums = {.learners = 2 + (uint32_t)draw(&seed, 60),
					     .weight = 1 + draw(&seed, UINT64_C(1) << draw(&seed, 40)),
					     .most = draw(&seed, UINT64_C(1) << draw(&seed, 50))};
		struct sl_range_grid grid = {.change = 0};
		uint32_t magnitudes = 1 + (uint32_t)draw(&seed, SL_MAGNITUDES);
		sums.backed = 1 + (uint32_t)draw(&seed, sums.learners - 1);
		for (uint32_t i = 0; i < sums.learners; i++)
			sums.counts[turn % 2 == 0 && draw(&seed, 2) == 0 ? 0 : draw(&seed, magnitudes)]++;
		for (uint32_t b = 0; b < SL_MAGNITUDES; b++)
			grid.counts[b] = (unsigned)sums.counts[b];
		struct sl_range_end end = {.range = ends[draw(&seed, 6)],
					   .bits = 1 + (int)draw(&seed, 24),
					   .learners = sums.learners,
					   .backed = sums.backed,
					   .most = (double)sums.most,
					   .weight = (double)sums.weight};
		assert_int_equal(sl_range_check_exponent(&grid, &end),
				 sl_ranges_next(&sums, end.range, (uint32_t)end.bits));
	}
}

/* After an exact round, of zeros and of any values. */
TEST(first_exponents)
{
	uint64_t seed = 34;
	for (int turn = 0; turn < 100000; turn++) {
		uint8_t classes[TENSORS];
		double most[TENSORS], others = 0;
		int16_t exponents[TENSORS];
		const struct sl_ranges ranges = {.count = TENSORS, .class = classes};
		struct sl_tensor items[TENSORS] = {0};
		const struct sl_tensors tensors = {.items = items, .count = TENSORS};
		for (uint32_t k = 0; k < TENSORS; k++) {
			items[k].nonnegative = draw(&seed, 2) == 0;
			bool power = draw(&seed, 4) == 0;
			double part = power ? 0.5 : 0.5 + (double)draw(&seed, UINT64_C(1) << 52) * 0x1p-53;
			int exponent =
				(int)draw(&seed, turn % 2 == 0 ? 20 : 2090) - (turn % 2 == 0 ? 0 : 1070);
			most[k] = draw(&seed, 3) == 0 ? 0 : ldexp(part, exponent < 1024 ? exponent : 1024);
			classes[k] = (uint8_t)draw(&seed, SL_CLASS_COUNT);
			if (!sl_ranges_always_exact((enum sl_tensor_class)classes[k]))
				others = fmax(others, most[k]);
		}
		sl_ranges_first(&ranges, &tensors, most, exponents);
		for (uint32_t k = 0; k < TENSORS; k++)
			assert_int_equal(exponents[k],
					 sl_ranges_always_exact((enum sl_tensor_class)classes[k])
						 ? 0
						 : sl_range_check_first(most[k], others, limbs_of(classes[k]),
									items[k].nonnegative));
	}
}
