#include "common/base/bytes.h"

#define INLINE static inline __attribute__((always_inline))
#define EIGHT 8u
/* The integers at the end go through a copy, which has room for what the loops touch behind each eight. */
#define REST 64u	/* integers, at most: with one bit */
#define REST_BYTES 128u /* two eights of 56 bits, and the bytes behind them */

/* Eight integers are packed at a time: they end at a byte. Each width has loops of its own, with constant
 * shifts: 0.2 to 0.3 ns per integer, where one loop for all widths takes 1 ns. */

/* Up to seven bytes behind each eight are overwritten. */
INLINE void pack_eights(uint8_t *restrict out, const uint64_t *restrict in, size_t eights, uint32_t bits)
{
	for (; eights > 0; eights--, in += EIGHT, out += bits) {
		uint64_t word = 0;
		uint8_t *to = out;
		for (uint32_t i = 0; i < EIGHT; i++) {
			uint32_t at = i * bits % 64;
			word |= in[i] << at;
			if (at + bits < 64)
				continue;
			word = htole64(word);
			memcpy(to, &word, sizeof word);
			to += sizeof word;
			word = in[i] >> 1 >> (63 - at); /* the bits that did not fit, maybe none */
		}
		word = htole64(word);
		if (bits % 8 != 0)
			memcpy(to, &word, sizeof word);
	}
}

/* Up to eight bytes behind each eight are read. */
INLINE void unpack_eights(uint64_t *restrict out, const uint8_t *restrict in, size_t eights, uint32_t bits)
{
	for (; eights > 0; eights--, in += bits, out += EIGHT)
		for (uint32_t i = 0; i < EIGHT; i++) {
			uint32_t at = i * bits % 8;
			uint64_t word;
			memcpy(&word, in + i * bits / 8, sizeof word);
			word = le64toh(word) >> at;
			if (at + bits > 64)
				word |= (uint64_t)in[i * bits / 8 + 8] << (64 - at);
			out[i] = word & UINT64_MAX >> (64 - bits);
		}
}

#define WIDTH(loops, width)                                                                                  \
	case width:                                                                                          \
		loops(out, in, eights, width);                                                               \
		break;
#define EIGHT_WIDTHS(loops, width)                                                                           \
	WIDTH(loops, width)                                                                                  \
	WIDTH(loops, width + 1)                                                                              \
	WIDTH(loops, width + 2)                                                                              \
	WIDTH(loops, width + 3)                                                                              \
	WIDTH(loops, width + 4)                                                                              \
	WIDTH(loops, width + 5)                                                                              \
	WIDTH(loops, width + 6)                                                                              \
	WIDTH(loops, width + 7)
#define EACH_WIDTH(loops)                                                                                    \
	EIGHT_WIDTHS(loops, 1)                                                                               \
	EIGHT_WIDTHS(loops, 9)                                                                               \
	EIGHT_WIDTHS(loops, 17)                                                                              \
	EIGHT_WIDTHS(loops, 25)                                                                              \
	EIGHT_WIDTHS(loops, 33)                                                                              \
	EIGHT_WIDTHS(loops, 41)                                                                              \
	EIGHT_WIDTHS(loops, 49)                                                                              \
	EIGHT_WIDTHS(loops, 57)

static void pack(uint8_t *out, const uint64_t *in, size_t eights, uint32_t bits)
{
	switch (bits) {
		EACH_WIDTH(pack_eights)
	default:
		assert(false);
	}
}

static void unpack(uint64_t *out, const uint8_t *in, size_t eights, uint32_t bits)
{
	switch (bits) {
		EACH_WIDTH(unpack_eights)
	default:
		assert(false);
	}
}

/* Return how many eights, of `bits` bytes, have `behind` more bytes behind them. */
static size_t eights_before(size_t bytes, size_t behind, uint32_t bits)
{
	assert(bits >= 1 && bits <= 64);
	return bytes < behind ? 0 : (bytes - behind) / bits;
}

void sl_bytes_pack(uint8_t *out, const uint64_t *in, size_t count, uint32_t bits)
{
	size_t bytes = sl_packed_bytes(count, bits), eights = eights_before(bytes, 7, bits),
	       rest = count - eights * EIGHT;
	uint64_t last[REST] = {0};
	uint8_t packed[REST_BYTES];
	pack(out, in, eights, bits);
	if (rest == 0)
		return;
	memcpy(last, in + eights * EIGHT, rest * sizeof *last);
	pack(packed, last, (rest + EIGHT - 1) / EIGHT, bits);
	memcpy(out + eights * bits, packed, bytes - eights * bits);
	explicit_bzero(last, sizeof last); /* a share may be packed */
	explicit_bzero(packed, sizeof packed);
}

void sl_bytes_unpack(uint64_t *out, const uint8_t *in, size_t count, uint32_t bits)
{
	size_t bytes = sl_packed_bytes(count, bits), eights = eights_before(bytes, 8, bits),
	       rest = count - eights * EIGHT;
	uint8_t packed[REST_BYTES] = {0};
	uint64_t last[REST];
	unpack(out, in, eights, bits);
	if (rest == 0)
		return;
	memcpy(packed, in + eights * bits, bytes - eights * bits);
	unpack(last, packed, (rest + EIGHT - 1) / EIGHT, bits);
	memcpy(out + eights * EIGHT, last, rest * sizeof *last);
	explicit_bzero(last, sizeof last);
	explicit_bzero(packed, sizeof packed);
}

uint64_t sl_bytes_element(const uint8_t *packed, size_t i, uint32_t bits)
{
	size_t at = i * bits, bytes = (at % 8 + bits + 7) / 8; /* none is read that the integer is not in */
	uint64_t value = 0;
	packed += at / 8;
	for (size_t b = 0; b < bytes && b < 8; b++)
		value |= (uint64_t)packed[b] << (8 * b);
	value >>= at % 8;
	if (bytes > 8)
		value |= (uint64_t)packed[8] << (64 - at % 8);
	return value & UINT64_MAX >> (64 - bits);
}

bool sl_bytes_filled(const uint8_t *packed, size_t count, uint32_t bits)
{
	uint32_t used = (uint32_t)(count % 8 * bits % 8); /* bits of the last byte */
	return used == 0 || packed[sl_packed_bytes(count, bits) - 1] >> used == 0;
}
