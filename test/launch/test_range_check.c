/* --verify comes to the steps, counts and exponents of the learners by code of its own (ROUND.md §4.3
 * Limbs and ranges). */
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

/* Fill in any tensors, as the learners and as --verify have them. */
static void draw_tensors(uint64_t *seed, struct sl_tensor *items, struct sl_tensor_file *file)
{
	static const size_t bytes[] = {[SL_FLOAT32] = 4, [SL_FLOAT64] = 8, [SL_INT64] = 8};
	file->count = 1 + (size_t)draw(seed, TENSORS);
	file->n = 0;
	for (size_t k = 0; k < file->count; k++) {
		uint64_t elements = draw(seed, UINT64_C(1) << draw(seed, draw(seed, 10) == 0 ? 26 : 18));
		struct sl_tensor *item = &items[k];
		*item = (struct sl_tensor){.dtype = (enum sl_dtype)draw(seed, 3), .dimensions = 1};
		item->shape[0] = elements;
		item->nonnegative = draw(seed, 4) == 0;
		item->name = draw(seed, 4) == 0 ? "metric:loss" : "w";
		file->places[k] = (struct sl_tensor_place){.dtype = item->dtype,
							   .bytes = elements * bytes[item->dtype],
							   .nonnegative = item->nonnegative,
							   .metric = sl_tensor_is_metric(item)};
		file->n += elements;
	}
}

static void expect_grid(const struct sl_range_grid *grid, const struct sl_encoding *encoding, uint32_t k)
{
	struct sl_grid want = sl_encoding_grid(encoding, k);
	assert_int_equal(grid->step, want.step);
	assert_int_equal(grid->lower, sl_limbs_below(&want.limbs, 0));
	assert_true(grid->most == (double)want.edge);
}

static int limbs_of(uint8_t class)
{
	return class == SL_CLASS_SMALL ? 5 : class == SL_CLASS_NONNEGATIVE ? 3 : 1;
}

/* Which tensors are exact, the limbs of the others, the units of exact values and the steps of updates. */
TEST(grids)
{
	uint64_t seed = 31;
	for (int turn = 0; turn < 20000; turn++) {
		static uint64_t memory[100];
		struct sl_tensor items[TENSORS];
		struct sl_tensor_place places[TENSORS], before[TENSORS] = {0};
		struct sl_tensor_file file = {.places = places}, old = {.places = before};
		struct sl_range_grid grids[TENSORS];
		struct sl_ranges ranges;
		int16_t exponents[TENSORS];
		int bits = 1 + (int)draw(&seed, SL_UPDATE_BITS_MAX);
		draw_tensors(&seed, items, &file);
		old.count = file.count;
		struct sl_tensors tensors = {.items = items, .count = (uint32_t)file.count};
		for (size_t k = 0; k < file.count; k++)
			before[k].range = exponents[k] = (int16_t)((int)draw(&seed, 200) - 100);
		assert_true(sl_ranges_memory(&tensors) <= sizeof memory);
		sl_ranges_set(&ranges, &tensors, file.n, memory);
		struct sl_encoding encoding = {.values = SL_VALUES_UPDATE,
					       .update_bits = (uint32_t)bits,
					       .ranges = &ranges,
					       .exponents = exponents};
		sl_range_check_grids(grids, &file, &old, bits);
		for (uint32_t k = 0; k < file.count; k++) {
			const struct sl_tensor_place *place = &places[k];
			int limbs = limbs_of(ranges.class[k]);
			assert_int_equal(sl_range_check_always_exact(place),
					 sl_encoding_is_exact(&encoding, k));
			assert_int_equal(sl_range_check_limbs(&file, place), limbs);
			assert_int_equal(sl_range_check_bottom(&file, place),
					 sl_encoding_exact(&encoding, k).bottom);
			if (sl_encoding_is_exact(&encoding, k))
				continue;
			expect_grid(&grids[k], &encoding, k);
			assert_int_equal(sl_range_check_lower(limbs, bits), grids[k].lower);
		}
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
