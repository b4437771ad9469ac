/* Rejection sampling, with every possible word put in exactly once: then every element must come out equally
 * often. */
#include "test/field/elements.h"
#include "test/lib/test.h"

#include <endian.h>
#include <sodium.h>

#include "common/field/prg.h"

/* Words 0, 1, 2, .. of `width` bytes. */
struct counter {
	uint64_t byte;
	size_t width;
};

static void count_up(void *context, uint8_t *bytes, size_t n)
{
	struct counter *c = context;
	for (size_t at = 0; at < n; at++, c->byte++)
		bytes[at] = (uint8_t)(c->byte / c->width >> (8 * (c->byte % c->width)));
}

/* 2^bits words that differ in their low bits give each element once; a modulus would give the small ones
 * twice. */
TEST(every_word_once)
{
	static uint32_t seen[65537];
	for (size_t i = 0; primes[i] <= 65537; i++) {
		struct sl_field field = field_of(primes[i]);
		struct counter counter = {0, field.draw_bytes};
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

static void key_of(uint8_t key[static SL_KEY_BYTES])
{
	for (size_t i = 0; i < SL_KEY_BYTES; i++)
		key[i] = (uint8_t)i;
}

/* The layout of prg.h, byte for byte, over many fillings of the buffer. */
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
		for (size_t at = 0; at + field.draw_bytes <= sizeof stream; at += field.draw_bytes) {
			uint64_t word = 0;
			memcpy(&word, stream + at, field.draw_bytes);
			word = le64toh(word) & (UINT64_MAX >> (64 - field.bits));
			if (word >= field.p)
				continue;
			sl_prg_fill(&randomness, &field, &x, 1);
			assert_int_equal(x, word);
		}
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

/* Another stream for each nonce, which stands in the last eight bytes of ChaCha20's input. */
TEST(stream_of_a_nonce)
{
	static uint8_t stream[9000];
	static const uint64_t nonces[] = {0, 1, 300, UINT64_C(7) << 40, UINT64_MAX};
	uint8_t key[SL_KEY_BYTES], nonce[8];
	uint64_t x, want;
	key_of(key);
	for (size_t k = 0; k < sizeof nonces / sizeof *nonces; k++) {
		struct sl_field field = field_of((UINT64_C(1) << 61) - 1);
		struct sl_prg randomness;
		for (size_t b = 0; b < sizeof nonce; b++)
			nonce[b] = (uint8_t)(nonces[k] >> (8 * b));
		crypto_stream_chacha20(stream, sizeof stream, nonce, key);
		sl_prg_open_at(&randomness, key, nonces[k]);
		for (size_t at = 0; at < sizeof stream; at += 8) {
			memcpy(&want, stream + at, sizeof want);
			want = le64toh(want) & (UINT64_MAX >> 3);
			assert_true(want < field.p);
			sl_prg_fill(&randomness, &field, &x, 1);
			assert_int_equal(x, want);
		}
	}
}

/* sl_prg_add adds or subtracts the elements that sl_prg_fill would write, from any position of the stream. */
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

/* Whether the buffer was filled in part, or again and again. */
TEST(closing_wipes)
{
	static uint64_t out[5000];
	static const size_t counts[] = {1, 100, 5000};
	uint8_t key[SL_KEY_BYTES], zeros[sizeof(struct sl_prg)] = {0};
	memset(key, 0xa5, sizeof key);
	struct sl_field field = field_of(1000003);
	for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
		struct sl_prg randomness = {.next = 0};
		sl_prg_open(&randomness, key);
		sl_prg_fill(&randomness, &field, out, counts[k]);
		assert_memory_not_equal(randomness.buffer, zeros, sizeof randomness.buffer);
		sl_prg_close(&randomness);
		assert_memory_equal(randomness.key, zeros, sizeof randomness.key);
		assert_memory_equal(randomness.buffer, zeros, sizeof randomness.buffer);
	}
}
