/* Ranges of tensors (ROUND.md §4.3 Limbs and ranges): the layout of the vectors, limbs, magnitudes
 * and the exponents of the next round. */
#include "test/field/elements.h"
#include "test/lib/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/limits.h"
#include "common/field/ranges.h"

#define TENSORS 8u

typedef __int128 wide;

/* ---- the layout ---- */

struct shape {
	enum sl_dtype dtype;
	uint64_t elements;
	bool nonnegative, metric;
};

static struct sl_tensor items[TENSORS];

static struct sl_tensors tensors_of(const struct shape *shapes, uint32_t count, size_t *n)
{
	*n = 0;
	for (uint32_t k = 0; k < count; k++) {
		items[k] = (struct sl_tensor){.name = shapes[k].metric ? "metric:loss" : "metric",
					      .dtype = shapes[k].dtype,
					      .dimensions = 1,
					      .shape = {shapes[k].elements},
					      .nonnegative = shapes[k].nonnegative};
		*n += shapes[k].elements;
	}
	return (struct sl_tensors){.items = items, .count = count};
}

/* Return the bits of the exact values of a class: p plain, f fine, m metric, i integer. */
static uint32_t exact_bits(char class, uint64_t n)
{
	return class == 'i' ? 64 : class != 'p' || n <= 65536 ? 256 : n <= 16777216 ? 128 : 64;
}

/* Return the lower limbs of each value of a class, with `bits` in the first one. */
static uint64_t lower_limbs(char class, bool ranged, uint64_t n, uint32_t bits)
{
	if (ranged && strchr("psn", class) != NULL)
		return class == 's' ? 4 : class == 'n' ? 2 : 0;
	uint32_t all = exact_bits(class, n);
	return all / bits + (all % bits != 0) - 1;
}

static const char letters[] = {[SL_CLASS_PLAIN] = 'p',
			       [SL_CLASS_SMALL] = 's',
			       [SL_CLASS_NONNEGATIVE] = 'n',
			       [SL_CLASS_METRIC] = 'm',
			       [SL_CLASS_INTEGER] = 'i'};

static void expect_layout(const struct shape *shapes, const char *classes)
{
	size_t n;
	uint32_t count = (uint32_t)strlen(classes);
	struct sl_tensors tensors = tensors_of(shapes, count, &n);
	void *memory = malloc(sl_ranges_memory(&tensors));
	struct sl_ranges ranges;
	sl_ranges_set(&ranges, &tensors, n, memory);
	assert_int_equal(ranges.count, count);
	assert_true(ranges.layout.n == n && ranges.layout.tensors == count);
	for (uint32_t k = 0; k < count; k++) {
		assert_int_equal(letters[ranges.class[k]], classes[k]);
		ranges.most[k] = 1; /* is memory */
		ranges.value[k] = 1;
		ranges.next[k] = 1;
		ranges.own[k] = 1;
		assert_int_equal(letters[ranges.class[k]], classes[k]);
	}
	for (uint32_t bits = 1; bits <= SL_UPDATE_BITS_MAX; bits++)
		for (int ranged = 0; ranged < 2; ranged++) {
			uint64_t lower = 0, counts = ranged ? UINT64_C(16) * count : 0;
			for (uint32_t k = 0; k < count; k++)
				lower += shapes[k].elements * lower_limbs(classes[k], ranged, n, bits);
			assert_int_equal(sl_ranges_lower(&ranges.layout, ranged, bits), lower);
			assert_int_equal(sl_layout_extra(&ranges.layout, ranged, bits), lower + counts);
			for (uint32_t k = 0; ranged && k < count; k++)
				assert_int_equal(sl_ranges_counts_at(&ranges, bits, k),
						 n + lower + UINT64_C(16) * k);
		}
	assert_int_equal(sl_ranges_bytes(&ranges), 2 * count);
	free(memory);
}

#define FLOATS(elements)                                                                                     \
	{                                                                                                    \
		SL_FLOAT32, elements, false, false                                                           \
	}

TEST(small_tensors)
{
	static const struct {
		struct shape shapes[5];
		const char *classes;
	} cases[] = {
		/* 1,024 elements together */
		{{FLOATS(1024), FLOATS(5000)}, "sp"},
		{{FLOATS(1025), FLOATS(5000)}, "pp"},
		{{{.dtype = SL_FLOAT64, .elements = 600}, FLOATS(424), FLOATS(5000)}, "ssp"},
		{{{.dtype = SL_FLOAT64, .elements = 600}, FLOATS(425), FLOATS(5000)}, "psp"},
		/* or 1/192 of the model */
		{{FLOATS(382000), FLOATS(2000)}, "ps"},
		{{FLOATS(381999), FLOATS(2001)}, "pp"},
		{{FLOATS(1000), FLOATS(382000), FLOATS(1000)}, "sps"},
		/* all of one size, or none */
		{{FLOATS(512), FLOATS(512), FLOATS(5000)}, "ssp"},
		{{FLOATS(513), FLOATS(3), FLOATS(513), FLOATS(5000)}, "pspp"},
		{{FLOATS(256), FLOATS(256), FLOATS(256), FLOATS(256)}, "ssss"},
		{{FLOATS(257), FLOATS(257), FLOATS(257), FLOATS(257)}, "pppp"},
		/* integers are exact; they count as small */
		{{FLOATS(7), {.dtype = SL_INT64, .elements = 100000}, {.dtype = SL_INT64, .elements = 1}},
		 "sii"},
		{{{.dtype = SL_INT64, .elements = 1000}, FLOATS(1001), FLOATS(5000)}, "ipp"},
		/* so are metrics, whatever else they are */
		{{{SL_FLOAT64, 1, false, true}, {SL_FLOAT32, 5000, true, true}, FLOATS(5000)}, "mmp"},
		{{{SL_FLOAT64, 1024, false, true}, FLOATS(1), FLOATS(5000)}, "msp"},
		{{{SL_INT64, 3, true, true}, FLOATS(5000)}, "ip"},
		/* non-negative tensors have a class of their own if they are not small */
		{{{SL_FLOAT64, 5000, true, false}, FLOATS(5000)}, "np"},
		{{{SL_INT64, 5000, true, false}, {SL_FLOAT32, 1, true, false}}, "is"},
		/* without elements */
		{{FLOATS(0), FLOATS(5000), FLOATS(0), FLOATS(3)}, "spss"},
		{{FLOATS(0), FLOATS(1025)}, "sp"},
		/* exact values have fewer bits in larger models */
		{{FLOATS(65536)}, "p"},
		{{FLOATS(65537)}, "p"},
		{{FLOATS(16777216)}, "p"},
		{{FLOATS(16777210), FLOATS(6)}, "ps"},
		{{FLOATS(16777210), FLOATS(7)}, "ps"},
		{{{SL_FLOAT64, 16777217, true, false}, {SL_INT64, 9, false, false}}, "ni"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_layout(cases[i].shapes, cases[i].classes);
}

/* Small are all up to a size, the largest for which their sum fits. */
TEST(small_tensors_of_any_sizes)
{
	uint64_t seed = 21;
	for (int turn = 0; turn < 5000; turn++) {
		struct shape shapes[TENSORS];
		char classes[TENSORS + 1] = "";
		uint32_t count = 1 + (uint32_t)(any64(&seed) % TENSORS);
		uint64_t n = 0, most = 0;
		for (uint32_t k = 0; k < count; k++) {
			shapes[k].dtype = (enum sl_dtype)(any64(&seed) % 3);
			shapes[k].elements = any64(&seed) % (UINT64_C(1) << any64(&seed) % 18);
			shapes[k].nonnegative = any64(&seed) % 5 == 0;
			shapes[k].metric = any64(&seed) % 5 == 0;
			n += shapes[k].elements;
		}
		for (uint32_t k = 0; k < count; k++) {
			uint64_t sum = 0;
			for (uint32_t j = 0; j < count; j++)
				sum += shapes[j].elements <= shapes[k].elements ? shapes[j].elements : 0;
			if ((sum <= 1024 || 192 * sum <= n) && shapes[k].elements > most)
				most = shapes[k].elements;
		}
		for (uint32_t k = 0; k < count; k++)
			classes[k] = shapes[k].dtype == SL_INT64  ? 'i'
				     : shapes[k].metric		  ? 'm'
				     : shapes[k].elements <= most ? 's'
				     : shapes[k].nonnegative	  ? 'n'
								  : 'p';
		expect_layout(shapes, classes);
	}
}

TEST(models_without_a_list)
{
	const struct sl_tensors empty = {.items = NULL, .count = 0}, *lists[] = {NULL, &empty};
	static uint64_t memory[16];
	struct sl_ranges ranges;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(sl_ranges_count(lists[i]), 1);
		assert_true(sl_ranges_memory(lists[i]) <= sizeof memory);
		sl_ranges_set(&ranges, lists[i], 1024, memory);
		assert_true(ranges.count == 1 && ranges.class[0] == SL_CLASS_SMALL);
		assert_int_equal(sl_ranges_lower(&ranges.layout, true, 12), 4 * 1024);
		assert_int_equal(sl_layout_extra(&ranges.layout, false, 32), 7 * 1024);
		sl_ranges_set(&ranges, lists[i], 1025, memory);
		assert_true(ranges.class[0] == SL_CLASS_PLAIN);
		assert_int_equal(sl_layout_extra(&ranges.layout, true, 12), 16);
		assert_int_equal(sl_layout_extra(&ranges.layout, false, 32), 7 * 1025);
	}
}

/* What the exact values of each class are, at the sizes of models where they change. */
TEST(exact_values_of_a_class)
{
	static const struct {
		enum sl_tensor_class class;
		uint64_t n;
		uint32_t bits;
		int bottom;
	} cases[] = {
		{SL_CLASS_PLAIN, 1, 256, -128},	      {SL_CLASS_PLAIN, 65536, 256, -128},
		{SL_CLASS_PLAIN, 65537, 128, -64},    {SL_CLASS_PLAIN, 16777216, 128, -64},
		{SL_CLASS_PLAIN, 16777217, 64, -40},  {SL_CLASS_SMALL, 1, 256, -128},
		{SL_CLASS_SMALL, 1 << 30, 256, -128}, {SL_CLASS_NONNEGATIVE, 1 << 30, 256, -128},
		{SL_CLASS_METRIC, 1, 256, -128},      {SL_CLASS_METRIC, 1 << 30, 256, -128},
		{SL_CLASS_INTEGER, 1, 64, 0},	      {SL_CLASS_INTEGER, 1 << 30, 64, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (uint32_t limb_bits = 1; limb_bits <= 48; limb_bits++) {
			struct sl_exact exact = sl_ranges_exact(cases[i].class, cases[i].n, limb_bits);
			assert_int_equal(exact.bits, cases[i].bits);
			assert_int_equal(exact.bottom, cases[i].bottom);
			assert_int_equal(exact.limb_bits, limb_bits);
			assert_true(exact.count * limb_bits >= exact.bits);
			assert_true((exact.count - 1) * limb_bits < exact.bits);
		}
	assert_false(sl_ranges_always_exact(SL_CLASS_PLAIN) || sl_ranges_always_exact(SL_CLASS_SMALL) ||
		     sl_ranges_always_exact(SL_CLASS_NONNEGATIVE));
	assert_true(sl_ranges_always_exact(SL_CLASS_METRIC) && sl_ranges_always_exact(SL_CLASS_INTEGER));
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
		for (uint32_t count = 1; count <= 5; count++) {
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

/* A tensor that fewer than c + 1 change grows by the committed change alone: what c liars say of one that no
 * other changes makes no round coarser. */
TEST(growth_by_few)
{
	struct sl_range_sums sums = ten();
	for (uint32_t liars = 1; liars <= 3; liars++) {
		memset(sums.counts, 0, sizeof sums.counts);
		sums.counts[15] = liars;
		sums.counts[0] = 10 - liars;
		sums.most = 0;
		assert_int_equal(sl_ranges_next(&sums, 100, 12), liars < 3 ? 100 : 102);
		sums.most = 1 << 7;
		assert_int_equal(sl_ranges_next(&sums, 100, 12), liars < 3 ? 101 : 102);
		sums.most = 1 << 12;
		assert_int_equal(sl_ranges_next(&sums, 100, 12), 106);
		sums.counts[15] = 0;
		sums.counts[9] = liars; /* it falls all the same */
		assert_int_equal(sl_ranges_next(&sums, 100, 12), 97);
	}
}

/* Of five with c = 1, one that states any magnitude: the range is at most one bit above the largest update of
 * the others, and at least one above their second largest, as far as the committed change allows. */
TEST(a_liar_about_magnitudes)
{
	for (uint32_t all = 0; all < 1u << 16; all++)
		for (uint32_t lie = 0; lie < SL_MAGNITUDES; lie++) {
			struct sl_range_sums sums = {.most = 4096, .weight = 1, .learners = 5, .backed = 2};
			uint32_t largest = 0, second = 0;
			sums.counts[lie]++;
			for (uint32_t i = 0; i < 4; i++) {
				uint32_t m = all >> 4 * i & 15;
				sums.counts[m]++;
				second = m > largest ? largest : m > second ? m : second;
				largest = m > largest ? m : largest;
			}
			int next = sl_ranges_next(&sums, 0, 12);
			assert_true(next <= (largest > 0 ? edges[largest] + 1 : lie > 0 ? 6 : 0));
			assert_true(second == 0 || next >= between(edges[second] + 1, -23, 5));
			sums.most = 0;
			next = sl_ranges_next(&sums, 0, 12);
			assert_true(next <= (second > 0 || (largest > 0 && lie > 0) ? 2 : 0));
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
			int least = updates < sums.backed ? range : range + 2;
			most = most < least ? least : most;
			want = want > most ? most : want;
		}
		assert_int_equal(sl_ranges_next(&sums, range, (uint32_t)bits), want);
	}
}

/* Return the exponent after an exact round of the only tensor, of `class` with values up to `most`. */
static int first_of(enum sl_tensor_class class, double most)
{
	uint8_t classes[] = {(uint8_t) class};
	const struct sl_ranges ranges = {.count = 1, .class = classes};
	int16_t exponent;
	sl_ranges_first(&ranges, NULL, &most, &exponent);
	return exponent;
}

/* After an exact round: eight bits above the largest value, and 30 more with several limbs, up to 38. */
TEST(first_exponents)
{
	static const struct {
		double most;
		int exponent;
	} cases[] = {{1, 8},
		     {0x1.0000000000001p0, 9},
		     {0x1.fffffffffffffp-1, 8},
		     {0x1p-30, -22},
		     {1e30, 108},
		     {0x1p-968, -960},
		     {0x1p-967, -959},
		     {4.9e-324, SL_RANGE_LEAST},
		     {0x1p1011, 1019},
		     {0x1p1012, 1020},
		     {1.7e308, SL_RANGE_MOST},
		     {0, 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int exponent = cases[i].exponent;
		assert_int_equal(first_of(SL_CLASS_PLAIN, cases[i].most), exponent);
		assert_int_equal(first_of(SL_CLASS_METRIC, cases[i].most), 0);
		assert_int_equal(first_of(SL_CLASS_INTEGER, cases[i].most), 0);
	}
	for (enum sl_tensor_class class = SL_CLASS_SMALL; class <= SL_CLASS_NONNEGATIVE; class ++) {
		assert_int_equal(first_of(class, 1), 38);
		assert_int_equal(first_of(class, 0x1p-1000), SL_RANGE_LEAST);
		assert_int_equal(first_of(class, 0x1p-997), -959);
		assert_int_equal(first_of(class, 0x1p1012), SL_RANGE_MOST);
		assert_int_equal(first_of(class, 0), 12);
	}
	assert_int_equal(first_of(SL_CLASS_PLAIN, NAN), 0); /* as of zeros */
}

/* Tensors of zeros are as the largest of the others, but not as the exact ones, whose values are no updates.
 */
TEST(tensors_of_zeros)
{
	static uint8_t classes[] = {SL_CLASS_PLAIN,	  SL_CLASS_PLAIN,  SL_CLASS_SMALL,   SL_CLASS_PLAIN,
				    SL_CLASS_NONNEGATIVE, SL_CLASS_METRIC, SL_CLASS_INTEGER, SL_CLASS_PLAIN};
	const struct sl_ranges all = {.count = 8, .class = classes};
	const double some[] = {0, 0x1p-38, 0, 0x1p-15, 0x1p-17, 1e6, 0x1p62, 0},
		     few[] = {0, 0, 0, 0, 8, 0, 0, 0}, none[] = {0, 0, 0, 0, 0, 1, 1, 0};
	static const int16_t of_some[] = {-7, -30, 5, -7, 21, 0, 0, -7},
			     of_few[] = {11, 11, 23, 11, 38, 0, 0, 11},
			     of_none[] = {0, 0, 12, 0, 12, 0, 0, 0};
	int16_t exponents[8];
	sl_ranges_first(&all, NULL, some, exponents);
	assert_memory_equal(exponents, of_some, sizeof exponents);
	sl_ranges_first(&all, NULL, few, exponents);
	assert_memory_equal(exponents, of_few, sizeof exponents);
	sl_ranges_first(&all, NULL, none, exponents);
	assert_memory_equal(exponents, of_none, sizeof exponents);
}

/* A variance of 1 has room to grow; one that has grown has bits below for the small ones beside it. */
TEST(a_variance_that_has_grown)
{
	static uint8_t classes[] = {SL_CLASS_SMALL, SL_CLASS_SMALL, SL_CLASS_SMALL, SL_CLASS_NONNEGATIVE};
	const struct sl_ranges ranges = {.count = 4, .class = classes};
	const double most[] = {1, 0x1p29, 0x1p31, 0x1p40};
	int16_t exponents[4];
	sl_ranges_first(&ranges, NULL, most, exponents);
	assert_true(exponents[0] == 38 && exponents[1] == 38 && exponents[2] == 39 && exponents[3] == 48);
}

/* Second moments: their zeros have no room for growth, and the more bits below. */
TEST(zeros_of_a_nonnegative_tensor)
{
	static struct sl_tensor moments[3] = {
		{.nonnegative = true}, {.nonnegative = false}, {.nonnegative = true}};
	static uint8_t classes[] = {SL_CLASS_SMALL, SL_CLASS_SMALL, SL_CLASS_NONNEGATIVE};
	const struct sl_tensors tensors = {.items = moments, .count = 3};
	const struct sl_ranges ranges = {.count = 3, .class = classes};
	const double most[] = {0, 0, 4};
	int16_t exponents[3];
	sl_ranges_first(&ranges, &tensors, most, exponents);
	assert_true(exponents[0] == 10 && exponents[1] == 22 && exponents[2] == 38);
}

/* The largest exponent of the others, one bit below the end, leaves no room for those of small zeros. */
TEST(zeros_at_the_end)
{
	static uint8_t classes[] = {SL_CLASS_PLAIN, SL_CLASS_SMALL};
	const struct sl_ranges two = {.count = 2, .class = classes};
	const double most[] = {0x1p1011, 0}, beyond[] = {0x1p1020, 0};
	int16_t exponents[2];
	sl_ranges_first(&two, NULL, most, exponents);
	assert_true(exponents[0] == SL_RANGE_MOST - 1 && exponents[1] == SL_RANGE_MOST);
	sl_ranges_first(&two, NULL, beyond, exponents);
	assert_true(exponents[0] == SL_RANGE_MOST && exponents[1] == SL_RANGE_MOST);
}
