/* bytes.h - fixed little-endian layouts and bit sets; no allocation. */
#pragma once

#include <assert.h>
#include <string.h>

#include "common/base/types.h"

/* Writes into a bounded buffer; what does not fit is counted in `used` but not written. */
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
	uint8_t b[8];
	for (int i = 0; i < 8; i++)
		b[i] = (uint8_t)(v >> (8 * i));
	sl_bytes_put(w, b, sizeof b);
}

static inline void sl_bytes_put_u32(struct sl_writer *w, uint32_t v)
{
	uint8_t b[4];
	for (int i = 0; i < 4; i++)
		b[i] = (uint8_t)(v >> (8 * i));
	sl_bytes_put(w, b, sizeof b);
}

/* Packs `count` integers at `width` bytes each, little-endian (1 <= width <= 8); and back. */
void sl_bytes_pack(uint8_t *out, const uint64_t *in, size_t count, uint32_t width);
void sl_bytes_unpack(uint64_t *out, const uint8_t *in, size_t count, uint32_t width);

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
