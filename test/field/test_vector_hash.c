/* The hash of a vector by strands (LINKS.md §6.14 What is hashed and signed): the numbers are those of
 * another implementation, hashlib.blake2b in Python. */
#include "test/lib/test.h"

#include <sodium.h>
#include <string.h>

#include "common/field/kernels.h"
#include "common/field/vector_hash.h"

#define MOST 5000u

static uint8_t vector[MOST];

static int set_up(void **state)
{
	(void)state;
	for (size_t k = 0; k < MOST; k++)
		vector[k] = (uint8_t)(k * 7 + k / 256);
	return sodium_init() < 0;
}

/* Hash the first `n` bytes, given in parts of 1, 3, 9, .. */
static void hash_of(size_t n, uint8_t *hash)
{
	struct sl_vector_hash v;
	uint8_t strands[SL_STRANDS_BYTES];
	sl_vector_hash_begin(&v);
	for (size_t at = 0, part = 1; at < n; at += part, part *= 3)
		sl_vector_hash_add(&v, vector + at, n - at < part ? n - at : part);
	sl_vector_hash_end(&v, strands);
	crypto_generichash(hash, SL_HASH_BYTES, strands, sizeof strands, NULL, 0);
}

/* The same, strand by strand. */
static void hash_plainly(size_t n, uint8_t *hash)
{
	uint8_t strands[SL_STRANDS_BYTES], strand[MOST / SL_STRANDS + 8];
	for (size_t k = 0; k < SL_STRANDS; k++) {
		size_t bytes = 0;
		for (size_t at = 8 * k; at < (n + 63) / 64 * 64; at += 64)
			for (size_t b = 0; b < 8; b++)
				strand[bytes++] = at + b < n ? vector[at + b] : 0;
		crypto_generichash(strands + k * SL_HASH_BYTES, SL_HASH_BYTES, strand, bytes, NULL, 0);
	}
	crypto_generichash(hash, SL_HASH_BYTES, strands, sizeof strands, NULL, 0);
}

TEST_WITH(known_hashes, set_up, NULL)
{
	static const struct {
		size_t n;
		const char *hash;
	} known[] = {
		{0, "172067bb80f2c182dccc8ca935048eeed4ad0af790c386a073cdbb864fed6199"},
		{65, "308486660fde393479ce7e482c205fa9fe21090273d2a6e1eac39095a1031d22"},
		{1025, "bdc5c24550c7250b556bd13a343a912f017ba076fd0d1c3aae72524feea583bd"},
		{5000, "b3f7481599ee91f551f6731dbca6185d0cacfdef6c9def4c6ef90285b506aadd"},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		uint8_t hash[SL_HASH_BYTES];
		char text[2 * SL_HASH_BYTES + 1];
		hash_of(known[i].n, hash);
		sodium_bin2hex(text, sizeof text, hash, sizeof hash);
		assert_string_equal(text, known[i].hash);
	}
}

/* Each set of kernels gives what plain BLAKE2b gives. */
TEST_WITH(every_length, set_up, NULL)
{
	static const char *const sets[] = {"portable", "avx2", "avx512"};
	uint8_t hash[SL_HASH_BYTES], plain[SL_HASH_BYTES];
	for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
		if (sl_kernels_choose(sets[s]) != SL_OK)
			continue;
		for (size_t n = 0; n <= MOST; n += n < 200 || n % SL_STRANDS_BLOCK < 70 ? 1 : 57) {
			hash_of(n, hash);
			hash_plainly(n, plain);
			assert_memory_equal(hash, plain, sizeof hash);
		}
	}
	sl_kernels_choose(NULL);
}
