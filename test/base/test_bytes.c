/* Packed integers, bit by bit: nothing but their own bytes is touched, whatever the bits and the length. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "test/explorer/packed.h"
#include "test/lib/test.h"

#define COUNT 70u

static void expect_packed(const uint64_t *v, size_t n, uint32_t bits)
{
	uint64_t back[COUNT];
	size_t bytes = (n * bits + 7) / 8;
	uint8_t *packed = malloc(bytes + 2); /* of that size, so that reading on is seen */
	memset(packed, 0x5a, bytes + 2);
	assert_int_equal(sl_packed_bytes(n, bits), bytes);
	sl_bytes_pack(packed + 1, v, n, bits);
	assert_true(packed[0] == 0x5a && packed[1 + bytes] == 0x5a);
	for (size_t b = 0; b < 8 * bytes; b++) {
		unsigned want = b < n * bits ? (unsigned)(v[b / bits] >> b % bits & 1) : 0;
		assert_int_equal(packed[1 + b / 8] >> b % 8 & 1, want);
	}
	uint8_t *exact = malloc(bytes);
	if (bytes > 0)
		memcpy(exact, packed + 1, bytes);
	sl_bytes_unpack(back, exact, n, bits);
	assert_memory_equal(back, v, n * sizeof *v);
	for (size_t i = 0; i < n; i++)
		assert_true(sl_bytes_element(exact, i, bits) == v[i]);
	free(exact);
	free(packed);
}

TEST(packing)
{
	uint64_t v[COUNT];
	for (uint32_t bits = 1; bits <= 64; bits++)
		for (size_t n = 0; n <= COUNT; n++) {
			for (size_t i = 0; i < n; i++)
				v[i] = (UINT64_C(0x9e3779b97f4a7c15) * (i + bits + 1)) >> (64 - bits);
			expect_packed(v, n, bits);
		}
}

/* Only the bits behind the last integer count. */
TEST(filling)
{
	uint64_t v[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
	uint8_t packed[24];
	for (uint32_t bits = 1; bits <= 64; bits++)
		for (size_t n = 0; n <= 3; n++) {
			uint64_t ones[3];
			for (size_t i = 0; i < n; i++)
				ones[i] = v[i] >> (64 - bits);
			sl_bytes_pack(packed, ones, n, bits);
			assert_true(sl_bytes_filled(packed, n, bits));
			for (size_t b = n * bits; b < 8 * sl_packed_bytes(n, bits); b++) {
				packed[b / 8] ^= (uint8_t)(1u << b % 8);
				assert_false(sl_bytes_filled(packed, n, bits));
				packed[b / 8] ^= (uint8_t)(1u << b % 8);
			}
		}
}

TEST(replacing)
{
	uint64_t v[9] = {0}, back[9];
	uint8_t packed[72];
	for (uint32_t bits = 1; bits <= 64; bits++)
		for (size_t i = 0; i < 9; i++) {
			uint64_t old = v[i] = UINT64_MAX >> (64 - bits);
			sl_bytes_pack(packed, v, 9, bits);
			packed_replace(packed, i, bits, old / 3);
			v[i] = old / 3;
			sl_bytes_unpack(back, packed, 9, bits);
			assert_memory_equal(back, v, sizeof v);
			v[i] = 0;
		}
}
