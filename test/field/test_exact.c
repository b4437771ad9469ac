/* Exact values (ROUND.md §4.3 Limbs and ranges): limbs, their sums and the means, against the big integers
 * of OpenSSL. */
#include "test/field/big.h"
#include "test/lib/test.h"

#include <float.h>

/* The widths of exact values: two of models, one of integers. */
static const struct sl_exact widths[] = {{.bits = 64, .bottom = -40},
					 {.bits = 128, .bottom = -64},
					 {.bits = 256, .bottom = -128},
					 {.bits = 64}};
#define WIDTHS (sizeof widths / sizeof *widths)

static struct sl_exact width_of(size_t width, uint32_t limb_bits)
{
	struct sl_exact exact = widths[width];
	exact.limb_bits = limb_bits;
	exact.count = sl_exact_count(exact.bits, limb_bits);
	return exact;
}

static int below(const struct sl_exact *exact, uint32_t limb)
{
	return (int)(exact->limb_bits * (exact->count - 1 - limb));
}

/* ---- limbs of values ---- */

/* The limbs of `value` must be below 2^limb_bits and add up to `units`. */
static void expect_units(const struct sl_exact *exact, const struct sl_exact_value *value,
			 const BIGNUM *units)
{
	BIGNUM *sum = big_of(0, false);
	for (uint32_t limb = 0; limb < exact->count; limb++) {
		uint64_t part = sl_exact_limb(exact, value, limb);
		assert_true(part >> exact->limb_bits == 0);
		BIGNUM *term = big_of(part, value->negative);
		big_add(sum, term, below(exact, limb));
		BN_free(term);
	}
	assert_int_equal(BN_cmp(sum, units), 0);
	BN_free(sum);
}

static void expect_real(const struct sl_exact *exact, double real)
{
	struct sl_exact_value value;
	BIGNUM *units = big_units(real, exact->bottom);
	assert_true(sl_exact_real(exact, real, &value));
	assert_int_equal(value.negative, signbit(real) != 0);
	expect_units(exact, &value, units);
	BN_free(units);
}

static double any_real(uint64_t *seed, const struct sl_exact *exact)
{
	int top = (int)exact->bits + exact->bottom, bottom = exact->bottom;
	double part = 0.5 + (double)(any64(seed) >> 11) * 0x1p-54;
	int exponent = bottom - 3 + (int)(any64(seed) % (uint64_t)(top - bottom + 4));
	double real = ldexp(part, exponent < top ? exponent : top);
	return any64(seed) % 2 == 0 ? real : -real;
}

TEST(counts_of_limbs)
{
	for (uint32_t bits = 64; bits <= 256; bits *= 2)
		for (uint32_t limb_bits = 1; limb_bits <= 48; limb_bits++) {
			uint32_t count = sl_exact_count(bits, limb_bits);
			assert_true(count * limb_bits >= bits && (count - 1) * limb_bits < bits);
		}
	assert_int_equal(sl_exact_count(256, 32), 8);
	assert_int_equal(sl_exact_count(64, 48), 2);
}

/* Each width in limbs of each number of bits: powers of two, the numbers beside them and any others. */
TEST(limbs_add_up_to_the_value)
{
	uint64_t seed = 41;
	for (size_t width = 0; width < WIDTHS - 1; width++)
		for (uint32_t limb_bits = 1; limb_bits <= 48; limb_bits++) {
			struct sl_exact exact = width_of(width, limb_bits);
			int top = (int)exact.bits + exact.bottom;
			for (int e = exact.bottom - 3; e < top; e += 1 + (int)(any64(&seed) % 4)) {
				double power = ldexp(1, e);
				expect_real(&exact, power);
				expect_real(&exact, -nextafter(power, 0));
				expect_real(&exact, nextafter(power, INFINITY));
			}
			expect_real(&exact, -nextafter(ldexp(1, top), 0));
			for (int turn = 0; turn < 50; turn++)
				expect_real(&exact, any_real(&seed, &exact));
		}
}

TEST(limbs_of_integers)
{
	static const int64_t cases[] = {0, 1, -1, 5, INT64_MAX, INT64_MIN, INT64_MIN + 1, INT64_C(1) << 32};
	uint64_t seed = 42;
	for (uint32_t limb_bits = 1; limb_bits <= 48; limb_bits++) {
		struct sl_exact exact = width_of(WIDTHS - 1, limb_bits);
		for (size_t turn = 0; turn < 100; turn++) {
			int64_t integer = turn < 8 ? cases[turn] : (int64_t)any64(&seed) >> any64(&seed) % 64;
			struct sl_exact_value value;
			BIGNUM *units =
				big_of(integer < 0 ? -(uint64_t)integer : (uint64_t)integer, integer < 0);
			sl_exact_integer(integer, &value);
			assert_int_equal(value.negative, integer < 0);
			expect_units(&exact, &value, units);
			BN_free(units);
		}
	}
}

/* Halves of the unit go to the even multiple; what is less vanishes, subnormal numbers too. */
TEST(rounding_at_the_bottom)
{
	static const struct {
		double units;
		uint64_t rounded;
	} cases[] = {{0, 0},
		     {0.25, 0},
		     {0.5, 0},
		     {0x1.0000000000001p-1, 1},
		     {0.75, 1},
		     {1, 1},
		     {1.25, 1},
		     {1.5, 2},
		     {1.75, 2},
		     {2.5, 2},
		     {3.5, 4},
		     {0x1.8p51, UINT64_C(3) << 50},
		     {0x1p52 + 1, (UINT64_C(1) << 52) + 1},
		     {0x1p51 + 0.5, UINT64_C(1) << 51},
		     {0x1p51 + 1.5, (UINT64_C(1) << 51) + 2},
		     {0x1.fffffffffffffp-1, 1},
		     {0x1.fffffffffffffp51, UINT64_C(1) << 52},
		     {0x1.fffffffffffffp-2, 0}};
	static const double tiny[] = {-0.0, 4.9e-324, -DBL_MIN, 0x1.fffffffffffffp-1023, 1e-200};
	for (size_t width = 0; width < WIDTHS - 1; width++) {
		struct sl_exact exact = width_of(width, 32);
		struct sl_exact_value value;
		for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
			for (int sign = -1; sign <= 1; sign += 2) {
				double real = ldexp(sign * cases[i].units, exact.bottom);
				assert_true(sl_exact_real(&exact, real, &value));
				assert_true(value.mantissa == cases[i].rounded && value.shift == 0);
				assert_int_equal(value.negative, sign < 0);
				expect_real(&exact, real);
			}
		for (size_t i = 0; i < sizeof tiny / sizeof *tiny; i++) {
			assert_true(sl_exact_real(&exact, tiny[i], &value));
			assert_true(value.mantissa == 0 && value.shift == 0);
		}
	}
}

TEST(refused_at_the_top)
{
	struct sl_exact_value value;
	for (size_t width = 0; width < WIDTHS - 1; width++) {
		struct sl_exact exact = width_of(width, 48);
		double top = ldexp(1, (int)exact.bits + exact.bottom);
		for (int sign = -1; sign <= 1; sign += 2) {
			assert_true(sl_exact_real(&exact, sign * nextafter(top, 0), &value));
			assert_false(sl_exact_real(&exact, sign * top, &value));
			assert_false(sl_exact_real(&exact, sign * nextafter(top, INFINITY), &value));
			assert_false(sl_exact_real(&exact, sign * DBL_MAX, &value));
			assert_false(sl_exact_real(&exact, sign * (double)INFINITY, &value));
		}
	}
}

/* ---- sums and means ---- */

static void expect_sum(const struct sl_exact_sum *sum, const BIGNUM *number)
{
	uint8_t bytes[sizeof sum->words];
	struct sl_exact_sum want;
	BIGNUM *positive = BN_dup(number), *end = big_of(0, false);
	BN_set_bit(end, 64 * SL_EXACT_WORDS);
	if (BN_is_negative(positive))
		BN_add(positive, positive, end);
	assert_int_equal(BN_bn2lebinpad(positive, bytes, sizeof bytes), sizeof bytes);
	memcpy(want.words, bytes, sizeof bytes);
	assert_memory_equal(sum->words, want.words, sizeof want.words);
	BN_free(positive);
	BN_free(end);
}

/* Add `limbs` as the sum of limb `limb`, to both sums. */
static void add(const struct sl_exact *exact, struct sl_exact_sum *sum, BIGNUM *number, uint32_t limb,
		int64_t limbs)
{
	BIGNUM *term = big_of((uint64_t)(limbs < 0 ? -limbs : limbs), limbs < 0);
	sl_exact_add(exact, sum, limb, limbs);
	big_add(number, term, below(exact, limb));
	BN_free(term);
}

static void expect_mean(const struct sl_exact *exact, const struct sl_exact_sum *sum, const BIGNUM *number,
			uint64_t weight)
{
	double mean = sl_exact_mean(exact, sum, weight), want = big_mean(number, exact->bottom, weight);
	if (!(mean == want) || signbit(mean) != (mean != 0 && BN_is_negative(number)))
		fail_msg("%u bits in limbs of %u: %a instead of %a", exact->bits, exact->limb_bits, mean,
			 want);
}

/* Return a magnitude of up to `bits` bits. */
static uint64_t any_bits(uint64_t *seed, uint32_t bits)
{
	return any64(seed) >> (64 - bits) >> any64(seed) % bits;
}

/* Any sums of limbs below 2^61, of any sign, so that they cancel, and any weights. */
TEST(means_of_any_limbs)
{
	uint64_t seed = 43;
	for (int turn = 0; turn < 100000; turn++) {
		struct sl_exact exact =
			width_of(any64(&seed) % (WIDTHS - 1), 1 + (uint32_t)(any64(&seed) % 48));
		struct sl_exact_sum sum = {0};
		BIGNUM *number = big_of(0, false);
		uint64_t few = any64(&seed) % 3; /* limbs that are not 0: all, or few of them */
		for (uint32_t limb = 0; limb < exact.count; limb++) {
			int64_t limbs = (int64_t)any_bits(&seed, 61);
			if (few == 0 || any64(&seed) % exact.count < few)
				add(&exact, &sum, number, limb, any64(&seed) % 2 == 0 ? limbs : -limbs);
		}
		expect_sum(&sum, number);
		expect_mean(&exact, &sum, number, 1 + any_bits(&seed, 61));
		BN_free(number);
	}
}

/* Values of all magnitudes times weights, as learners add them: the large ones cancel and leave the small. */
TEST(means_of_values)
{
	uint64_t seed = 44;
	for (int turn = 0; turn < 20000; turn++) {
		uint32_t limb_bits = 1 + (uint32_t)(any64(&seed) % 48),
			 learners = 1 + (uint32_t)(any64(&seed) % 5);
		struct sl_exact exact = width_of(any64(&seed) % (WIDTHS - 1), limb_bits);
		struct sl_exact_sum sum = {0};
		struct sl_exact_value value;
		BIGNUM *number = big_of(0, false);
		int64_t limbs[256] = {0};
		uint64_t total = 0;
		double last = 0;
		for (uint32_t i = 0; i < 2 * learners; i++) {
			bool again = i % 2 == 1 && any64(&seed) % 2 == 0; /* the same with the other sign */
			uint64_t weight = again ? 1 : 1 + any_bits(&seed, 57 - limb_bits);
			double real = again ? -last : any_real(&seed, &exact);
			BIGNUM *units = big_units(real, exact.bottom);
			assert_true(sl_exact_real(&exact, real, &value));
			for (uint32_t limb = 0; limb < exact.count; limb++) {
				int64_t part = (int64_t)(weight * sl_exact_limb(&exact, &value, limb));
				limbs[limb] += value.negative ? -part : part;
			}
			assert_true(BN_mul_word(units, weight) == 1 && BN_add(number, number, units) == 1);
			BN_free(units);
			total += weight;
			last = real;
		}
		for (uint32_t limb = 0; limb < exact.count; limb++)
			sl_exact_add(&exact, &sum, limb, limbs[limb]);
		expect_sum(&sum, number);
		expect_mean(&exact, &sum, number, total);
		BN_free(number);
	}
}

/* Set *sum and `number` to |number| in limbs. */
static void set_sum(const struct sl_exact *exact, struct sl_exact_sum *sum, const BIGNUM *number)
{
	BIGNUM *part = BN_new();
	*sum = (struct sl_exact_sum){0};
	for (uint32_t limb = 0; limb < exact->count; limb++) {
		BN_rshift(part, number, below(exact, limb));
		if (limb > 0 && BN_num_bits(part) > (int)exact->limb_bits)
			BN_mask_bits(part, (int)exact->limb_bits);
		int64_t limbs = (int64_t)big_word(part);
		sl_exact_add(exact, sum, limb, BN_is_negative(number) ? -limbs : limbs);
	}
	expect_sum(sum, number);
	BN_free(part);
}

/* A quotient half way between two doubles goes to the even one, and one unit beside it to the nearer one. */
TEST(ties_of_means)
{
	uint64_t seed = 45;
	for (int turn = 0; turn < 20000; turn++) {
		struct sl_exact exact = width_of(2, 17 + (uint32_t)(any64(&seed) % 32));
		uint64_t mantissa = (UINT64_C(1) << 53 | any64(&seed) >> 11) | 1,
			 weight = 1 + any_bits(&seed, 61);
		BIGNUM *number = big_of(mantissa, false);
		struct sl_exact_sum sum;
		assert_int_equal(BN_mul_word(number, weight), 1);
		assert_int_equal(BN_lshift(number, number, (int)(any64(&seed) % 140)), 1);
		for (int side = -1; side <= 1; side++) {
			BIGNUM *beside = BN_dup(number);
			assert_int_equal(side < 0 ? BN_sub_word(beside, 1) : BN_add_word(beside, side > 0),
					 1);
			BN_set_negative(beside, any64(&seed) % 2 == 0);
			set_sum(&exact, &sum, beside);
			expect_mean(&exact, &sum, beside, weight);
			BN_free(beside);
		}
		BN_free(number);
	}
}

TEST(plain_means)
{
	struct sl_exact exact = width_of(2, 32);
	struct sl_exact_sum sum = {0};
	assert_true(sl_exact_mean(&exact, &sum, 7) == 0 && !signbit(sl_exact_mean(&exact, &sum, 7)));
	sl_exact_add(&exact, &sum, 3, 1); /* 2^128 units */
	assert_true(sl_exact_mean(&exact, &sum, 1) == 1);
	assert_true(sl_exact_mean(&exact, &sum, 3) == 1.0 / 3);
	sl_exact_add(&exact, &sum, 3, -2);
	assert_true(sl_exact_mean(&exact, &sum, 3) == -1.0 / 3);
	sl_exact_add(&exact, &sum, 3, 1);
	sl_exact_add(&exact, &sum, 7, -1); /* the least sum with the largest weight */
	assert_true(sl_exact_mean(&exact, &sum, UINT64_C(1) << 61) == -0x1p-189);
	assert_true(sl_exact_mean(&exact, &sum, (UINT64_C(1) << 61) - 1) == -0x1p-189 * (1 + 0x1p-61));
	sl_exact_add(&exact, &sum, 0, INT64_C(1) << 60); /* the largest value that a sum can have */
	assert_true(sl_exact_mean(&exact, &sum, UINT64_C(1) << 29) == 0x1p127);
}

/* ---- integers ---- */

static void expect_integer(const BIGNUM *number, uint64_t weight, uint32_t limb_bits)
{
	struct sl_exact exact = width_of(WIDTHS - 1, limb_bits);
	struct sl_exact_sum sum;
	set_sum(&exact, &sum, number);
	assert_int_equal(sl_exact_mean_integer(&sum, weight), big_mean_integer(number, weight));
}

/* Any means of 64 bits, halves among them, and the ends of int64. */
TEST(means_of_integers)
{
	uint64_t seed = 46;
	for (int turn = 0; turn < 100000; turn++) {
		uint64_t weight = 1 + any_bits(&seed, turn % 2 == 0 ? 20 : 4);
		int64_t mean = turn % 16 == 0	? INT64_MAX
			       : turn % 16 == 1 ? INT64_MIN
						: (int64_t)any64(&seed) >> any64(&seed) % 64;
		uint64_t rest = turn % 3 == 0 ? weight / 2 : any64(&seed) % weight;
		BIGNUM *number = big_of(mean < 0 ? -(uint64_t)mean : (uint64_t)mean, false);
		assert_true(BN_mul_word(number, weight) == 1);
		if (turn % 16 > 1) /* the mean stays within int64 */
			assert_int_equal(BN_add_word(number, rest), 1);
		else
			assert_int_equal(BN_sub_word(number, rest < weight / 2 ? rest : 0), 1);
		BN_set_negative(number, mean < 0);
		expect_integer(number, weight, 20 + (uint32_t)(any64(&seed) % 19));
		BN_free(number);
	}
}

TEST(halves_of_integers)
{
	static const int64_t cases[][3] = {/* sum, weight, mean */
					   {5, 2, 2},
					   {7, 2, 4},
					   {-5, 2, -2},
					   {-7, 2, -4},
					   {1, 2, 0},
					   {-1, 2, 0},
					   {-3, 2, -2},
					   {1, 3, 0},
					   {2, 3, 1},
					   {-2, 3, -1},
					   {-1, 3, 0},
					   {0, 9, 0},
					   {3, 6, 0},
					   {9, 6, 2},
					   {-9, 6, -2},
					   {10, 6, 2},
					   {INT64_MAX, 1, INT64_MAX},
					   {-INT64_MAX, 2, -(INT64_C(1) << 62)},
					   {INT64_MIN, 1, INT64_MIN},
					   {INT64_MIN, 2, INT64_MIN / 2},
					   {1, INT64_C(1) << 61, 0},
					   {-1, INT64_C(1) << 61, 0}};
	struct sl_exact exact = width_of(WIDTHS - 1, 32);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sl_exact_sum sum = {0};
		int64_t high = cases[i][0] / (INT64_C(1) << 32);
		sl_exact_add(&exact, &sum, 0, high);
		sl_exact_add(&exact, &sum, 1, cases[i][0] - high * (INT64_C(1) << 32));
		assert_int_equal(sl_exact_mean_integer(&sum, (uint64_t)cases[i][1]), cases[i][2]);
	}
}
