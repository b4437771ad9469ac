/* What the sums of limbs tell beside the sum of the values (ROUND.md §4.8 Precision): the carries into the
 * limbs above, and no more. By the product's encoder, for all small values of two learners. */
#include <math.h>

#include "common/field/encoding.h"
#include "test/graph/unit.h"
#include "test/lib/test.h"

#define LIMB_BITS 2u
#define LIMBS_MOST 32u /* of an int64 */
#define VALUE_MOST 40  /* |value| of a learner; three limbs of an exact value, and five of an update */
#define SUM_MOST (VALUE_MOST * 6)
#define CARRY_MOST 16

/* One value, and how it is encoded. */
struct value {
	struct sl_field field;
	struct sl_tensor tensor;
	struct sl_tensors tensors;
	struct sl_ranges ranges;
	struct sl_encoding encoding;
	int16_t exponent;
	uint64_t memory[8];
	uint32_t limbs, lower; /* bits of each limb but the first */
};

static void open_value(struct value *v, enum sl_dtype dtype, bool ranged)
{
	*v = (struct value){.field = field_of((UINT64_C(1) << 61) - 1),
			    .tensor = {.name = "v", .dtype = dtype}};
	v->tensors = (struct sl_tensors){.items = &v->tensor, .count = 1};
	assert_true(sl_ranges_memory(&v->tensors) <= sizeof v->memory);
	sl_ranges_set(&v->ranges, &v->tensors, 1, v->memory);
	v->encoding = (struct sl_encoding){.values = ranged ? SL_VALUES_UPDATE : SL_VALUES_EXACT,
					   .update_bits = LIMB_BITS,
					   .clipping_range = 1,
					   .ranges = &v->ranges,
					   .exponents = ranged ? &v->exponent : NULL};
	v->limbs = sl_encoding_limbs(&v->encoding, 0);
	v->lower = ranged ? sl_encoding_grid(&v->encoding, 0).limbs.lower : LIMB_BITS;
}

/* Add limbs of a model with that weight to `sums`, one for each limb, the lowest first. */
static void add_limbs(struct value *v, const void *model, uint64_t weight, int64_t *sums)
{
	static const double base;
	uint64_t x[LIMBS_MOST * 5];
	struct sl_encode_note note;
	size_t elements = (size_t)sl_encoding_elements(&v->encoding, 1);
	assert_true(elements <= sizeof x / sizeof *x);
	v->encoding.weight = weight;
	assert_int_equal(sl_encoding_encode_part(&v->field, &v->encoding, &v->tensors, model, &base, 1, 0,
						 elements, x, &note),
			 SL_OK);
	for (uint32_t j = 0; j < v->limbs; j++)
		sums[j] += sl_field_centred(&v->field, x[v->limbs - 1 - j]);
}

/* Return the most sums of the lowest limb that one sum of values comes with, of two learners with these
 * weights. */
static uint32_t count_carries(struct value *v, bool ranged, int64_t first_weight, int64_t second_weight)
{
	static bool met[2 * SUM_MOST + 1][2 * CARRY_MOST + 1];
	int64_t unit = INT64_C(1) << v->lower, most = ranged ? 12 : VALUE_MOST;
	uint32_t carries = 0;
	memset(met, 0, sizeof met);
	for (int64_t a = -most; a <= most; a++)
		for (int64_t b = -most; b <= most; b++) {
			double reals[2] = {(double)a / 1024, (double)b / 1024}; /* steps of the range 1 */
			int64_t sums[LIMBS_MOST] = {0}, sum = first_weight * a + second_weight * b;
			add_limbs(v, ranged ? (void *)&reals[0] : (void *)&a, (uint64_t)first_weight, sums);
			add_limbs(v, ranged ? (void *)&reals[1] : (void *)&b, (uint64_t)second_weight, sums);
			assert_int_equal((sum - sums[0]) % unit, 0); /* known by the sum of the values */
			int64_t carry = (sums[0] - ((sum % unit + unit) % unit)) / unit;
			assert_true(carry >= -CARRY_MOST && carry <= CARRY_MOST);
			met[sum + SUM_MOST][carry + CARRY_MOST] = true;
		}
	for (int64_t sum = 0; sum <= 2 * SUM_MOST; sum++) {
		uint32_t count = 0;
		for (int64_t carry = 0; carry <= 2 * CARRY_MOST; carry++)
			count += met[sum][carry];
		carries = count > carries ? count : carries;
	}
	return carries;
}

/* In an exact round, one of fewer than 2 W for a total weight of W; in a ranged one, of W at most. */
TEST(a_carry)
{
	for (int64_t a = 1; a <= 3; a++)
		for (int64_t b = 1; b <= 3; b++) {
			struct value exact, ranged;
			open_value(&exact, SL_INT64, false);
			open_value(&ranged, SL_FLOAT64, true);
			assert_true(exact.limbs == LIMBS_MOST && ranged.limbs == 5);
			uint32_t carries = count_carries(&exact, false, a, b);
			assert_in_range(carries, 2, 2 * (a + b) - 1);
			carries = count_carries(&ranged, true, a, b);
			assert_in_range(carries, 2, a + b);
		}
}

/* Return the sum of exact values in units of 2^-60, of those limbs that have bits. */
static __int128 sum_of(const struct value *v, const int64_t *sums)
{
	__int128 sum = 0;
	for (uint32_t j = v->limbs; j-- > 0;) {
		int below = (int)(j * v->lower) - 128 + 60;
		if (sums[j] != 0 && below >= 0)
			sum += (__int128)sums[j] * ((__int128)1 << below);
	}
	return sum;
}

/* The exact sum of values that lie far apart tells each of them, by whatever limbs it is sent. */
TEST(values_far_apart)
{
	static const float large = 1.2345678f, small = 0x1.23456p-30f;
	struct value v;
	int64_t sums[LIMBS_MOST * 4] = {0};
	open_value(&v, SL_FLOAT32, false);
	add_limbs(&v, &large, 1, sums);
	add_limbs(&v, &small, 1, sums);
	double all = ldexp((double)sum_of(&v, sums), -60); /* of 54 bits: exact */
	float first = (float)all;
	assert_true(first == large);
	assert_true((float)(all - (double)first) == small);
}
