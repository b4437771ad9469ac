/* bytes.h - fixed little-endian layouts and bit sets; no allocation. */
#pragma once

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "common/base/types.h"

/* A bounded buffer that is written in order. Bytes that do not fit are counted in `used` but not written. */
struct sl_writer {
	uint8_t *bytes;
	size_t size;
	size_t used;
};

static inline void sl_bytes_put(struct sl_writer *w, const void *bytes, size_t n)
{
	if (w->used + n <= w->size)
		memcpy(w->bytes + w->used, bytes, n);
	w->used += n;
}

static inline void sl_bytes_put_u64(struct sl_writer *w, uint64_t v)
{
	v = htole64(v);
	sl_bytes_put(w, &v, sizeof v);
}

static inline void sl_bytes_put_u32(struct sl_writer *w, uint32_t v)
{
	v = htole32(v);
	sl_bytes_put(w, &v, sizeof v);
}

static inline uint64_t sl_bytes_get_u64(const uint8_t *bytes)
{
	uint64_t v;
	memcpy(&v, bytes, sizeof v);
	return le64toh(v);
}

static inline uint32_t sl_bytes_get_u32(const uint8_t *bytes)
{
	uint32_t v;
	memcpy(&v, bytes, sizeof v);
	return le32toh(v);
}

/* Integers of `bits` bits are packed without gaps, the lowest bit first: integer i has the bits i bits ..
 * i bits + bits - 1, where bit k is bit k % 8 of byte k / 8. The last byte is filled with zero bits.
 *
 *     bits = 5 | 0 0 0 0 0 1 1 1 | 1 1 2 2 2 2 2 3 | 3 3 3 3 - - - - |      the integer of each bit, of 4
 */
static inline size_t sl_packed_bytes(size_t count, uint32_t bits)
{
	return (count * bits + 7) / 8;
}
/* Pack `count` integers below 2^bits (1 <= bits <= 64), and unpack them. */
void sl_bytes_pack(uint8_t *out, const uint64_t *in, size_t count, uint32_t bits);
void sl_bytes_unpack(uint64_t *out, const uint8_t *in, size_t count, uint32_t bits);
/* Return packed integer `i`: slow. */
uint64_t sl_bytes_element(const uint8_t *packed, size_t i, uint32_t bits);
/* Return true if the bits that fill the last byte are zero. */
bool sl_bytes_filled(const uint8_t *packed, size_t count, uint32_t bits);

/* Bit sets over 0..n-1, as arrays of words. */
static inline size_t sl_bit_words(size_t n)
{
	return (n + 63) / 64;
}
static inline bool sl_bit(const uint64_t *set, size_t i)
{
	return (set[i / 64] >> (i % 64)) & 1;
}
static inline void sl_bit_set(uint64_t *set, size_t i)
{
	set[i / 64] |= UINT64_C(1) << (i % 64);
}
static inline void sl_bit_clear(uint64_t *set, size_t i)
{
	set[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

static inline uint32_t sl_bit_count(const uint64_t *set, size_t words)
{
	uint32_t count = 0;
	for (size_t w = 0; w < words; w++)
		count += (uint32_t)__builtin_popcountll(set[w]);
	return count;
}
