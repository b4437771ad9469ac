#include "common/field/field.h"

#include <assert.h>

static uint64_t mul_mod(uint64_t a, uint64_t b, uint64_t n)
{
	if (n <= UINT32_MAX)
		return a * b % n; /* ten times as fast */
	return (uint64_t)((unsigned __int128)a * b % n);
}

static uint64_t power_mod(uint64_t base, uint64_t exponent, uint64_t n)
{
	uint64_t result = 1 % n;
	for (base %= n; exponent != 0; exponent >>= 1) {
		if (exponent & 1)
			result = mul_mod(result, base, n);
		base = mul_mod(base, base, n);
	}
	return result;
}

/* Return true if odd n > base passes one round of Miller-Rabin. */
static bool probable(uint64_t n, uint64_t base)
{
	int twos = __builtin_ctzll(n - 1);
	uint64_t x = power_mod(base, (n - 1) >> twos, n);
	if (x == 1 || x == n - 1)
		return true;
	for (int i = 1; i < twos; i++) {
		x = mul_mod(x, x, n);
		if (x == n - 1)
			return true;
	}
	return false;
}

bool sl_field_is_prime(uint64_t n)
{
	/* The first twelve primes as bases decide every n below 3.3e24 (Sorenson and Webster). */
	static const uint64_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
	if (n < 2)
		return false;
	for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
		if (n % bases[i] == 0)
			return n == bases[i];
	for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
		if (!probable(n, bases[i]))
			return false;
	return true;
}

uint64_t sl_field_prime_from(uint64_t n)
{
	for (; n < UINT64_C(1) << 61; n++)
		if (sl_field_is_prime(n))
			return n;
	return 0;
}

int sl_field_init(struct sl_field *field, uint64_t p)
{
	if (p <= 2 || p >= UINT64_C(1) << 61)
		return SL_ERR_RANGE;
	if (!sl_field_is_prime(p))
		return SL_ERR_INVALID;
	uint32_t bits = sl_field_bits(p);
	*field = (struct sl_field){
		.p = p, .bits = bits, .draw_bytes = (bits + 7) / 8, .reciprocal = UINT64_MAX / p};
	return SL_OK;
}

uint64_t sl_field_inverse(const struct sl_field *field, uint64_t a)
{
	assert(a != 0 && a < field->p);
	uint64_t result = 1;
	for (uint64_t exponent = field->p - 2; exponent != 0; exponent >>= 1) { /* Fermat: a^(p-2) */
		if (exponent & 1)
			result = sl_field_mul(field, result, a);
		a = sl_field_mul(field, a, a);
	}
	return result;
}
