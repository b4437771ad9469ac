#include "test/field/elements.h"
#include "test/lib/test.h"

#include <math.h>

#include "test/lib/encoding.h"

/* One value through the encoder, centred. */
static int64_t encode1(const struct sl_field *field, struct sl_encoding encoding, float theta)
{
	uint64_t x[2];
	struct sl_encode_note note;
	assert_int_equal(sl_encoding_encode(field, &encoding, NULL, &theta, NULL, 1, x, &note), SL_OK);
	assert_int_equal(x[1], encoding.kind == SL_ENCODING_WEIGHTED ? encoding.weight : 0);
	assert_int_equal(note.clamped, 0);
	return sl_field_centred(field, x[0]);
}

TEST(weighted_rounds_to_even)
{
	struct sl_field field = field_of((UINT64_C(1) << 44) - 17);
	struct sl_encoding e = {
		.kind = SL_ENCODING_WEIGHTED, .decimals = 0, .clipping_range = 16, .weight = 1};
	assert_int_equal(encode1(&field, e, 0.5f), 0);
	assert_int_equal(encode1(&field, e, 1.5f), 2);
	assert_int_equal(encode1(&field, e, -2.5f), -2);
	assert_int_equal(encode1(&field, e, -3.5f), -4);
	e.decimals = 4;
	e.weight = 600;
	assert_int_equal(encode1(&field, e, 0.99996f), 600 * 10000);
	assert_int_equal(encode1(&field, e, -0.99994f), -600 * 9999);
	assert_int_equal(encode1(&field, e, 16), 600 * 160000);
	e.weight = 0;
	assert_int_equal(encode1(&field, e, 3), 0);
}

TEST(literal_truncates_exactly)
{
	struct sl_field field = field_of(1020431);
	struct sl_encoding e = {.kind = SL_ENCODING_PAPER,
				.decimals = 2,
				.clipping_range = 1e6,
				.weight = 1,
				.weight_total = 100};
	assert_int_equal(encode1(&field, e, 29), 29); /* (long)(100 * (0.01 * 29)) is 28 */
	assert_int_equal(encode1(&field, e, -0.99f), 0);
	assert_int_equal(encode1(&field, e, -1.99f), -1);
	assert_int_equal(encode1(&field, e, 500000), 500000);
	e.weight_total = 3;
	e.weight = 3;
	assert_int_equal(encode1(&field, e, 0.999999f), 99);
	e.weight = 0;
	assert_int_equal(encode1(&field, e, 1), 0);
}

/* theta = mantissa * 2^exponent with everything small enough for 128 bits: against plain integers. */
TEST(literal_against_integers)
{
	struct sl_field field = field_of((UINT64_C(1) << 61) - 1);
	uint64_t seed = 5;
	for (int n = 0; n < 200000; n++) {
		uint32_t mantissa = (uint32_t)any64(&seed) >> 8, decimals = (uint32_t)(any64(&seed) % 13);
		int exponent = -(int)(any64(&seed) % 30);
		uint64_t total = 1 + (any64(&seed) >> 40), weight = any64(&seed) % (total + 1);
		struct sl_encoding e = {SL_ENCODING_PAPER,
					SL_VALUES_MODEL,
					decimals,
					0,
					INFINITY,
					false,
					weight,
					total,
					NULL,
					NULL,
					{0}};
		__int128 scaled = (__int128)mantissa * (__int128)llround(pow(10, decimals)) * weight;
		__int128 want = scaled / ((__int128)total << -exponent);
		if (want >= INT64_C(1) << 60)
			continue;
		bool negative = any64(&seed) & 1;
		float theta = ldexpf(negative ? -(float)mantissa : (float)mantissa, exponent);
		assert_int_equal(encode1(&field, e, theta), negative ? -(int64_t)want : (int64_t)want);
	}
	struct sl_encoding huge = {
		SL_ENCODING_PAPER, SL_VALUES_MODEL, 0, 0, INFINITY, false, 3, 1 << 20, NULL, NULL, {0}};
	assert_int_equal(encode1(&field, huge, 0x1.8p70f), 9 * (INT64_C(1) << 49));
	assert_int_equal(encode1(&field, huge, 0x1p-149f), 0);
}

TEST(refusals)
{
	struct sl_field field = field_of(SL_P_MERSENNE31);
	struct sl_encoding e = {
		.kind = SL_ENCODING_WEIGHTED, .decimals = 4, .clipping_range = 16, .weight = 1};
	struct sl_encode_note note;
	uint64_t x[4];
	for (int kind = 0; kind < 2; kind++, e.kind = SL_ENCODING_PAPER, e.weight_total = 1) {
		const float bad[] = {NAN, INFINITY, -INFINITY};
		for (size_t b = 0; b < 3; b++) {
			for (int clamp = 0; clamp < 2; clamp++) {
				e.clamp = clamp;
				float theta[] = {0, 1, bad[b]};
				assert_int_equal(
					sl_encoding_encode(&field, &e, NULL, theta, NULL, 3, x, &note),
					SL_ERR_INVALID);
				assert_int_equal(note.index, 2);
			}
		}
		e.clamp = false;
		float theta[] = {16, -16, -16.001f};
		assert_int_equal(sl_encoding_encode(&field, &e, NULL, theta, NULL, 3, x, &note),
				 SL_ERR_RANGE);
		assert_true(note.index == 2 && note.value == (double)-16.001f);
		e.clamp = true;
		assert_int_equal(sl_encoding_encode(&field, &e, NULL, theta, NULL, 3, x, &note), SL_OK);
		assert_int_equal(note.clamped, 1);
		assert_int_equal(sl_field_centred(&field, x[2]), -160000);
	}
	float one = 1;
	e.weight_total = 0;
	assert_int_equal(sl_encoding_encode(&field, &e, NULL, &one, NULL, 1, x, &note), SL_ERR_INVALID);
	e = (struct sl_encoding){SL_ENCODING_PAPER, SL_VALUES_MODEL, 4, 0, 16, false, 2, 1, NULL, NULL, {0}};
	assert_int_equal(sl_encoding_encode(&field, &e, NULL, &one, NULL, 1, x, &note), SL_ERR_INVALID);
}

/* Nothing wraps, whatever the clipping range, the weight and the scale. */
TEST(never_wraps)
{
	struct sl_field field = field_of(10007);
	struct sl_encode_note note;
	uint64_t x[2];
	struct sl_encoding e = {
		.kind = SL_ENCODING_WEIGHTED, .decimals = 2, .clipping_range = HUGE_VAL, .weight = 1};
	assert_int_equal(encode1(&field, e, 50.03f), 5003);
	assert_int_equal(encode1(&field, e, -50.03f), -5003);
	const float large[] = {50.04f, 1e6f, 1e30f, -3e38f};
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(sl_encoding_encode(&field, &e, NULL, &large[i], NULL, 1, x, &note),
				 SL_ERR_RANGE);
	e.weight = 10007;
	assert_int_equal(sl_encoding_encode(&field, &e, NULL, &(float){0}, NULL, 1, x, &note), SL_ERR_RANGE);
	e.weight = 10006;
	assert_int_equal(sl_encoding_encode(&field, &e, NULL, &(float){1}, NULL, 1, x, &note), SL_ERR_RANGE);
	e = (struct sl_encoding){SL_ENCODING_PAPER, SL_VALUES_MODEL, 12,   0,	 HUGE_VAL, false,
				 UINT64_MAX,	    UINT64_MAX,	     NULL, NULL, {0}};
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(sl_encoding_encode(&field, &e, NULL, &large[i], NULL, 1, x, &note),
				 SL_ERR_RANGE);
}

/* Five learners, unequal weights: the decoded mean is the weighted mean to half a unit of the scale. */
TEST(mean_comes_back)
{
	struct sl_field field = field_of(SL_P_MERSENNE31);
	struct sl_encode_note note;
	float theta[5][3], mean[3];
	uint64_t x[4], z[4] = {0}, seed = 6;
	double want[3] = {0}, total = 0;
	for (uint64_t i = 0; i < 5; i++) {
		struct sl_encoding e = {SL_ENCODING_WEIGHTED,
					SL_VALUES_MODEL,
					4,
					0,
					16,
					false,
					1 + i * 100,
					0,
					NULL,
					NULL,
					{0}};
		for (size_t l = 0; l < 3; l++) {
			theta[i][l] = (float)((int64_t)any64(&seed) >> 32) * 0x1p-28f;
			want[l] += (double)e.weight * (double)theta[i][l];
		}
		total += (double)e.weight;
		assert_int_equal(sl_encoding_encode(&field, &e, NULL, theta[i], NULL, 3, x, &note), SL_OK);
		for (size_t l = 0; l < 4; l++)
			z[l] = sl_field_add(&field, z[l], x[l]);
	}
	struct sl_encoding e = {.kind = SL_ENCODING_WEIGHTED, .decimals = 4};
	assert_int_equal(sl_encoding_decode(&field, &e, NULL, z, 3, mean), SL_OK);
	for (size_t l = 0; l < 3; l++)
		assert_true(fabs((double)mean[l] - want[l] / total) < 0.5001e-4);
	z[3] = 0;
	assert_int_equal(sl_encoding_decode(&field, &e, NULL, z, 3, mean), SL_ERR_INVALID);
	e.kind = SL_ENCODING_PAPER;
	z[0] = field.p - 12345;
	assert_int_equal(sl_encoding_decode(&field, &e, NULL, z, 1, mean), SL_OK);
	assert_true(mean[0] == -1.2345f);
}

/* Blocks come to what elements one by one do (without a clipping range nothing is known beforehand), halves
 * and signs included; one value beyond it takes its whole block along the other way. */
TEST(blocks_against_elements)
{
	enum { N = 1500 };
	struct sl_field field = field_of((UINT64_C(1) << 61) - 1);
	static float theta[N];
	static uint64_t x[N + 1], want[N + 1];
	struct sl_encode_note note, by_elements;
	uint64_t seed = 7;
	for (uint32_t decimals = 0; decimals <= SL_DECIMALS_MAX; decimals++) {
		struct sl_encoding e = {SL_ENCODING_WEIGHTED,
					SL_VALUES_MODEL,
					decimals,
					0,
					16,
					true,
					1 + any64(&seed) % 1000,
					0,
					NULL,
					NULL,
					{0}},
				   free = e;
		free.clipping_range = HUGE_VAL;
		for (size_t l = 0; l < N; l++)
			theta[l] = (float)((int64_t)any64(&seed) >> 32) * (l % 2 == 0 ? 0x1p-27f : 0x1p-28f);
		for (size_t l = 0; l < N; l += 7)
			theta[l] = (float)((int64_t)any64(&seed) >> 58) * 0.5f; /* halves */
		theta[700] = -0.0f;
		theta[1400] = decimals % 2 == 0 ? 16 : -16;
		assert_int_equal(sl_encoding_encode(&field, &free, NULL, theta, NULL, N, want, &by_elements),
				 SL_OK);
		theta[1400] *= 2;
		assert_int_equal(sl_encoding_encode(&field, &e, NULL, theta, NULL, N, x, &note), SL_OK);
		assert_int_equal(note.clamped, 1);
		assert_memory_equal(x, want, sizeof x);
		assert_true(note.rounding == by_elements.rounding);
		assert_int_equal(note.vanished, by_elements.vanished);
	}
}

#define OF(number, weight) (&(struct sl_addends){.learners = (number), .max_weight = (weight), .n = 1})

TEST(p_bounds)
{
	struct sl_encoding e = {
		.kind = SL_ENCODING_WEIGHTED, .decimals = 4, .clipping_range = 16, .weight = 1};
	uint64_t least;
	int decimals;
	assert_true(sl_encoding_bound(SL_P_MERSENNE31, &e, OF(6710, 1), &least,
				      &decimals)); /* ROUND.md §4 Arithmetic names this number */
	assert_int_equal(least, 1 + 320000u * 6710 + 1);
	assert_int_equal(decimals, 4);
	assert_false(sl_encoding_bound(SL_P_MERSENNE31, &e, OF(6711, 1), &least, &decimals));
	assert_int_equal(decimals, 3);
	e.clipping_range = 0.3; /* not a round number in binary: 0.299.. * 10000 is rounded to 3000 */
	sl_encoding_bound(101, &e, OF(3, 1), &least, &decimals);
	assert_int_equal(least, 18000 + 2);
	e.clipping_range = 0.1;
	sl_encoding_bound(101, &e, OF(3, 1), &least, &decimals);
	assert_int_equal(least, 6000 + 2);
	assert_int_equal(decimals, 2);
	e.clipping_range = 1e-9; /* the total weight then decides */
	assert_false(sl_encoding_bound(101, &e, OF(101, 1), &least, NULL));
	assert_int_equal(least, 102);
	e.clipping_range = 16;
	e.kind = SL_ENCODING_PAPER;
	assert_true(sl_encoding_bound(1020431, &e, OF(100000, 1), &least, NULL));
	assert_int_equal(least, 320002);
	const double wild[] = {0x1p300, INFINITY, NAN, 0, -1};
	for (size_t i = 0; i < 5; i++) {
		e.clipping_range = wild[i];
		assert_false(sl_encoding_bound((UINT64_C(1) << 61) - 1, &e, OF(3, 1), &least, &decimals));
		assert_true(least == UINT64_MAX && decimals == -1);
	}
	e = (struct sl_encoding){.kind = SL_ENCODING_WEIGHTED, .decimals = 12, .clipping_range = 16};
	assert_false(sl_encoding_bound(101, &e, OF(UINT64_MAX, UINT64_MAX), &least, NULL));
	assert_true(least == UINT64_MAX);
}

/* The bound holds for what the encoder makes of the end of the range: p is enough for M such elements, and
 * the next smaller prime bound would not be. 15.96 with one decimal becomes 160, and 1000 of them wrapped to
 * -15.92 at p = 319211. */
TEST(p_bound_rounds_as_the_encoder)
{
	static const struct {
		double range;
		uint32_t decimals;
		uint64_t learners, least;
	} cases[] = {
		{15.96, 1, 1000, 320002},    {15.94, 1, 1000, 318002}, {0.25, 1, 7, 2 * 2 * 7 + 2},
		{0.35, 1, 7, 2 * 3 * 7 + 2}, {1e-3, 2, 7, 8},	       {16, 4, 6710, 320000u * 6710 + 2}};
	struct sl_field wide_field;
	assert_int_equal(sl_field_init(&wide_field, (UINT64_C(1) << 61) - 1), SL_OK);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sl_encoding e = {.kind = SL_ENCODING_WEIGHTED,
					.decimals = cases[i].decimals,
					.clipping_range = cases[i].range,
					.weight = 1};
		struct sl_encode_note note;
		uint64_t least, x[2];
		double theta = cases[i].range;
		assert_false(
			sl_encoding_bound(cases[i].least - 1, &e, OF(cases[i].learners, 1), &least, NULL));
		assert_true(sl_encoding_bound(cases[i].least, &e, OF(cases[i].learners, 1), NULL, NULL));
		assert_int_equal(least, cases[i].least);
		struct sl_tensor tensor = {.dtype = SL_FLOAT64, .dimensions = 1, .shape = {1}};
		struct sl_tensors tensors = {.count = 1, .items = &tensor};
		assert_int_equal(sl_encoding_encode(&wide_field, &e, &tensors, &theta, NULL, 1, x, &note),
				 SL_OK);
		assert_int_equal(x[0], sl_encoding_largest(&e));
		assert_true(2 * x[0] * cases[i].learners + 2 <= cases[i].least);
	}
}

static uint64_t chosen(uint64_t learners, uint64_t max_weight, uint64_t n, uint64_t largest_id, uint32_t bits)
{
	const struct sl_encoding e = {.kind = SL_ENCODING_WEIGHTED, .decimals = 4, .clipping_range = 16};
	const struct sl_addends addends = {learners, max_weight, n, largest_id};
	return sl_encoding_modulus(&e, &addends, bits);
}

/* There is a prime of every width, and none between it and 2^bits. */
TEST(the_table_has_the_largest_prime_of_each_width)
{
	for (uint32_t bits = SL_P_BITS_LEAST; bits <= SL_P_BITS_MAX; bits++) {
		uint64_t p = sl_encoding_prime(bits);
		assert_true(sl_field_is_prime(p) && p >> (bits - 1) == 1);
		for (uint64_t above = p + 1; above >> bits == 0; above++)
			assert_false(sl_field_is_prime(above));
	}
}

/* The sum of N models is below 320000 N, and p twice as large: one spare bit for models of 63 parameters and
 * more. */
TEST(p_automatic)
{
	assert_int_equal(chosen(10, 1, 63, 10, 61), TWO(23) - 15);
	assert_int_equal(chosen(13, 1, 63, 13, 61), TWO(23) - 15);
	assert_int_equal(chosen(14, 1, 63, 14, 61), TWO(24) - 3); /* 8,960,004 is above 2^23 */
	assert_int_equal(chosen(10, 1, 62, 10, 61), TWO(24) - 3); /* two spare bits */
	assert_int_equal(chosen(10, 1, 1, 10, 61), TWO(54) - 33); /* 32 */
	assert_int_equal(chosen(10, 1000, 63, 10, 61), TWO(33) - 9);
	assert_int_equal(chosen(1000, 1000000, 63, 1000, 61), TWO(50) - 27);
}

TEST(p_automatic_has_fewer_spare_bits_where_no_more_fit)
{
	assert_int_equal(chosen(10, 1, 1, 10, 44), TWO(44) - 17);
	assert_int_equal(chosen(10, 1, 63, 10, 22), TWO(22) - 3);
	assert_int_equal(chosen(10, 1, 63, 10, 21), 0);
	assert_int_equal(chosen(1000, 1000000, 63, 1000, 44), 0);
}

TEST(p_automatic_is_above_every_id)
{
	assert_int_equal(chosen(10, 1, 63, TWO(23) - 16, 61), TWO(23) - 15);
	assert_int_equal(chosen(10, 1, 63, TWO(23) - 15, 61), TWO(24) - 3);
	assert_int_equal(chosen(10, 1, 63, UINT32_MAX, 61), TWO(33) - 9);
	assert_int_equal(chosen(10, 1, 63, UINT32_MAX, 32), 0);
}

/* ---- digits that a modulus holds ---- */

static uint32_t lower(uint64_t p, struct sl_encoding encoding, uint64_t max_weight, uint32_t bits)
{
	const struct sl_addends addends = {.learners = 4, .max_weight = max_weight, .n = 1};
	return sl_encoding_lower(p, &encoding, &addends, bits);
}

static struct sl_encoding decimals_of(uint32_t decimals, double range)
{
	return (struct sl_encoding){.decimals = decimals, .clipping_range = range};
}

/* 1 + 2 10^d range 4 max_weight is below 2^61 = 2.3 10^18, or 2^44 = 1.76 10^13. */
TEST(decimals_are_lowered_as_far_as_need_be)
{
	assert_int_equal(lower(0, decimals_of(12, 16), 1, 61), 12);
	assert_int_equal(lower(0, decimals_of(12, 16), 1000000, 61), 10);
	assert_int_equal(lower(0, decimals_of(12, 16), 1, 44), 11);
	assert_int_equal(lower(0, decimals_of(5, 16), 1, 44), 5);
	assert_int_equal(lower(0, decimals_of(12, 0x1p57), 1, 61), 0);
	assert_int_equal(lower(0, decimals_of(12, 0x1p58), 1, 61), 12); /* none will do */
	assert_int_equal(lower(0, decimals_of(0, 16), 1, 61), 0);
}

/* The bits of limbs do not depend on a range: 1 + 8 max_weight 2^bits is below p. */
TEST(bits_are_lowered_as_far_as_need_be)
{
	static const enum sl_values values[] = {SL_VALUES_UPDATE, SL_VALUES_EXACT};
	for (size_t v = 0; v < 2; v++) {
		struct sl_encoding e = {.values = values[v], .update_bits = 32};
		assert_int_equal(lower(0, e, 1, 61), 32);
		assert_int_equal(lower(0, e, 1, 36), 32); /* 1 + 2^35 */
		assert_int_equal(lower(0, e, 1, 35), 31);
		assert_int_equal(lower(0, e, 1000, 44), 31);
		assert_int_equal(lower(0, e, UINT64_C(1) << 55, 61), 2);
		assert_int_equal(lower(0, e, UINT64_C(1) << 60, 61), 32); /* none will do */
	}
}

/* With a modulus that is set, those that it meets the bound for; `bits` are of no importance. */
TEST(digits_of_a_given_modulus)
{
	struct sl_encoding e = {.values = SL_VALUES_EXACT, .update_bits = 32};
	assert_int_equal(lower(UINT64_C(1) << 61, e, 1, 12), 32);
	for (uint32_t bits = 1; bits < 32; bits++) {
		uint64_t least = (UINT64_C(8) << bits) + 2;
		assert_int_equal(lower(least, e, 1, 61), bits);
		assert_int_equal(lower(least - 1, e, 1, 61), bits - 1);
	}
	assert_int_equal(lower(9, e, 1, 61), 32); /* none will do */
	e.values = SL_VALUES_UPDATE;
	e.update_bits = 5;
	assert_int_equal(lower((UINT64_C(8) << 5) + 2, e, 1, 61), 5);
	assert_int_equal(lower((UINT64_C(8) << 5) + 1, e, 1, 61), 4);
	assert_int_equal(lower(12801, decimals_of(6, 16), 1, 61), 1); /* 1 + 1280 and 1 + 12800 are below */
	assert_int_equal(lower(12802, decimals_of(6, 16), 1, 61), 2);
	assert_int_equal(lower(12802, decimals_of(1, 16), 1, 61), 1);
}
