/* Rejection sampling, with every possible word put in exactly once: then every element must come out equally
 * often. */
#include "test/graph/unit.h"
#include "test/lib/test.h"

#include <endian.h>
#include <sodium.h>

#include "common/field/prg.h"

/* Words 0, 1, 2, .. of `width` bytes, each multiplied by an odd number to reach the high bits too. */
struct counter {
	uint64_t byte, factor;
	size_t width;
};

static void count_up(void *context, uint8_t *bytes, size_t n)
{
	struct counter *c = context;
	for (size_t at = 0; at < n; at++, c->byte++)
		bytes[at] = (uint8_t)((c->byte / c->width * c->factor) >> (8 * (c->byte % c->width)));
}

/* 2^bits words that differ in their low bits give each element once; a modulus would give the small ones
 * twice. */
TEST(every_word_once)
{
	static const uint64_t primes[] = {3, 5, 7, 101, 257, 1009, 65537};
	static uint32_t seen[65537];
	for (size_t i = 0; i < sizeof primes / sizeof *primes; i++) {
		struct sl_field field = field_of(primes[i]);
		struct counter counter = {0, 1, field.bytes};
		struct sl_prg randomness;
		uint64_t x;
		memset(seen, 0, sizeof seen);
		sl_prg_open_source(&randomness, count_up, &counter);
		for (uint64_t drawn = 0; drawn < 8 * field.p; drawn++) {
			sl_prg_fill(&randomness, &field, &x, 1);
			assert_true(x < field.p);
			seen[x]++;
		}
		for (uint64_t v = 0; v < field.p; v++)
			assert_int_equal(seen[v], 8);
	}
}

/* Wide fields, by their top bits: eight times over 2^17 evenly spread words, into 16 bins of [0, p). */
TEST(wide_words_even)
{
	/* three quarters of a power of two: a modulus would hit the low third twice as often */
	static const uint64_t primes[] = {(UINT64_C(3) << 30) + 1, (UINT64_C(3) << 39) + 17,
					  (UINT64_C(3) << 59) + 17};
	for (size_t i = 0; i < 3; i++) {
		struct sl_field field = field_of(primes[i]);
		size_t words = 1 << 17, accepted = 8 * (words / 4 * 3), bins[16] = {0};
		struct counter counter = {0, UINT64_C(1) << (field.bits - 17), field.bytes};
		struct sl_prg randomness;
		uint64_t x;
		sl_prg_open_source(&randomness, count_up, &counter);
		for (size_t n = 0; n < accepted; n++) {
			sl_prg_fill(&randomness, &field, &x, 1);
			assert_true(x < field.p);
			bins[(size_t)((unsigned __int128)x * 16 / field.p)]++;
		}
		for (size_t b = 0; b < 16; b++)
			assert_in_range(bins[b], accepted / 16 - 16, accepted / 16 + 16);
	}
}

static const uint64_t primes[] = {3,
				  5,
				  257,
				  1020431,
				  SL_P_MERSENNE31,
				  (UINT64_C(1) << 36) - 5,
				  (UINT64_C(1) << 40) - 87,
				  (UINT64_C(1) << 44) - 17,
				  (UINT64_C(3) << 46) + 55,
				  (UINT64_C(1) << 61) - 1};
#define PRIMES (sizeof primes / sizeof *primes)

static void key_of(uint8_t key[static SL_KEY_BYTES])
{
	for (size_t i = 0; i < SL_KEY_BYTES; i++)
		key[i] = (uint8_t)i;
}

/* The layout of coins.h, byte for byte, over many fillings of the buffer. */
TEST(chacha_stream)
{
	static uint8_t stream[40000];
	uint8_t key[SL_KEY_BYTES], nonce[8] = {0};
	key_of(key);
	crypto_stream_chacha20(stream, sizeof stream, nonce, key);
	for (size_t i = 0; i < PRIMES; i++) {
		struct sl_field field = field_of(primes[i]);
		struct sl_prg randomness;
		uint64_t x;
		sl_prg_open(&randomness, key);
		for (size_t at = 0; at + field.bytes <= sizeof stream; at += field.bytes) {
			uint64_t word = 0;
			memcpy(&word, stream + at, field.bytes);
			word = le64toh(word) & (UINT64_MAX >> (64 - field.bits));
			if (word >= field.p)
				continue;
			sl_prg_fill(&randomness, &field, &x, 1);
			assert_int_equal(x, word);
		}
	}
}

/* Elements 0, 1, 2, 11, 1000 and 3000 of the stream of the key 00 01 .. 1f, from a program that shares
 * nothing with this one: `seeded` learners of any version must agree on them. */
static const struct {
	uint64_t p, element[6];
} pinned[] = {
	{7, {1, 5, 3, 0, 5, 3}},
	{257, {25, 184, 188, 127, 88, 124}},
	{1020431, {785721, 383357, 879129, 511011, 61154, 960128}},
	{SL_P_MERSENNE31, {2100034873, 1780073945, 1996733837, 1686095930, 987577194, 1654309584}},
	{(UINT64_C(1) << 36) - 5,
	 {UINT64_C(40754740537), UINT64_C(58207115717), UINT64_C(46652749571), 1646772781,
	  UINT64_C(9773358743), UINT64_C(19872729065)}},
	{(UINT64_C(1) << 40) - 87,
	 {UINT64_C(934107938105), UINT64_C(814121359813), UINT64_C(321530656515), UINT64_C(688841540141),
	  UINT64_C(147212312215), UINT64_C(226031159273)}},
	{(UINT64_C(1) << 44) - 17,
	 {UINT64_C(6431666076985), UINT64_C(7712646457881), UINT64_C(6091493268664), UINT64_C(1816346308930),
	  UINT64_C(7235273237127), UINT64_C(16210859237155)}},
	{(UINT64_C(1) << 61) - 1,
	 {UINT64_C(727830352695655737), UINT64_C(669590179446766989), UINT64_C(894772376898123146),
	  UINT64_C(2050603660160596204), UINT64_C(35426770057100058), UINT64_C(1452966496846821294)}},
};

TEST(pinned_stream)
{
	static uint64_t x[3001];
	static const size_t at[] = {0, 1, 2, 11, 1000, 3000};
	uint8_t key[SL_KEY_BYTES];
	key_of(key);
	for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
		struct sl_field field = field_of(pinned[i].p);
		struct sl_prg randomness;
		sl_prg_open(&randomness, key);
		sl_prg_fill(&randomness, &field, x, 3001);
		for (size_t e = 0; e < 6; e++)
			assert_int_equal(x[at[e]], pinned[i].element[e]);
	}
}

/* A draw of a + b equals a draw of a, then of b. */
TEST(split_draws)
{
	static uint64_t whole[5000], parts[5000];
	uint8_t key[SL_KEY_BYTES] = {3};
	for (size_t i = 0; i < PRIMES; i++) {
		struct sl_field field = field_of(primes[i]);
		struct sl_prg randomness;
		sl_prg_open(&randomness, key);
		sl_prg_fill(&randomness, &field, whole, 5000);
		sl_prg_open(&randomness, key);
		for (size_t at = 0, n = 1; at < 5000; at += n, n = n * 3 % 701 + 1) {
			n = n < 5000 - at ? n : 5000 - at;
			sl_prg_fill(&randomness, &field, parts + at, n);
		}
		assert_memory_equal(whole, parts, sizeof whole);
	}
}

/* What is added and subtracted are the elements that a draw gives, from wherever the stream stands. */
TEST(added_draws)
{
	static uint64_t drawn[3000], s[3000], was[3000];
	uint8_t key[SL_KEY_BYTES] = {4};
	uint64_t seed = 8;
	for (size_t i = 0; i < PRIMES; i++) {
		struct sl_field field = field_of(primes[i]);
		struct sl_prg randomness;
		sl_prg_open(&randomness, key);
		sl_prg_fill(&randomness, &field, drawn, 3000);
		for (size_t l = 0; l < 3000; l++)
			was[l] = s[l] = l % 3 == 0 ? field.p - 1 : any64(&seed) % field.p;
		sl_prg_open(&randomness, key);
		sl_prg_add(&randomness, &field, s, 1001);
		sl_prg_subtract(&randomness, &field, s + 1001, 999);
		sl_prg_add(&randomness, &field, s + 2000, 1000);
		for (size_t l = 0; l < 3000; l++)
			assert_int_equal(s[l], l < 1001 || l >= 2000
						       ? sl_field_add(&field, was[l], drawn[l])
						       : sl_field_sub(&field, was[l], drawn[l]));
	}
}

TEST(closing_wipes)
{
	uint8_t key[SL_KEY_BYTES], zeros[sizeof(struct sl_prg)] = {0};
	memset(key, 0xa5, sizeof key);
	struct sl_field field = field_of(5);
	struct sl_prg randomness;
	uint64_t x;
	sl_prg_open(&randomness, key);
	sl_prg_fill(&randomness, &field, &x, 1);
	assert_memory_not_equal(randomness.buffer, zeros, sizeof randomness.buffer);
	sl_prg_close(&randomness);
	assert_memory_equal(randomness.key, zeros, sizeof randomness.key);
	assert_memory_equal(randomness.buffer, zeros, sizeof randomness.buffer);
}
