/* Ranges of tensors (PROTOCOL.md §4.3 Ranges of the tensors): the layout of the vectors, limbs, magnitudes,
 * the exponents of the next round, and the encoding and decoding with them. */
#include "test/field/elements.h"
#include "test/lib/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/field/encoding.h"
#include "common/field/ranges.h"

#define TENSORS 8u

typedef __int128 wide;

/* ---- the layout ---- */

struct shape {
	enum sl_dtype dtype;
	uint64_t elements;
};

static struct sl_tensor items[TENSORS];

static struct sl_tensors tensors_of(const struct shape *shapes, uint32_t count, size_t *n)
{
	*n = 0;
	for (uint32_t k = 0; k < count; k++) {
		items[k] = (struct sl_tensor){.name = "t", .dtype = shapes[k].dtype, .dimensions = 1};
		items[k].shape[0] = shapes[k].elements;
		*n += shapes[k].elements;
	}
	return (struct sl_tensors){items, count};
}

static void expect_limbs(const struct shape *shapes, uint32_t count, const uint8_t *limbs)
{
	size_t n;
	struct sl_tensors tensors = tensors_of(shapes, count, &n);
	void *memory = malloc(sl_ranges_memory(&tensors));
	struct sl_ranges ranges;
	uint64_t lower = 0;
	sl_ranges_set(&ranges, &tensors, n, memory);
	assert_int_equal(ranges.count, count);
	for (uint32_t k = 0; k < count; k++) {
		assert_int_equal(ranges.limbs[k], limbs[k]);
		lower += shapes[k].elements * (limbs[k] - 1u);
		ranges.most[k] = ranges.own[k] = 1; /* is memory */
		ranges.next[k] = 1;
	}
	assert_int_equal(ranges.lower, lower);
	assert_int_equal(sl_ranges_extra(&ranges), lower + UINT64_C(16) * count);
	assert_int_equal(sl_ranges_bytes(&ranges), 2 * count);
	for (uint32_t k = 0; k < count; k++)
		assert_int_equal(sl_ranges_counts_at(&ranges, n, k), n + lower + UINT64_C(16) * k);
	free(memory);
}

TEST(small_tensors)
{
	static const struct {
		struct shape shapes[5];
		uint8_t limbs[5]; /* 0: the end */
	} cases[] = {
		/* 1,024 elements together */
		{{{SL_FLOAT32, 1024}, {SL_FLOAT32, 5000}}, {2, 1}},
		{{{SL_FLOAT32, 1025}, {SL_FLOAT32, 5000}}, {1, 1}},
		{{{SL_FLOAT64, 600}, {SL_FLOAT32, 424}, {SL_FLOAT32, 5000}}, {2, 2, 1}},
		{{{SL_FLOAT64, 600}, {SL_FLOAT32, 425}, {SL_FLOAT32, 5000}}, {1, 2, 1}},
		/* or 1/64 of the model */
		{{{SL_FLOAT32, 126000}, {SL_FLOAT32, 2000}}, {1, 2}},
		{{{SL_FLOAT32, 125999}, {SL_FLOAT32, 2001}}, {1, 1}},
		{{{SL_FLOAT32, 1000}, {SL_FLOAT32, 126000}, {SL_FLOAT32, 1000}}, {2, 1, 2}},
		/* all of one size, or none */
		{{{SL_FLOAT32, 512}, {SL_FLOAT32, 512}, {SL_FLOAT32, 5000}}, {2, 2, 1}},
		{{{SL_FLOAT32, 513}, {SL_FLOAT32, 3}, {SL_FLOAT32, 513}, {SL_FLOAT32, 5000}}, {1, 2, 1, 1}},
		{{{SL_FLOAT32, 256}, {SL_FLOAT32, 256}, {SL_FLOAT32, 256}, {SL_FLOAT32, 256}}, {2, 2, 2, 2}},
		{{{SL_FLOAT32, 257}, {SL_FLOAT32, 257}, {SL_FLOAT32, 257}, {SL_FLOAT32, 257}}, {1, 1, 1, 1}},
		/* integers have their own; they count as small */
		{{{SL_INT64, 100000}, {SL_INT64, 1}, {SL_FLOAT32, 7}}, {4, 4, 2}},
		{{{SL_INT64, 1000}, {SL_FLOAT32, 1001}, {SL_FLOAT32, 5000}}, {4, 1, 1}},
		/* without elements */
		{{{SL_FLOAT32, 0}, {SL_FLOAT32, 5000}, {SL_FLOAT32, 0}, {SL_FLOAT32, 3}}, {2, 1, 2, 2}},
		{{{SL_FLOAT32, 0}, {SL_FLOAT32, 1025}}, {2, 1}},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_limbs(cases[i].shapes, (uint32_t)strlen((const char *)cases[i].limbs), cases[i].limbs);
}

/* Small are all up to a size, the largest for which their sum fits. */
TEST(small_tensors_of_any_sizes)
{
	uint64_t seed = 21;
	for (int turn = 0; turn < 20000; turn++) {
		struct shape shapes[TENSORS];
		uint8_t limbs[TENSORS] = {0};
		uint32_t count = 1 + (uint32_t)(any64(&seed) % TENSORS);
		uint64_t n = 0, most = 0;
		for (uint32_t k = 0; k < count; k++) {
			shapes[k].dtype = (enum sl_dtype)(any64(&seed) % 3);
			shapes[k].elements = any64(&seed) % (UINT64_C(1) << any64(&seed) % 18);
			n += shapes[k].elements;
		}
		for (uint32_t k = 0; k < count; k++) {
			uint64_t sum = 0;
			for (uint32_t j = 0; j < count; j++)
				sum += shapes[j].elements <= shapes[k].elements ? shapes[j].elements : 0;
			if ((sum <= 1024 || 64 * sum <= n) && shapes[k].elements > most)
				most = shapes[k].elements;
		}
		for (uint32_t k = 0; k < count; k++)
			limbs[k] = shapes[k].dtype == SL_INT64 ? 4 : shapes[k].elements <= most ? 2 : 1;
		expect_limbs(shapes, count, limbs);
	}
}

TEST(models_without_a_list)
{
	const struct sl_tensors empty = {NULL, 0}, *lists[] = {NULL, &empty};
	static uint64_t memory[8];
	struct sl_ranges ranges;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(sl_ranges_count(lists[i]), 1);
		assert_true(sl_ranges_memory(lists[i]) <= sizeof memory);
		sl_ranges_set(&ranges, lists[i], 1024, memory);
		assert_true(ranges.count == 1 && ranges.limbs[0] == 2 && ranges.lower == 1024);
		sl_ranges_set(&ranges, lists[i], 1025, memory);
		assert_true(ranges.limbs[0] == 1 && sl_ranges_extra(&ranges) == 16);
	}
}

/* ---- limbs ---- */

static void expect_whole(const struct sl_limbs *limbs, int64_t whole)
{
	wide sum = 0;
	for (uint32_t limb = 0; limb < limbs->count; limb++) {
		int64_t taken = sl_ranges_limb(limbs, whole, limb);
		int64_t most = limb == 0 ? INT64_C(1) << limbs->bits : INT64_C(1) << limbs->lower >> 1;
		assert_true(taken <= most && taken >= -most);
		sum = sum * (wide)(INT64_C(1) << limbs->lower) + taken;
	}
	assert_true(sum == whole);
}

TEST(limbs_of_integers)
{
	uint64_t seed = 22;
	for (uint32_t bits = 1; bits <= SL_UPDATE_BITS_MAX; bits++)
		for (uint32_t count = 1; count <= 4; count++) {
			struct sl_limbs limbs = sl_ranges_limbs(count, bits);
			uint32_t below = sl_limbs_below(&limbs, 0);
			int64_t end = INT64_C(1) << (bits + below), half = (INT64_C(1) << below) / 2;
			assert_true(bits + below <= SL_LIMBS_BITS && limbs.lower <= bits);
			assert_int_equal(sl_limbs_below(&limbs, count - 1), 0);
			if (count > 1 && (count - 1) * bits <= SL_LIMBS_BITS - bits)
				assert_int_equal(limbs.lower, bits);
			else if (count > 1)
				assert_int_equal(limbs.lower, (SL_LIMBS_BITS - bits) / (count - 1));
			const int64_t edges[] = {0, 1, end, end - 1, half, half - 1, half + 1, 3 * half};
			for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
				expect_whole(&limbs, edges[i]);
				expect_whole(&limbs, -edges[i]);
			}
			for (int turn = 0; turn < 2000; turn++)
				expect_whole(&limbs, (int64_t)(any64(&seed) % (2 * (uint64_t)end + 1)) - end);
		}
}

TEST(halves_of_limbs)
{
	struct sl_limbs two = sl_ranges_limbs(2, 12), four = sl_ranges_limbs(4, 12);
	assert_true(two.lower == 12 && four.lower == 12);
	assert_true(sl_ranges_limb(&two, 2048, 0) == 1 && sl_ranges_limb(&two, 2048, 1) == -2048);
	assert_true(sl_ranges_limb(&two, 2047, 0) == 0 && sl_ranges_limb(&two, 2047, 1) == 2047);
	assert_true(sl_ranges_limb(&two, -2048, 0) == 0 && sl_ranges_limb(&two, -2048, 1) == -2048);
	assert_true(sl_ranges_limb(&two, -2049, 0) == -1 && sl_ranges_limb(&two, -2049, 1) == 2047);
	assert_true(sl_ranges_limb(&four, -1, 0) == 0 && sl_ranges_limb(&four, -1, 3) == -1);
	assert_int_equal(sl_ranges_limb(&four, INT64_C(1) << 48, 0), 4096);
}

/* ---- magnitudes ---- */

/* log2 of the largest update of each magnitude but the last, over the range. */
static const int edges[SL_MAGNITUDES] = {0, -24, -20, -16, -13, -10, -8, -6, -5, -4, -3, -2, -1, 0, 2, 5};

/* Return the magnitude of updates above 2^(above - 1), up to 2^above, over the range. */
static uint32_t magnitude_of(int above)
{
	uint32_t magnitude = 1;
	while (magnitude < 15 && above > edges[magnitude])
		magnitude++;
	return magnitude;
}

TEST(magnitudes)
{
	for (int range = SL_RANGE_LEAST; range <= SL_RANGE_MOST; range += range < -1 || range > 0 ? 30 : 1) {
		assert_int_equal(sl_ranges_magnitude(0, range), 0);
		assert_int_equal(sl_ranges_magnitude(INFINITY, range), 15);
		for (int e = -1074; e <= 1023; e++) {
			double power = ldexp(1, e);
			uint32_t want = magnitude_of(e - range), above = magnitude_of(e - range + 1);
			assert_int_equal(sl_ranges_magnitude(power, range), want);
			assert_int_equal(sl_ranges_magnitude(nextafter(power, INFINITY), range), above);
			if (e > -1074)
				assert_int_equal(sl_ranges_magnitude(nextafter(power, 0), range), want);
		}
	}
	assert_int_equal(sl_ranges_magnitude(0x1p-24, 0), 1);
	assert_int_equal(sl_ranges_magnitude(1, 0), 13);
	assert_int_equal(sl_ranges_magnitude(0x1p2, 0), 14);
	assert_int_equal(sl_ranges_magnitude(0x1.000001p2, 0), 15);
}

/* ---- exponents ---- */

/* Sums of ten learners with c = 2 and a large committed change. */
static struct sl_range_sums ten(void)
{
	return (struct sl_range_sums){.most = 4096, .weight = 1, .learners = 10, .backed = 3};
}

/* One bit of room above the magnitude that c + 1 learners reach. */
TEST(backed_magnitudes)
{
	struct sl_range_sums sums = ten();
	sums.counts[13] = 10;
	assert_int_equal(sl_ranges_next(&sums, 5, 12), 6);
	sums.counts[13] = 8; /* c liars do not raise it */
	sums.counts[15] = 2;
	assert_int_equal(sl_ranges_next(&sums, 5, 12), 6);
	sums.counts[13] = 7; /* but c + 1 do */
	sums.counts[14] = 1;
	assert_int_equal(sl_ranges_next(&sums, 5, 12), 8);
	sums = ten();
	sums.counts[0] = 5; /* those without an update say nothing */
	sums.counts[11] = 3;
	sums.counts[12] = 2;
	assert_int_equal(sl_ranges_next(&sums, 5, 12), 4);
	for (uint32_t b = 1; b < SL_MAGNITUDES; b++) {
		sums = ten();
		sums.counts[b] = 10;
		assert_int_equal(sl_ranges_next(&sums, -30, 12), -30 + edges[b] + 1);
	}
}

/* Fewer than c + 1 have an update: the smallest of theirs counts. */
TEST(few_updates)
{
	struct sl_range_sums sums = ten();
	sums.counts[0] = 8;
	sums.counts[14] = 1;
	sums.counts[4] = 1;
	assert_int_equal(sl_ranges_next(&sums, 0, 12), -12);
	sums.counts[0] = 9;
	sums.counts[4] = 0;
	assert_int_equal(sl_ranges_next(&sums, 0, 12), 3);
	sums.counts[0] = 10;
	sums.counts[14] = 0;
	for (int range = SL_RANGE_LEAST; range <= SL_RANGE_MOST; range++)
		assert_int_equal(sl_ranges_next(&sums, range, 12), range);
}

static int between(int value, int least, int most)
{
	return value < least ? least : value > most ? most : value;
}

/* Up to 4 N times the committed change, and two bits without one: updates may cancel. */
TEST(growth)
{
	struct sl_range_sums sums = ten();
	sums.counts[15] = 10;
	/* 4 N is 2^6 here: a change of 2^k steps allows k + 6 bits above the step */
	for (int k = 0; k <= 12; k++) {
		sums.weight = 1;
		sums.most = UINT64_C(1) << k;
		assert_int_equal(sl_ranges_next(&sums, 100, 12), 100 + between(k - 6, 2, 6));
		sums.most++; /* a little more, and the next power of two */
		assert_int_equal(sl_ranges_next(&sums, 100, 12), 100 + between(k - 5, 2, 6));
		sums.weight = 3;
		sums.most = UINT64_C(3) << k;
		assert_int_equal(sl_ranges_next(&sums, 100, 12), 100 + between(k - 6, 2, 6));
	}
	sums.most = 512 * sums.weight;
	sums.learners = 16; /* 4 N is a power of two itself, and then one more */
	assert_int_equal(sl_ranges_next(&sums, 100, 12), 103);
	sums.learners = 17;
	assert_int_equal(sl_ranges_next(&sums, 100, 12), 104);
	sums.most = 0; /* no change at all counts as a step */
	sums.learners = 8192;
	assert_int_equal(sl_ranges_next(&sums, 100, 12), 103);
	sums.learners = 10;
	assert_int_equal(sl_ranges_next(&sums, 100, 12), 102);
	for (uint32_t b = 1; b < SL_MAGNITUDES; b++) { /* what it takes, and not less */
		memset(sums.counts, 0, sizeof sums.counts);
		sums.counts[b] = 10;
		assert_int_equal(sl_ranges_next(&sums, 100, 12), 100 + between(edges[b] + 1, -23, 2));
	}
}

TEST(ends_of_the_ranges)
{
	struct sl_range_sums sums = ten();
	sums.counts[15] = 10;
	assert_int_equal(sl_ranges_next(&sums, SL_RANGE_MOST - 2, 12), SL_RANGE_MOST);
	sums.counts[15] = 0;
	sums.counts[1] = 10;
	assert_int_equal(sl_ranges_next(&sums, SL_RANGE_LEAST + 2, 12), SL_RANGE_LEAST);
	assert_true(isnormal(ldexp(1, SL_RANGE_LEAST - (int)SL_LIMBS_BITS)) &&
		    isfinite(ldexp(1, (int)SL_LIMBS_BITS - SL_RANGE_LEAST)));
	sums.most = UINT64_C(1) << 40;
	assert_int_equal(sl_ranges_first(&sums, 1000), SL_RANGE_MOST);
	sums.most = 1;
	assert_int_equal(sl_ranges_first(&sums, -1000), SL_RANGE_LEAST);
}

/* Any sums, against the rules one by one. */
TEST(any_sums)
{
	uint64_t seed = 23;
	for (int turn = 0; turn < 200000; turn++) {
		struct sl_range_sums sums = {.learners = 2 + (uint32_t)(any64(&seed) % 40)};
		sums.backed = 1 + (uint32_t)(any64(&seed) % (sums.learners - 1));
		sums.weight = 1 + any64(&seed) % (UINT64_C(1) << any64(&seed) % 40);
		sums.most = any64(&seed) % (UINT64_C(1) << any64(&seed) % 60);
		uint32_t ordered[64], updates = 0;
		for (uint32_t i = 0; i < sums.learners; i++)
			sums.counts[any64(&seed) % 3 == 0 ? 0 : any64(&seed) % SL_MAGNITUDES]++;
		for (uint32_t b = SL_MAGNITUDES - 1; b > 0; b--)
			for (uint64_t i = 0; i < sums.counts[b]; i++)
				ordered[updates++] = b;
		int range = (int)(any64(&seed) % 200) - 100, bits = 1 + (int)(any64(&seed) % 24),
		    want = range;
		if (updates > 0) {
			uint32_t of = updates < sums.backed ? updates : sums.backed;
			long double change = (long double)sums.most / sums.weight;
			int g = 0, learners = 0;
			while (change > ldexpl(1, g))
				g++;
			while (4 * sums.learners > 1u << learners)
				learners++;
			int most = range - bits + g + learners;
			want = range + edges[ordered[of - 1]] + 1;
			most = most < range + 2 ? range + 2 : most;
			want = want > most ? most : want;
		}
		assert_int_equal(sl_ranges_next(&sums, range, (uint32_t)bits), want);
	}
}

/* After a round of whole models: eight bits above the largest mean. */
TEST(first_exponents)
{
	struct sl_range_sums sums = {.most = 5, .weight = 3};
	assert_int_equal(sl_ranges_first(&sums, -4), 5);
	sums.weight = 8;
	assert_int_equal(sl_ranges_first(&sums, -4), 4);
	sums.most = 1;
	assert_int_equal(sl_ranges_first(&sums, -4), 1);
	sums.weight = 9;
	assert_int_equal(sl_ranges_first(&sums, -4), 1);
	sums.most = 8;
	sums.weight = 1;
	assert_int_equal(sl_ranges_first(&sums, 0), 11);
	sums.most = (UINT64_C(1) << 60) - 1;
	assert_int_equal(sl_ranges_first(&sums, 0), 68);
	sums.most = 0;
	assert_int_equal(sl_ranges_first(&sums, 0), SL_RANGE_NONE);
}

/* The same of an initial model. */
TEST(initial_exponents)
{
	assert_int_equal(sl_ranges_of_values(1), 8);
	assert_int_equal(sl_ranges_of_values(nextafter(1, 2)), 9);
	assert_int_equal(sl_ranges_of_values(0x1p-30), -22);
	assert_int_equal(sl_ranges_of_values(4.9e-324), SL_RANGE_LEAST);
	assert_int_equal(sl_ranges_of_values(1.7e308), SL_RANGE_MOST);
	assert_int_equal(sl_ranges_of_values(0), SL_RANGE_NONE);
	assert_int_equal(sl_ranges_of_values(INFINITY), SL_RANGE_NONE);
	assert_int_equal(sl_ranges_of_values(NAN), SL_RANGE_NONE);
}

/* Tensors of zeros are as the largest one; those with several limbs have bits to spare. */
TEST(tensors_of_zeros)
{
	static uint8_t limbs[] = {1, 1, 2, 1, 4};
	const struct sl_ranges five = {.count = 5, .limbs = limbs}, two = {.count = 2, .limbs = limbs};
	int16_t some[] = {SL_RANGE_NONE, -30, SL_RANGE_NONE, -7, -9}, none[] = {SL_RANGE_NONE, SL_RANGE_NONE};
	sl_ranges_complete(&five, some);
	assert_true(some[0] == -7 && some[1] == -30 && some[2] == 5 && some[3] == -7 && some[4] == 21);
	sl_ranges_complete(&two, none);
	assert_true(none[0] == 0 && none[1] == 0);
}

/* ---- encoding and decoding ---- */

#define LARGE 1300u /* two blocks and a rest */
#define N (7 + 5 + 2 * LARGE + 4)
#define EXTRA (7 + 3 * 5 + 4 + 6 * 16)
#define ALL (N + EXTRA + 1)
#define BITS 12

#define TINY LARGE
#define V (2 * LARGE)

/* The small ones are `d`, `i` and `v`. */
struct model {
	double d[7];
	int64_t i[5];
	float f[2 * LARGE + 4]; /* large, tiny, v */
};
static const struct sl_tensor list[] = {
	{.name = "d", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {7}},
	{.name = "i", .dtype = SL_INT64, .dimensions = 1, .shape = {5}},
	{.name = "none", .dtype = SL_INT64, .dimensions = 1, .shape = {0}},
	{.name = "large", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {LARGE}},
	{.name = "tiny", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {LARGE}},
	{.name = "v", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {4}, .nonnegative = true}};
#define COUNT (sizeof list / sizeof *list)
static const struct sl_tensors mixed = {list, COUNT};
static const size_t begin[COUNT + 1] = {0, 7, 12, 12, 12 + LARGE, 12 + 2 * LARGE, N};
static const int limbs_of[COUNT] = {2, 4, 4, 1, 1, 2};

static struct sl_field field;
static struct sl_ranges ranges;
static uint64_t memory[32];
static int16_t exponents[COUNT] = {-40, 40, 0, 40, -40, -1};
static struct model theta, base;
static uint64_t x[ALL];

static struct sl_encoding ranged(uint64_t weight)
{
	assert_int_equal(sl_field_init(&field, (UINT64_C(1) << 44) - 17), SL_OK);
	assert_true(sl_ranges_memory(&mixed) <= sizeof memory);
	sl_ranges_set(&ranges, &mixed, N, memory);
	assert_int_equal(sl_ranges_extra(&ranges), EXTRA);
	for (uint32_t k = 0; k < COUNT; k++)
		ranges.own[k] = (uint8_t)(3 * k);
	return (struct sl_encoding){.kind = SL_ENCODING_WEIGHTED,
				    .values = SL_VALUES_UPDATE,
				    .update_bits = BITS,
				    .clipping_range = 1, /* of no importance */
				    .weight = weight,
				    .ranges = &ranges,
				    .exponents = exponents};
}

static uint32_t tensor_of(size_t l)
{
	uint32_t k = 0;
	while (begin[k + 1] <= l)
		k++;
	return k;
}

/* Return the exact update of element `l`, as long as it has 64 bits. */
static long double update_of(const struct model *model, size_t l)
{
	if (l < 7)
		return (long double)model->d[l] - (long double)base.d[l];
	if (l < 12)
		return (long double)((wide)model->i[l - 7] - (wide)base.i[l - 7]);
	return (long double)model->f[l - 12] - (long double)base.f[l - 12];
}

/* Return the step of a tensor, of its last limb: 2^that. */
static int step_of(uint32_t k)
{
	int step = exponents[k] - BITS * limbs_of[k];
	return k == 1 && step < 0 ? 0 : step;
}

/* Return the steps of an update. */
static wide steps_of(long double u, uint32_t k)
{
	long double steps = nearbyintl(ldexpl(u, -step_of(k))), edge = ldexpl(1, BITS * limbs_of[k]);
	return (wide)(steps > edge ? edge : steps < -edge ? -edge : steps);
}

/* Return a * 2^bits rounded to the nearest integer of that, halves up. */
static wide rounded_down(wide a, int bits)
{
	wide unit = (wide)1 << bits, twice = 2 * a + unit, quotient = twice / (2 * unit);
	return quotient - (quotient * 2 * unit > twice);
}

/* Return the limb that element `at` of a vector is, of element *l of the model. */
static int limb_of(size_t at, size_t *l)
{
	*l = at;
	if (at < N)
		return 0;
	at -= N;
	for (uint32_t k = 0; k < COUNT; k++)
		for (int limb = 1; limb < limbs_of[k]; limb++) {
			size_t size = begin[k + 1] - begin[k];
			*l = begin[k] + at;
			if (at < size)
				return limb;
			at -= size;
		}
	return -1;
}

/* Return what the vector of `theta` has as element `at`, times the weight. */
static int64_t expected(size_t at)
{
	size_t l;
	int limb = limb_of(at, &l);
	if (at >= ALL - 1 - 16 * COUNT) {
		size_t count = at - (ALL - 1 - 16 * COUNT);
		return at == ALL - 1 || count % 16 == ranges.own[count / 16];
	}
	uint32_t k = tensor_of(l);
	wide rest = steps_of(update_of(&theta, l), k), digit = 0;
	for (int j = 0; j <= limb; j++) {
		int below = BITS * (limbs_of[k] - 1 - j);
		digit = below == 0 ? rest : rounded_down(rest, below);
		rest -= digit * ((wide)1 << below);
	}
	return (int64_t)digit;
}

/* Set `base`, and let `theta` be an update of it that is within the ranges. */
static void draw(uint64_t *seed)
{
	for (size_t l = 0; l < N; l++) {
		uint32_t k = tensor_of(l);
		long double part = (long double)(int64_t)any64(seed) * 0x1p-63L;
		double u = (double)ldexpl(part, exponents[k] - (int)(any64(seed) % 16));
		if (k == 0)
			theta.d[l] = base.d[l] + u;
		else if (k == 1)
			theta.i[l - 7] = base.i[l - 7] + (int64_t)u;
		else
			theta.f[l - 12] = base.f[l - 12] + (float)(0.99 * u);
	}
}

static void draw_base(uint64_t *seed)
{
	memset(&base, 0, sizeof base);
	draw(seed);
	base = theta;
	for (size_t l = 0; l < 5; l++) /* beyond what a float, and a double, has */
		base.i[l] += (INT64_C(1) << (l < 3 ? 50 : 60)) + 1;
	for (size_t l = 0; l < 4; l++)
		base.f[V + l] = 0.25f;
}

static void encode(const struct sl_encoding *e, struct sl_encode_note *note)
{
	assert_int_equal(sl_encoding_elements(e, N), ALL);
	assert_int_equal(sl_encoding_encode(&field, e, &mixed, &theta, &base, N, x, note), SL_OK);
}

/* Tensors of magnitudes from 2^-40 to 2^40 beside each other: each element is exact. */
TEST(each_element)
{
	uint64_t seed = 24;
	for (int turn = 0; turn < 20; turn++) {
		struct sl_encoding e = ranged(1 + any64(&seed) % 1000);
		struct sl_encode_note note;
		draw_base(&seed);
		draw(&seed);
		encode(&e, &note);
		assert_int_equal(note.clamped, 0);
		for (size_t at = 0; at < ALL; at++) {
			int64_t want = expected(at) * (at < N + 26 || at == ALL - 1 ? (int64_t)e.weight : 1);
			if (sl_field_centred(&field, x[at]) != want)
				fail_msg("element %zu is %lld, not %lld", at,
					 (long long)sl_field_centred(&field, x[at]), (long long)want);
		}
	}
}

/* By parts that cut tensors, limbs and counts anywhere. */
TEST(parts)
{
	uint64_t seed = 25;
	static uint64_t part[ALL];
	static const size_t sizes[] = {1, 7, 16, 513};
	struct sl_encoding e = ranged(3);
	struct sl_encode_note note, some;
	draw_base(&seed);
	draw(&seed);
	theta.f[TINY + 1] = 1;
	theta.f[V] = 17;
	theta.d[6] = base.d[6] + 0x1p-64;
	encode(&e, &note);
	assert_true(note.clamped == 2 && note.vanished >= 1);
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		size_t clamped = 0, vanished = 0;
		double rounding = 0;
		memset(part, 0xff, sizeof part);
		for (size_t at = 0; at < ALL; at += sizes[s]) {
			size_t count = ALL - at < sizes[s] ? ALL - at : sizes[s];
			assert_int_equal(sl_encoding_encode_part(&field, &e, &mixed, &theta, &base, N, at,
								 count, part + at, &some),
					 SL_OK);
			clamped += some.clamped;
			vanished += some.vanished;
			rounding = fmax(rounding, some.rounding);
		}
		assert_memory_equal(part, x, sizeof x);
		assert_true(clamped == note.clamped && vanished == note.vanished &&
			    rounding == note.rounding);
	}
}

static void decode(const struct sl_encoding *e, const uint64_t *z, struct model *mean)
{
	static uint8_t packed[ALL * 8 + 8];
	static struct model part;
	static const size_t sizes[] = {N, 7};
	sl_bytes_pack(packed, z, ALL, field.bits);
	for (size_t s = 0; s < 2; s++) {
		memset(mean, 0xff, sizeof *mean);
		for (size_t at = 0; at < N; at += sizes[s]) {
			size_t count = N - at < sizes[s] ? N - at : sizes[s];
			size_t from = sl_tensors_offset(&mixed, N, at),
			       to = sl_tensors_offset(&mixed, N, at + count);
			assert_int_equal(sl_encoding_decode_part(&field, e, &mixed, z + at, packed,
								 z[ALL - 1], &base, N, at, count, &part),
					 SL_OK);
			memcpy((uint8_t *)mean + from, &part, to - from);
		}
	}
}

/* Return the integer nearest to sum / weight, halves to even. */
static wide nearest(wide sum, wide weight)
{
	wide twice = 2 * sum + weight, mean = twice / (2 * weight);
	mean -= mean * 2 * weight > twice;
	return mean - (mean * 2 * weight == twice && mean % 2 != 0);
}

/* The mean of five learners: that of their steps in one order of operations, and within half a step of the
 * exact mean; of integers, the exact mean. */
TEST(means)
{
	uint64_t seed = 26;
	static uint64_t z[ALL];
	static wide sums[N];
	static long double exact[N];
	static struct model mean;
	for (int turn = 0; turn < 20; turn++) {
		uint64_t weight = 0;
		struct sl_encoding e = ranged(1);
		struct sl_encode_note note;
		memset(z, 0, sizeof z);
		memset(sums, 0, sizeof sums);
		memset(exact, 0, sizeof exact);
		draw_base(&seed);
		for (int learner = 0; learner < 5; learner++) {
			draw(&seed);
			e.weight = 1 + any64(&seed) % 100;
			weight += e.weight;
			encode(&e, &note);
			for (size_t l = 0; l < ALL; l++)
				z[l] = sl_field_add(&field, z[l], x[l]);
			for (size_t l = 0; l < N; l++) {
				sums[l] += (wide)e.weight * steps_of(update_of(&theta, l), tensor_of(l));
				exact[l] += (long double)e.weight * update_of(&theta, l);
			}
		}
		decode(&e, z, &mean);
		for (size_t l = 0; l < N; l++) {
			uint32_t k = tensor_of(l);
			double step = ldexp(1, step_of(k));
			volatile double quotient = (double)sums[l] / (double)weight, u = quotient * step;
			if (k == 1) {
				assert_int_equal(mean.i[l - 7],
						 base.i[l - 7] + (int64_t)nearest(sums[l], weight));
				continue;
			}
			long double change = (k == 0 ? (long double)mean.d[l] - base.d[l]
						     : (long double)mean.f[l - 12] - base.f[l - 12]);
			volatile double double_sum = k == 0 ? base.d[l] + u : (double)base.f[l - 12] + u;
			volatile float float_sum = (float)double_sum;
			if (k == 0)
				assert_true(mean.d[l] == double_sum);
			else if (k < 5)
				assert_true(mean.f[l - 12] == float_sum);
			else
				assert_true(mean.f[l - 12] == (float_sum > 0 ? float_sum : 0));
			if (k < 5)
				assert_true(fabsl(change - exact[l] / weight) <=
					    step / 2 + ldexp(1, exponents[k] - 23));
		}
	}
}

/* Ties of integers between steps, and steps above 1. */
TEST(integers)
{
	static uint64_t z[ALL];
	static struct model mean;
	struct sl_encoding e = ranged(1);
	struct sl_encode_note note;
	int16_t kept = exponents[1];
	memset(&base, 0, sizeof base);
	memset(&theta, 0, sizeof theta);
	theta.i[0] = (INT64_C(1) << 47) + 1;
	theta.i[1] = -theta.i[0];
	theta.i[2] = INT64_C(1) << 50; /* beyond 2^48 steps of 1 */
	base.i[3] = INT64_MAX;
	theta.i[3] = INT64_MIN; /* a difference of 65 bits */
	base.i[4] = INT64_MIN;
	theta.i[4] = INT64_MIN + 3; /* the same double */
	encode(&e, &note);
	assert_true(note.clamped == 2 && note.rounding == 0);
	decode(&e, x, &mean);
	assert_true(mean.i[0] == theta.i[0] && mean.i[1] == theta.i[1] && mean.i[4] == theta.i[4]);
	assert_true(mean.i[2] == INT64_C(1) << 48 && mean.i[3] == INT64_MAX - (INT64_C(1) << 48));
	e.weight = 2; /* 1 of weight 2 and 0 of weight 2: a half, which goes to the even one */
	memset(&base, 0, sizeof base);
	memset(&theta, 0, sizeof theta);
	for (int k = 0; k < 5; k++)
		theta.i[k] = 2 * k - 3;
	encode(&e, &note);
	memcpy(z, x, sizeof z);
	z[ALL - 1] = 4;
	decode(&e, z, &mean);
	static const int64_t halves[] = {-2, 0, 0, 2, 2};
	assert_memory_equal(mean.i, halves, sizeof halves);
	exponents[1] = 52; /* steps of 16 */
	e.weight = 1;
	static const int64_t values[] = {8, 24, -8, -24, 25}, steps[] = {0, 32, 0, -32, 32};
	memcpy(theta.i, values, sizeof values);
	encode(&e, &note);
	decode(&e, x, &mean);
	assert_memory_equal(mean.i, steps, sizeof steps);
	exponents[1] = 112; /* of 2^64 */
	theta.i[0] = INT64_MAX;
	encode(&e, &note);
	decode(&e, x, &mean);
	assert_int_equal(mean.i[0], 0);
	exponents[1] = kept;
}

/* What is beyond a range is cut there and counted, also without `clipping: clamp`; the range itself is not.
 */
TEST(cut_at_the_range)
{
	struct sl_encoding e = ranged(2);
	struct sl_encode_note note;
	static struct model mean;
	memset(&base, 0, sizeof base);
	memset(&theta, 0, sizeof theta);
	theta.d[0] = 0x1p-40;
	theta.d[1] = -0x1p-40;
	theta.f[0] = 0x1p40f;
	theta.f[LARGE - 1] = -0x1p40f;
	theta.f[V] = 0.5f;
	encode(&e, &note);
	assert_true(note.clamped == 0 && note.rounding == 0 && note.vanished == 0);
	theta.d[2] = nextafter(0x1p-40, 1);
	theta.d[3] = -1e300;
	theta.f[1] = -0x1.000002p40f;
	theta.f[600] = 3e38f;
	theta.f[TINY] = 0x1.000002p-40f;
	theta.f[V + 1] = 1e30f;
	theta.f[V + 3] = 1;
	theta.f[V + 2] = 3e38f; /* the difference is no float */
	base.f[V + 2] = -3e38f;
	theta.f[LARGE - 2] = -3e38f;
	base.f[LARGE - 2] = 3e38f;
	encode(&e, &note);
	assert_int_equal(note.clamped, 9);
	assert_true(note.rounding == 0);
	decode(&e, x, &mean);
	assert_true(mean.d[2] == 0x1p-40 && mean.d[3] == -0x1p-40);
	assert_true(mean.f[1] == -0x1p40f && mean.f[600] == 0x1p40f && mean.f[TINY] == 0x1p-40f);
	assert_true(mean.f[V] == 0.5f && mean.f[V + 1] == 0.5f && mean.f[V + 2] == 0 &&
		    mean.f[V + 3] == 0.5f);
	assert_true(mean.f[LARGE - 2] == 3e38f - 0x1p40f);
}

TEST(not_finite)
{
	uint64_t seed = 27;
	static const size_t places[] = {0, 6, 12, 500, 11 + LARGE, 12 + LARGE, N - 4, N - 1};
	static const float bad[] = {NAN, INFINITY, -INFINITY};
	struct sl_encoding e = ranged(1);
	struct sl_encode_note note;
	draw_base(&seed);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		for (size_t b = 0; b < 3; b++) {
			size_t l = places[i];
			draw(&seed);
			*(l < 7 ? &theta.d[l] : &theta.d[0]) = l < 7 ? (double)bad[b] : theta.d[0];
			if (l >= 12)
				theta.f[l - 12] = bad[b];
			assert_int_equal(sl_encoding_encode(&field, &e, &mixed, &theta, &base, N, x, &note),
					 SL_ERR_INVALID);
			assert_int_equal(note.index, l);
			size_t lower = l < 7 ? N + l : N + 22 + (l - (N - 4)); /* its lower limb alone */
			if (l < 7 || l >= N - 4)
				assert_int_equal(sl_encoding_encode_part(&field, &e, &mixed, &theta, &base, N,
									 lower, 1, x, &note),
						 SL_ERR_INVALID);
			assert_int_equal(note.index, l);
		}
}

/* The least numbers, and zeros with a sign. */
TEST(least_numbers)
{
	struct sl_encoding e = ranged(1);
	struct sl_encode_note note;
	static struct model mean;
	int16_t kept[COUNT];
	memcpy(kept, exponents, sizeof kept);
	exponents[0] = SL_RANGE_LEAST;
	exponents[3] = -140;
	exponents[4] = SL_RANGE_LEAST;
	exponents[5] = -145;
	memset(&base, 0, sizeof base);
	memset(&theta, 0, sizeof theta);
	theta.d[0] = ldexp(1, -984); /* a step */
	theta.d[1] = 4.9e-324;
	theta.d[2] = -0.0;
	theta.f[0] = -0x1p-149f;
	theta.f[1] = -0.0f;
	theta.f[TINY + 3] = 0x1p-149f; /* far beyond the range */
	theta.f[V] = 0x1p-149f;
	theta.f[V + 1] = -0.0f;
	base.f[V + 2] = 0x1p-148f;
	encode(&e, &note);
	assert_true(note.vanished == 1 && note.clamped == 1);
	assert_true(x[0] == 0 && x[N] == 1 && x[N + 1] == 0 && x[N + 2] == 0 && x[2] == 0 && x[13] == 0);
	assert_int_equal(sl_field_centred(&field, x[12]), -8);
	assert_int_equal(sl_field_centred(&field, x[N - 4]), 256);
	assert_int_equal(sl_field_centred(&field, x[N - 2]), -512);
	assert_int_equal(x[12 + LARGE + 3], 4096);
	decode(&e, x, &mean);
	assert_true(mean.d[0] == theta.d[0] && mean.f[0] == -0x1p-149f && mean.f[V] == 0x1p-149f);
	assert_true(mean.f[V + 2] == 0 && !signbit(mean.f[V + 1]) && !signbit(mean.f[V + 2]));
	exponents[3] = SL_RANGE_MOST;
	theta.f[0] = 3e38f;
	encode(&e, &note);
	assert_int_equal(x[12], 0);
	memcpy(exponents, kept, sizeof kept);
}

/* A model that does not count tells its magnitudes all the same. */
TEST(weight_0)
{
	uint64_t seed = 28;
	struct sl_encoding e = ranged(0);
	struct sl_encode_note note;
	draw_base(&seed);
	draw(&seed);
	encode(&e, &note);
	for (size_t at = 0; at < ALL; at++) {
		bool count = at >= N + 26 && at < ALL - 1;
		size_t of = count ? at - N - 26 : 0;
		assert_int_equal(x[at], count && of % 16 == ranges.own[of / 16]);
	}
}

/* What rounding takes from an update, to be added to the next one; of a value that is cut, nothing. */
TEST(rests)
{
	uint64_t seed = 29;
	static struct model rest, again;
	struct sl_encoding e = ranged(1);
	for (int turn = 0; turn < 20; turn++) {
		draw_base(&seed);
		draw(&seed);
		theta.f[turn] = (float)turn * 1e20f; /* beyond the range */
		theta.d[turn % 7] = base.d[turn % 7] - 1e-3;
		theta.i[turn % 5] = base.i[turn % 5] + (INT64_C(1) << 52) + turn;
		sl_encoding_rest_part(&e, &mixed, &theta, &base, N, 0, N, &rest);
		for (size_t at = 0; at < N; at += 7)
			sl_encoding_rest_part(&e, &mixed, &theta, &base, N, at, 7, &again);
		assert_memory_equal(&again, &rest, sizeof rest);
		for (size_t l = 0; l < N; l++) {
			uint32_t k = tensor_of(l);
			long double u = update_of(&theta, l);
			long double steps = (long double)steps_of(u, k), step = ldexpl(1, step_of(k));
			bool cut = rintl(u / step) != steps;
			long double left = cut ? 0 : u - steps * step;
			if (k == 0)
				assert_true(fabsl(rest.d[l] - left) <= fabsl(u) * 0x1p-53L);
			else if (k == 1)
				assert_true((long double)rest.i[l - 7] == left);
			else
				assert_true(rest.f[l - 12] == (float)left);
		}
		again = theta;
		sl_encoding_add_rest(&mixed, &again, &rest, N);
		for (size_t l = 0; l < N; l++)
			if (l < 7)
				assert_true(again.d[l] == theta.d[l] + rest.d[l]);
			else if (l < 12)
				assert_int_equal(again.i[l - 7], theta.i[l - 7] + rest.i[l - 7]);
			else
				assert_true(again.f[l - 12] == theta.f[l - 12] + rest.f[l - 12]);
	}
	theta.f[0] = rest.f[0] = 3e38f; /* their sums are no numbers */
	theta.d[0] = rest.d[0] = -1e308;
	theta.i[0] = rest.i[0] = INT64_MAX;
	sl_encoding_add_rest(&mixed, &theta, &rest, N);
	assert_true(theta.f[0] == 3e38f && theta.d[0] == -1e308 && theta.i[0] == INT64_MAX);
}

/* What no learner changes stays bit by bit, -0.0 too, unless it is declared non-negative. */
TEST(unchanged)
{
	uint64_t seed = 30;
	static struct model mean;
	struct sl_encoding e = ranged(3);
	struct sl_encode_note note;
	draw_base(&seed);
	base.d[3] = -0.0;
	base.f[0] = base.f[LARGE + 600] = -0.0f;
	base.f[V] = -0.0f;
	theta = base;
	encode(&e, &note);
	decode(&e, x, &mean);
	base.f[V] = 0;
	assert_memory_equal(&mean, &base, sizeof base);
}

/* Steps as they are reported: of the last limb. */
TEST(steps)
{
	struct sl_encoding e = ranged(1);
	assert_true(sl_encoding_step_of(&e, 0, SL_FLOAT64) == 0x1p-64);
	assert_true(sl_encoding_step_of(&e, 1, SL_INT64) == 1);
	assert_true(sl_encoding_step_of(&e, 3, SL_FLOAT32) == 0x1p28);
	assert_true(sl_encoding_step_of(&e, 5, SL_FLOAT32) == 0x1p-25);
	e.ranges = NULL;
	assert_true(sl_encoding_step_of(&e, 1, SL_INT64) == 1);
	assert_true(sl_encoding_step_of(&e, 0, SL_FLOAT64) == 0x1p-12);
}
