/* Rejection sampling, with every possible word put in exactly once: then every element must come out equally
 * often. */
#include "test/math/unit.h"

#include <sodium.h>

#include "common/math/coins.h"

/* Words 0, 1, 2, .. of `width` bytes, each multiplied by an odd number to reach the high bits too. */
struct counter {
	uint64_t word, factor;
	size_t width;
};

static void count_up(void *context, uint8_t *bytes, size_t n)
{
	struct counter *c = context;
	for (size_t at = 0; at < n; at += c->width) {
		uint64_t word = c->word++ * c->factor;
		for (size_t b = 0; b < c->width; b++)
			bytes[at + b] = (uint8_t)(word >> (8 * b));
	}
}

/* 2^bits words that differ in their low bits give each element once; a modulus would give the small ones
 * twice. */
static void every_word_once(void **state)
{
	(void)state;
	static const uint64_t primes[] = {3, 5, 7, 101, 257, 1009, 65537};
	static uint32_t seen[65537];
	for (size_t i = 0; i < sizeof primes / sizeof *primes; i++) {
		struct sl_field field = field_of(primes[i]);
		struct counter counter = {0, 1, 4};
		struct sl_coins coins;
		uint64_t x;
		memset(seen, 0, sizeof seen);
		sl_coins_open_source(&coins, count_up, &counter);
		for (uint64_t drawn = 0; drawn < 8 * field.p; drawn++) {
			sl_coins_draw(&coins, &field, &x, 1);
			assert_true(x < field.p);
			seen[x]++;
		}
		for (uint64_t v = 0; v < field.p; v++)
			assert_int_equal(seen[v], 8);
	}
}

/* Wide fields, by their top bits: eight times over 2^17 evenly spread words, into 16 bins of [0, p). */
static void wide_words_even(void **state)
{
	(void)state;
	/* three quarters of a power of two: a modulus would hit the low third twice as often */
	static const uint64_t primes[] = {(UINT64_C(3) << 30) + 1, (UINT64_C(3) << 39) + 17,
					  (UINT64_C(3) << 59) + 17};
	for (size_t i = 0; i < 3; i++) {
		struct sl_field field = field_of(primes[i]);
		size_t words = 1 << 17, accepted = 8 * (words / 4 * 3), bins[16] = {0};
		struct counter counter = {0, UINT64_C(1) << (field.bits - 17), field.bits <= 32 ? 4 : 8};
		struct sl_coins coins;
		uint64_t x;
		sl_coins_open_source(&coins, count_up, &counter);
		for (size_t n = 0; n < accepted; n++) {
			sl_coins_draw(&coins, &field, &x, 1);
			assert_true(x < field.p);
			bins[(size_t)((unsigned __int128)x * 16 / field.p)]++;
		}
		for (size_t b = 0; b < 16; b++)
			assert_in_range(bins[b], accepted / 16 - 16, accepted / 16 + 16);
	}
}

static void chacha_stream(void **state)
{
	(void)state;
	uint8_t key[SL_KEY_BYTES], stream[16384] = {0}, nonce[8] = {0};
	for (size_t i = 0; i < sizeof key; i++)
		key[i] = (uint8_t)(i * 7 + 1);
	crypto_stream_chacha20(stream, sizeof stream, nonce, key);
	struct sl_field narrow = field_of(SL_P_MERSENNE31), broad = field_of((UINT64_C(1) << 61) - 1);
	struct sl_coins coins;
	uint64_t x;
	sl_coins_open(&coins, key);
	for (size_t at = 0; at < sizeof stream; at += 4) {
		uint32_t word;
		memcpy(&word, stream + at, 4);
		if ((word & 0x7fffffff) == SL_P_MERSENNE31)
			continue;
		sl_coins_draw(&coins, &narrow, &x, 1);
		assert_int_equal(x, word & 0x7fffffff);
	}
	sl_coins_open(&coins, key);
	for (size_t at = 0; at < sizeof stream; at += 8) {
		uint64_t word;
		memcpy(&word, stream + at, 8);
		sl_coins_draw(&coins, &broad, &x, 1);
		assert_int_equal(x, word & broad.p);
	}
}

/* A draw of a + b equals a draw of a, then of b. */
static void split_draws(void **state)
{
	(void)state;
	static const uint64_t primes[] = {5, 1020431, SL_P_MERSENNE31, (UINT64_C(1) << 44) - 17};
	static uint64_t whole[5000], parts[5000];
	uint8_t key[SL_KEY_BYTES] = {3};
	for (size_t i = 0; i < 4; i++) {
		struct sl_field field = field_of(primes[i]);
		struct sl_coins coins;
		sl_coins_open(&coins, key);
		sl_coins_draw(&coins, &field, whole, 5000);
		sl_coins_open(&coins, key);
		for (size_t at = 0, n = 1; at < 5000; at += n, n = n * 3 % 701 + 1) {
			n = n < 5000 - at ? n : 5000 - at;
			sl_coins_draw(&coins, &field, parts + at, n);
		}
		assert_memory_equal(whole, parts, sizeof whole);
	}
}

static void closing_wipes(void **state)
{
	(void)state;
	uint8_t key[SL_KEY_BYTES], zeros[4096] = {0};
	memset(key, 0xa5, sizeof key);
	struct sl_field field = field_of(5);
	struct sl_coins coins;
	uint64_t x;
	sl_coins_open(&coins, key);
	sl_coins_draw(&coins, &field, &x, 1);
	assert_memory_not_equal(coins.buffer, zeros, sizeof coins.buffer);
	sl_coins_close(&coins);
	assert_memory_equal(coins.key, zeros, sizeof coins.key);
	assert_memory_equal(coins.buffer, zeros, sizeof coins.buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_word_once), cmocka_unit_test(wide_words_even),
		cmocka_unit_test(chacha_stream),   cmocka_unit_test(split_draws),
		cmocka_unit_test(closing_wipes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
