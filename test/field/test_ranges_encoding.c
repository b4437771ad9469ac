/* Encoding by ranges (ROUND.md §4.3 Limbs and ranges): each element, in whole and in parts, and what is cut
 * or refused. */
#include "test/field/ranged_model.h"
#include "test/lib/test.h"

#include <math.h>
#include <string.h>

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
