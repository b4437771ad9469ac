/* --verify comes to the exact means of the learners by code of its own (ROUND.md §4.3 Limbs and ranges).
 */
#include <math.h>
#include <string.h>

#include "common/base/random.h"
#include "common/field/ranges.h"
#include "test/lib/test.h"
#include "tools/launch/verify_exact.h"

/* Kinds of tensors in models of each size. */
static const struct {
	enum sl_tensor_class class;
	uint64_t n;
} kinds[] = {{SL_CLASS_PLAIN, 1},  {SL_CLASS_PLAIN, 65537},    {SL_CLASS_PLAIN, 16777217},
	     {SL_CLASS_METRIC, 1}, {SL_CLASS_SMALL, 16777217}, {SL_CLASS_INTEGER, 1}};
#define KINDS (sizeof kinds / sizeof *kinds)
#define LIMBS 32 /* bits */

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	return sl_random_next(seed) % below;
}

/* The sum of one element over the learners, by both. */
struct both {
	struct sl_exact exact;
	enum sl_dtype dtype;
	int64_t limbs[256 / LIMBS];
	struct bignum_st *number;
	uint64_t weight;
};

static struct both both_of(size_t kind, enum sl_dtype dtype)
{
	return (struct both){.exact = sl_ranges_exact(kinds[kind].class, kinds[kind].n, LIMBS),
			     .dtype = dtype};
}

/* Write a value of `dtype` within the exact values to `element`, and to *value. */
static void draw_value(uint64_t *seed, const struct both *b, uint8_t element[static 8],
		       struct sl_exact_value *value)
{
	int top = (int)b->exact.bits + b->exact.bottom;
	int exponent = b->exact.bottom - 3 + (int)draw(seed, (uint64_t)(top - b->exact.bottom + 3));
	double real = ldexp((double)((int64_t)sl_random_next(seed) >> 10) * 0x1p-53, exponent);
	float single = (float)real;
	int64_t integer = (int64_t)sl_random_next(seed) >> draw(seed, 64);
	if (draw(seed, 8) == 0) { /* a half of the unit */
		real = ldexp((double)draw(seed, 9) - 4, b->exact.bottom - 1);
		single = (float)real;
		integer = draw(seed, 2) == 0 ? INT64_MAX : INT64_MIN;
	}
	if (b->dtype == SL_INT64) {
		memcpy(element, &integer, sizeof integer);
		sl_exact_integer(integer, value);
	} else if (b->dtype == SL_FLOAT64) {
		memcpy(element, &real, sizeof real);
		assert_true(sl_exact_real(&b->exact, real, value));
	} else {
		memcpy(element, &single, sizeof single);
		assert_true(sl_exact_real(&b->exact, (double)single, value));
	}
}

static void add(struct both *b, const uint8_t *element, const struct sl_exact_value *value, uint64_t weight)
{
	assert_true(sl_verify_exact_add(&b->number, b->exact.bottom, b->dtype, element, weight));
	for (uint32_t limb = 0; limb < b->exact.count; limb++) {
		int64_t part = (int64_t)(sl_exact_limb(&b->exact, value, limb) * weight);
		b->limbs[limb] += value->negative ? -part : part;
	}
	b->weight += weight;
}

/* Both means must be the same bytes. */
static void expect_same(struct both *b)
{
	uint8_t mean[8] = {0}, other[8] = {0};
	struct sl_exact_sum sum = {0};
	for (uint32_t limb = 0; limb < b->exact.count; limb++)
		sl_exact_add(&b->exact, &sum, limb, b->limbs[limb]);
	assert_true(sl_verify_exact_mean(b->number, b->exact.bottom, b->weight, b->dtype, mean));
	if (b->dtype == SL_INT64) {
		int64_t integer = sl_exact_mean_integer(&sum, b->weight);
		memcpy(other, &integer, sizeof integer);
	} else {
		double real = sl_exact_mean(&b->exact, &sum, b->weight);
		float single = (float)real;
		memcpy(other, b->dtype == SL_FLOAT32 ? (const void *)&single : &real,
		       b->dtype == SL_FLOAT32 ? sizeof single : sizeof real);
	}
	assert_memory_equal(mean, other, sizeof mean);
	sl_verify_exact_free(b->number);
}

/* Two to nine learners of any weights, whose values cancel or are halves more often than chance has it. */
TEST(the_means_of_the_learners)
{
	uint64_t seed = 61;
	for (int turn = 0; turn < 200000; turn++) {
		size_t kind = draw(&seed, KINDS);
		bool whole = kinds[kind].class == SL_CLASS_INTEGER;
		struct both b = both_of(kind, whole ? SL_INT64 : (enum sl_dtype)draw(&seed, 2));
		uint64_t learners = 2 + draw(&seed, 8), most = UINT64_C(1) << draw(&seed, 25);
		uint8_t element[8];
		for (uint64_t i = 0; i < learners; i++) {
			struct sl_exact_value value;
			uint64_t weight = (i == 0) + draw(&seed, most);
			draw_value(&seed, &b, element, &value);
			add(&b, element, &value, weight);
			if (b.dtype == SL_FLOAT32 && draw(&seed, 2) == 0) { /* the same with the other sign */
				element[3] ^= 0x80;
				value.negative = !value.negative;
				add(&b, element, &value, weight);
			}
		}
		expect_same(&b);
	}
}

/* Sums that are a number of 54 bits times the weight: half way between two doubles. */
TEST(ties)
{
	uint64_t seed = 62;
	for (int turn = 0; turn < 20000; turn++) {
		struct both b = both_of(0, SL_FLOAT64);
		double large = 0x1p53 + (double)draw(&seed, UINT64_C(1) << 52) * 2,
		       one = (double)draw(&seed, 3) - 1;
		struct sl_exact_value value;
		int up = (int)draw(&seed, 60) - 70;
		const double values[] = {ldexp(large, up), ldexp(one, up), ldexp(large, up), ldexp(one, up)};
		for (size_t i = 0; i < 4; i++) {
			uint8_t element[8];
			memcpy(element, &values[i], sizeof element);
			assert_true(sl_exact_real(&b.exact, values[i], &value));
			add(&b, element, &value, 1 + draw(&seed, 2) * (i / 2));
		}
		expect_same(&b);
	}
}

TEST(what_is_no_number)
{
	static const double reals[] = {NAN, INFINITY, -INFINITY};
	static const float singles[] = {NAN, INFINITY, -INFINITY};
	struct bignum_st *sum = NULL;
	uint8_t mean[8];
	for (size_t i = 0; i < 3; i++) {
		assert_false(sl_verify_exact_add(&sum, -40, SL_FLOAT64, (const uint8_t *)&reals[i], 1));
		assert_false(sl_verify_exact_add(&sum, -40, SL_FLOAT32, (const uint8_t *)&singles[i], 1));
	}
	const double zero = -0.0; /* the mean of zeros is 0 */
	assert_true(sl_verify_exact_add(&sum, -40, SL_FLOAT64, (const uint8_t *)&zero, 3));
	assert_true(sl_verify_exact_mean(sum, -40, 3, SL_FLOAT64, mean));
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(mean[i], 0);
	sl_verify_exact_free(sum);
}
