/* Encoding and decoding by ranges (ROUND.md §4.3 Limbs and ranges): each element, parts, means and rests.
 */
#include "test/field/elements.h"
#include "test/lib/test.h"

#include <math.h>
#include <string.h>

#include "common/base/bytes.h"
#include "test/lib/encoding.h"

typedef __int128 wide;

#define LARGE 1300u /* two blocks and a rest */
#define F 13u	    /* the first of the floats */
#define MOMENTS 1100u
#define N (F + 2 * LARGE + MOMENTS + 4)
#define LOWER (4 * 7 + 5 * 5 + 21 + 2 * MOMENTS + 4 * 4) /* elements of lower limbs */
#define EXTRA (LOWER + 8 * 16)
#define ALL (N + EXTRA + 1)
#define BITS 12

#define TINY LARGE
#define V (2 * LARGE + MOMENTS)

/* The small ones are `d` and `v`; integers and metrics are exact. */
struct model {
	double d[7];
	int64_t i[5];
	double m;
	float f[2 * LARGE + MOMENTS + 4]; /* large, tiny, moments, v */
};
static const struct sl_tensor list[] = {
	{.name = "d", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {7}},
	{.name = "i", .dtype = SL_INT64, .dimensions = 1, .shape = {5}},
	{.name = "none", .dtype = SL_INT64, .dimensions = 1, .shape = {0}},
	{.name = "metric:loss", .dtype = SL_FLOAT64},
	{.name = "large", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {LARGE}},
	{.name = "tiny", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {LARGE}},
	{.name = "moments", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {MOMENTS}, .nonnegative = true},
	{.name = "v", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {4}, .nonnegative = true}};
#define COUNT (sizeof list / sizeof *list)
enum { D, I, NONE, METRIC, LARGE_ONE, TINY_ONE, MOMENTS_ONE, SMALL }; /* tensors */
static struct sl_tensor_begin begins[COUNT];
static struct sl_tensors mixed = {.items = list, .count = COUNT};
static const size_t begin[COUNT + 1] = {0, 7, 12, 12, F, F + LARGE, F + 2 * LARGE, N - 4, N};
static const int limbs_of[COUNT] = {5, 6, 6, 22, 1, 1, 3, 5};

static struct sl_field field;
static struct sl_ranges ranges;
static uint64_t memory[100];
static int16_t exponents[COUNT] = {-40, 0, 0, 0, 40, -40, 6, -1};
static struct model theta, base;
static uint64_t x[ALL];

static struct sl_encoding ranged(uint64_t weight)
{
	assert_int_equal(sl_field_init(&field, (UINT64_C(1) << 44) - 17), SL_OK);
	assert_true(sl_ranges_memory(&mixed) <= sizeof memory);
	sl_ranges_set(&ranges, &mixed, N, memory);
	sl_tensors_begin(&mixed, begins);
	assert_int_equal(sl_layout_extra(&ranges.layout, true, BITS), EXTRA);
	for (uint32_t k = 0; k < COUNT; k++)
		ranges.own[k] = (uint8_t)(2 * k + 1);
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

static bool is_exact(uint32_t k)
{
	return k == I || k == NONE || k == METRIC;
}

/* Return the value of element `l`. */
static long double value_of(const struct model *model, size_t l)
{
	return l < 7	 ? (long double)model->d[l]
	       : l < 12	 ? (long double)model->i[l - 7]
	       : l == 12 ? (long double)model->m
			 : (long double)model->f[l - F];
}

/* Return the update of element `l`: of floats, the difference as a double. */
static long double update_of(const struct model *model, size_t l)
{
	long double update = value_of(model, l) - value_of(&base, l);
	volatile double rounded = (double)update;
	return is_exact(tensor_of(l)) ? update : (long double)rounded;
}

/* Return the step of a tensor that is not exact, of its last limb: 2^that. */
static int step_of(uint32_t k)
{
	return exponents[k] - BITS * limbs_of[k];
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

/* Return limb `limb` of the exact value of an element: the bits of its magnitude from BITS * limbs below. */
static int64_t exact_limb(size_t l, int limb)
{
	uint32_t k = tensor_of(l);
	long double value = value_of(&theta, l);
	int below = BITS * (limbs_of[k] - 1 - limb) - (k == METRIC ? 128 : 0);
	int64_t digit = (int64_t)fmodl(floorl(ldexpl(fabsl(value), -below)), 1 << BITS);
	return value < 0 ? -digit : digit;
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
	if (is_exact(k))
		return exact_limb(l, limb);
	wide rest = steps_of(update_of(&theta, l), k), digit = 0;
	for (int j = 0; j <= limb; j++) {
		int below = BITS * (limbs_of[k] - 1 - j);
		digit = below == 0 ? rest : rounded_down(rest, below);
		rest -= digit * ((wide)1 << below);
	}
	return (int64_t)digit;
}

/* Set `base`, and let `theta` be an update of it that is within the ranges, and any exact values. */
static void draw(uint64_t *seed)
{
	for (size_t l = 0; l < N; l++) {
		uint32_t k = tensor_of(l);
		long double part = (long double)(int64_t)any64(seed) * 0x1p-63L;
		double u = (double)ldexpl(part, exponents[k] - (int)(any64(seed) % 16));
		if (k == D)
			theta.d[l] = base.d[l] + u;
		else if (k == I)
			theta.i[l - 7] = (int64_t)any64(seed) >> any64(seed) % 63;
		else if (k == METRIC)
			theta.m = (double)ldexpl(part, (int)(any64(seed) % 190) - 62);
		else
			theta.f[l - F] = base.f[l - F] + (float)(0.99 * u);
	}
}

static void draw_base(uint64_t *seed)
{
	memset(&base, 0, sizeof base);
	draw(seed);
	base = theta;
	for (size_t l = 0; l < MOMENTS; l++)
		base.f[V - MOMENTS + l] = fabsf(base.f[V - MOMENTS + l]);
	for (size_t l = 0; l < 4; l++)
		base.f[V + l] = 0.25f;
}

static void encode(const struct sl_encoding *e, struct sl_encode_note *note)
{
	assert_int_equal(sl_encoding_elements(e, N), ALL);
	assert_int_equal(sl_encoding_encode(&field, e, &mixed, &theta, &base, N, x, note), SL_OK);
}

/* Tensors of magnitudes from 2^-40 to 2^40 beside each other, and exact ones: each element as it must be. */
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
			int64_t want =
				expected(at) * (at < N + LOWER || at == ALL - 1 ? (int64_t)e.weight : 1);
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
		mixed.begins = s % 2 == 1 ? begins : NULL; /* found, or counted */
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
		mixed.begins = s == 1 ? begins : NULL;
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

/* Check element `l` of a mean of updates: `sum` steps, and the exact sum of the values times the weights. */
static void check_update(const struct model *mean, size_t l, wide sum, long double exact, uint64_t weight)
{
	uint32_t k = tensor_of(l);
	double step = ldexp(1, step_of(k));
	volatile double quotient = (double)sum / (double)weight, u = quotient * step;
	volatile double double_sum = (double)value_of(&base, l) + u;
	volatile float float_sum = (float)double_sum;
	if (k == D)
		assert_true(mean->d[l] == double_sum);
	else
		assert_true(mean->f[l - F] == (k < MOMENTS_ONE || float_sum > 0 ? float_sum : 0));
	if (k < MOMENTS_ONE)
		assert_true(fabsl(update_of(mean, l) - exact / (long double)weight) <=
			    step / 2 + ldexp(1, exponents[k] - 23));
}

/* The mean of five learners: that of their steps in one order of operations, and within half a step of the
 * exact mean; of exact tensors, the mean itself. */
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
		long double metric = 0, most = 0;
		for (int learner = 0; learner < 5; learner++) {
			draw(&seed);
			e.weight = 1 + any64(&seed) % 100;
			weight += e.weight;
			encode(&e, &note);
			for (size_t l = 0; l < ALL; l++)
				z[l] = sl_field_add(&field, z[l], x[l]);
			for (size_t l = 0; l < N; l++) {
				uint32_t k = tensor_of(l);
				if (k == I)
					sums[l] += (wide)e.weight * theta.i[l - 7];
				else if (k != METRIC)
					sums[l] += (wide)e.weight * steps_of(update_of(&theta, l), k);
				exact[l] += (long double)e.weight * update_of(&theta, l);
			}
			metric += (long double)e.weight * (long double)theta.m;
			most = fmaxl(most, fabsl((long double)theta.m));
		}
		decode(&e, z, &mean);
		for (size_t l = 0; l < N; l++)
			if (!is_exact(tensor_of(l)))
				check_update(&mean, l, sums[l], exact[l], weight);
		for (size_t l = 7; l < 12; l++)
			assert_int_equal(mean.i[l - 7], (int64_t)nearest(sums[l], weight));
		assert_true(fabsl((long double)mean.m - metric / (long double)weight) <= most * 0x1p-52L);
	}
}

/* Integers and metrics are exact, whatever the base and the range: nothing is cut, and halves go to even. */
TEST(exact_tensors)
{
	static uint64_t z[ALL];
	static struct model mean;
	struct sl_encoding e = ranged(1);
	struct sl_encode_note note;
	memset(&base, 0, sizeof base);
	memset(&theta, 0, sizeof theta);
	theta.i[0] = INT64_MAX;
	theta.i[1] = INT64_MIN;
	theta.i[2] = -1;
	base.i[3] = INT64_MAX;
	theta.i[3] = INT64_MIN + 1; /* a difference of 65 bits */
	base.i[4] = 7;
	theta.m = -1e30;
	base.m = 1e38;
	encode(&e, &note);
	assert_true(note.clamped == 0 && note.rounding == 0 && note.vanished == 0);
	decode(&e, x, &mean);
	assert_memory_equal(mean.i, theta.i, sizeof theta.i);
	assert_true(mean.m == -1e30);
	e.weight = 2; /* 1 of weight 2 and 0 of weight 2: a half, which goes to the even one */
	for (int k = 0; k < 5; k++)
		theta.i[k] = 2 * k - 3;
	encode(&e, &note);
	memcpy(z, x, sizeof z);
	z[ALL - 1] = 4;
	decode(&e, z, &mean);
	static const int64_t halves[] = {-2, 0, 0, 2, 2};
	assert_memory_equal(mean.i, halves, sizeof halves);
	theta.m = 0x1p-129; /* half a unit, and a little more */
	encode(&e, &note);
	assert_true(note.vanished == 1 && note.rounding == 0x1p-129);
	theta.m = 0x1.8p-129;
	encode(&e, &note);
	assert_true(note.vanished == 0 && note.rounding == 0x1p-130 && x[N + 28 + 25 + 20] == 2);
	theta.m = 0x1p128;
	assert_int_equal(sl_encoding_encode(&field, &e, &mixed, &theta, &base, N, x, &note), SL_ERR_RANGE);
	assert_true(note.index == 12 && note.value == 0x1p128);
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
	static const size_t places[] = {0, 6, 12, F, 500, F - 1 + LARGE, F + LARGE, N - 4, N - 1};
	static const float bad[] = {NAN, INFINITY, -INFINITY};
	struct sl_encoding e = ranged(1);
	struct sl_encode_note note;
	draw_base(&seed);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		for (size_t b = 0; b < 3; b++) {
			size_t l = places[i];
			draw(&seed);
			if (l >= F)
				theta.f[l - F] = bad[b];
			else
				*(l < 7 ? &theta.d[l] : &theta.m) = (double)bad[b];
			assert_int_equal(sl_encoding_encode(&field, &e, &mixed, &theta, &base, N, x, &note),
					 SL_ERR_INVALID);
			assert_int_equal(note.index, l);
			size_t lower = l < 7 ? N + l : l == 12 ? N + 61 : N + LOWER - 4 + (l - (N - 4));
			if (l < 7 || l == 12 || l >= N - 4) /* its lower limb alone */
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
	exponents[D] = SL_RANGE_LEAST;
	exponents[LARGE_ONE] = -140;
	exponents[TINY_ONE] = SL_RANGE_LEAST;
	exponents[SMALL] = -145;
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
	assert_true(x[0] == 0 && x[N] == 1 && x[N + 1] == 0 && x[N + 2] == 0 && x[2] == 0 && x[F + 1] == 0);
	assert_int_equal(sl_field_centred(&field, x[F]), -8);
	assert_int_equal(sl_field_centred(&field, x[N - 4]), 256);
	assert_int_equal(sl_field_centred(&field, x[N - 2]), -512);
	assert_int_equal(x[F + LARGE + 3], 4096);
	decode(&e, x, &mean);
	assert_true(mean.d[0] == theta.d[0] && mean.f[0] == -0x1p-149f && mean.f[V] == 0x1p-149f);
	assert_true(mean.f[V + 2] == 0 && !signbit(mean.f[V + 1]) && !signbit(mean.f[V + 2]));
	exponents[LARGE_ONE] = SL_RANGE_MOST;
	theta.f[0] = 3e38f;
	encode(&e, &note);
	assert_int_equal(x[F], 0);
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
		bool count = at >= N + LOWER && at < ALL - 1;
		size_t of = count ? at - N - LOWER : 0;
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
		memset(&rest, 0xff, sizeof rest);
		sl_encoding_rest_part(&e, &mixed, &theta, &base, N, 0, N, &rest);
		mixed.begins = begins;
		for (size_t at = 0; at < N; at += 7)
			sl_encoding_rest_part(&e, &mixed, &theta, &base, N, at, 7, &again);
		assert_memory_equal(&again, &rest, sizeof rest);
		for (size_t l = 0; l < N; l++) {
			uint32_t k = tensor_of(l);
			if (is_exact(k)) {
				assert_true(l == 12 ? rest.m == 0 : rest.i[l - 7] == 0);
				continue;
			}
			long double u = update_of(&theta, l);
			long double steps = (long double)steps_of(u, k), step = ldexpl(1, step_of(k));
			bool cut = rintl(u / step) != steps;
			long double left = cut ? 0 : u - steps * step;
			if (k == D)
				assert_true(fabsl(rest.d[l] - left) <= fabsl(u) * 0x1p-53L);
			else
				assert_true(rest.f[l - F] == (float)left);
		}
		again = theta;
		sl_encoding_rest_add(&mixed, &again, &rest, N);
		for (size_t l = 0; l < N; l++)
			if (l < 7)
				assert_true(again.d[l] == theta.d[l] + rest.d[l]);
			else if (l < 12)
				assert_int_equal(again.i[l - 7], theta.i[l - 7]);
			else if (l == 12)
				assert_true(again.m == theta.m);
			else
				assert_true(again.f[l - F] == theta.f[l - F] + rest.f[l - F]);
	}
	theta.f[0] = rest.f[0] = 3e38f; /* their sums are no numbers */
	theta.d[0] = rest.d[0] = -1e308;
	theta.i[0] = rest.i[0] = 5; /* no rest of an exact tensor */
	sl_encoding_rest_add(&mixed, &theta, &rest, N);
	assert_true(theta.f[0] == 3e38f && theta.d[0] == -1e308 && theta.i[0] == 5);
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

/* How each tensor is encoded. */
TEST(grids)
{
	struct sl_encoding e = ranged(1);
	static const int step[COUNT] = {-100, 0, 0, 0, 28, -52, -30, -61},
			 lower[COUNT] = {12, 0, 0, 0, 0, 0, 12, 12};
	for (uint32_t k = 0; k < COUNT; k++) {
		assert_int_equal(sl_encoding_is_exact(&e, k), is_exact(k));
		if (is_exact(k)) {
			struct sl_exact exact = sl_encoding_exact(&e, k);
			assert_true(exact.count == (uint32_t)limbs_of[k] && exact.limb_bits == BITS);
			assert_int_equal(exact.bottom, k == METRIC ? -128 : 0);
			continue;
		}
		struct sl_grid g = sl_encoding_grid(&e, k);
		assert_int_equal(g.step, step[k]);
		assert_true(g.edge == INT64_C(1) << (BITS + (limbs_of[k] - 1) * lower[k]) &&
			    (int)g.limbs.lower == lower[k]);
	}
	e.exponents = NULL;
	for (uint32_t k = 0; k < COUNT; k++)
		assert_true(sl_encoding_is_exact(&e, k));
	assert_int_equal(sl_encoding_elements(&e, N), N + 21 * (7 + 1 + 2 * LARGE + MOMENTS + 4) + 5 * 5 + 1);
}
