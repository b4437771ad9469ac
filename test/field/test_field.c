#include "test/field/elements.h"
#include "test/lib/test.h"

#include "common/field/field.h"

static bool prime_by_division(uint64_t n)
{
	if (n < 2)
		return false;
	for (uint64_t d = 2; d * d <= n; d++)
		if (n % d == 0)
			return false;
	return true;
}

TEST(primality)
{
	for (uint64_t n = 0; n < 20000; n++)
		assert_int_equal(sl_field_is_prime(n), prime_by_division(n));
	for (size_t i = 0; i < PRIMES; i++)
		assert_true(sl_field_is_prime(primes[i]));
	/* strong pseudoprimes to the first bases, a Carmichael number, squares, and the ends of the range */
	assert_false(sl_field_is_prime(UINT64_C(3215031751)));
	assert_false(sl_field_is_prime(UINT64_C(3825123056546413051)));
	assert_false(sl_field_is_prime(UINT64_C(341550071728321)));
	assert_false(sl_field_is_prime(1729));
	assert_false(sl_field_is_prime(UINT64_C(4294967291) * 4294967291));
	assert_true(sl_field_is_prime(UINT64_C(18446744073709551557)));
	assert_false(sl_field_is_prime(UINT64_MAX));
}

TEST(opening)
{
	struct sl_field f;
	assert_int_equal(sl_field_init(&f, 0), SL_ERR_RANGE);
	assert_int_equal(sl_field_init(&f, 2), SL_ERR_RANGE);
	assert_int_equal(sl_field_init(&f, UINT64_C(1) << 61), SL_ERR_RANGE);
	assert_int_equal(sl_field_init(&f, 1020433), SL_ERR_INVALID);
	assert_int_equal(sl_field_init(&f, SL_P_MERSENNE31), SL_OK);
	assert_true(f.bits == 31 && f.draw_bytes == 4);
	assert_int_equal(sl_field_init(&f, (UINT64_C(1) << 40) - 87), SL_OK);
	assert_true(f.bits == 40 && f.draw_bytes == 5);
	assert_int_equal(sl_field_init(&f, (UINT64_C(1) << 61) - 1), SL_OK);
	assert_true(f.bits == 61 && f.draw_bytes == 8);
	assert_int_equal(sl_field_init(&f, 3), SL_OK);
	assert_true(f.bits == 2 && f.draw_bytes == 1);
}

static void compare(const struct sl_field *f, uint64_t a, uint64_t b)
{
	unsigned __int128 p = f->p;
	assert_int_equal(sl_field_add(f, a, b), (uint64_t)(((unsigned __int128)a + b) % p));
	assert_int_equal(sl_field_sub(f, a, b), (uint64_t)((a + p - b) % p));
	assert_int_equal(sl_field_mul(f, a, b), (uint64_t)((unsigned __int128)a * b % p));
}

TEST(arithmetic)
{
	uint64_t seed = 1;
	for (size_t i = 0; i < PRIMES; i++) {
		struct sl_field f;
		assert_int_equal(sl_field_init(&f, primes[i]), SL_OK);
		uint64_t edges[] = {0, 1, 2, f.p / 2, (f.p - 1) / 2, f.p - 2, f.p - 1};
		for (size_t a = 0; a < 7; a++)
			for (size_t b = 0; b < 7; b++)
				compare(&f, edges[a] % f.p, edges[b] % f.p);
		for (int n = 0; n < 20000; n++)
			compare(&f, any64(&seed) % f.p, any64(&seed) % f.p);
	}
}

TEST(inverses)
{
	uint64_t seed = 2;
	for (size_t i = 0; i < PRIMES; i++) {
		struct sl_field f;
		assert_int_equal(sl_field_init(&f, primes[i]), SL_OK);
		for (int n = 0; n < 200; n++) {
			uint64_t a = 1 + any64(&seed) % (f.p - 1);
			assert_int_equal(sl_field_mul(&f, a, sl_field_inverse(&f, a)), 1);
		}
	}
}

TEST(signs)
{
	for (size_t i = 0; i < PRIMES; i++) {
		struct sl_field f;
		assert_int_equal(sl_field_init(&f, primes[i]), SL_OK);
		int64_t half = (int64_t)(f.p - 1) / 2;
		int64_t values[] = {0, 1, -1, half, -half};
		for (size_t v = 0; v < 5; v++)
			assert_int_equal(sl_field_centred(&f, sl_field_lift(&f, (uint64_t)values[v])),
					 values[v]);
		assert_int_equal(sl_field_centred(&f, (uint64_t)half + 1), -half);
		assert_int_equal(sl_field_centred(&f, f.p - 1), -1);
	}
}
