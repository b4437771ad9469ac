/* --verify comes to the steps, counts and exponents of the learners by code of its own (PROTOCOL.md §4.3
 * Ranges of the tensors). */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "common/base/limits.h"
#include "common/base/random.h"
#include "common/field/encoding.h"
#include "test/lib/test.h"
#include "tools/lib/range_check.h"

#define TENSORS 6u

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	return sl_random_next(seed) % below;
}

TEST(grids)
{
	uint64_t seed = 31;
	for (int turn = 0; turn < 20000; turn++) {
		static uint64_t memory[32];
		static const size_t bytes[] = {[SL_FLOAT32] = 4, [SL_FLOAT64] = 8, [SL_INT64] = 8};
		struct sl_tensor items[TENSORS];
		struct sl_tensor_place places[TENSORS] = {0}, before[TENSORS] = {0};
		struct sl_tensor_file file = {.places = places, .count = 1 + (size_t)draw(&seed, TENSORS)},
				      old = {.places = before, .count = file.count};
		struct sl_tensors tensors = {items, (uint32_t)file.count};
		struct sl_range_grid grids[TENSORS];
		struct sl_ranges ranges;
		int16_t exponents[TENSORS];
		int bits = 1 + (int)draw(&seed, SL_UPDATE_BITS_MAX);
		for (size_t k = 0; k < file.count; k++) {
			uint64_t elements = draw(&seed, UINT64_C(1) << draw(&seed, 18));
			items[k] =
				(struct sl_tensor){.dtype = (enum sl_dtype)draw(&seed, 3), .dimensions = 1};
			items[k].shape[0] = elements;
			places[k].dtype = items[k].dtype;
			places[k].bytes = elements * bytes[items[k].dtype];
			before[k].range = exponents[k] = (int16_t)((int)draw(&seed, 200) - 100);
			file.n += elements;
		}
		sl_ranges_set(&ranges, &tensors, file.n, memory);
		struct sl_encoding encoding = {.values = SL_VALUES_UPDATE,
					       .update_bits = (uint32_t)bits,
					       .ranges = &ranges,
					       .exponents = exponents};
		sl_range_check_grids(grids, &file, &old, bits, 5);
		for (uint32_t k = 0; k < file.count; k++) {
			struct sl_limbs limbs = sl_ranges_limbs(ranges.limbs[k], (uint32_t)bits);
			double step = sl_encoding_step_of(&encoding, k, items[k].dtype);
			assert_true(ldexp(1, grids[k].step) == step);
			assert_int_equal(grids[k].lower, sl_limbs_below(&limbs, 0));
			assert_true(grids[k].most == ldexp(1, bits + grids[k].lower));
		}
		sl_range_check_grids(grids, &file, NULL, bits, 5);
		for (uint32_t k = 0; k < file.count; k++)
			assert_true(grids[k].step == (items[k].dtype == SL_INT64 ? 0 : 5) &&
				    grids[k].lower == 0 && grids[k].most > 1e300);
	}
}

TEST(counts)
{
	uint64_t seed = 32;
	struct sl_range_grid grid = {.step = 0};
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
		struct sl_range_grid grid = {.step = 0};
		uint32_t magnitudes = 1 + (uint32_t)draw(&seed, SL_MAGNITUDES);
		sums.backed = 1 + (uint32_t)draw(&seed, sums.learners - 1);
		for (uint32_t i = 0; i < sums.learners; i++)
			sums.counts[draw(&seed, magnitudes)]++;
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
		end.first = true;
		int first = sl_ranges_first(&sums, end.range);
		assert_int_equal(sl_range_check_exponent(&grid, &end),
				 first == SL_RANGE_NONE ? INT_MAX : first);
	}
}
