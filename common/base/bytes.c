#include "common/base/bytes.h"

#define INLINE static inline __attribute__((always_inline))
#define EIGHT 8u
#define REST 64u	/* integers at the end for which loops have no room, at most: with one bit */
#define REST_BYTES 128u /* of them: two eights with 56 bits, and the bytes behind */

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

#define EIGHT_WIDTHS(X, bits)                                                                                \
	X(bits) X(bits + 1) X(bits + 2) X(bits + 3) X(bits + 4) X(bits + 5) X(bits + 6) X(bits + 7)
#define EACH_WIDTH(X)                                                                                        \
	EIGHT_WIDTHS(X, 1)                                                                                   \
	EIGHT_WIDTHS(X, 9)                                                                                   \
	EIGHT_WIDTHS(X, 17)                                                                                  \
	EIGHT_WIDTHS(X, 25)                                                                                  \
	EIGHT_WIDTHS(X, 33)                                                                                  \
	EIGHT_WIDTHS(X, 41)                                                                                  \
	EIGHT_WIDTHS(X, 49)                                                                                  \
	EIGHT_WIDTHS(X, 57)

static void pack(uint8_t *out, const uint64_t *in, size_t eights, uint32_t bits)
{
	switch (bits) {
#define PACK(width)                                                                                          \
	case width:                                                                                          \
		pack_eights(out, in, eights, width);                                                         \
		break;
		EACH_WIDTH(PACK)
#undef PACK
	default:
		assert(false);
	}
}

static void unpack(uint64_t *out, const uint8_t *in, size_t eights, uint32_t bits)
{
	switch (bits) {
#define UNPACK(width)                                                                                        \
	case width:                                                                                          \
		unpack_eights(out, in, eights, width);                                                       \
		break;
		EACH_WIDTH(UNPACK)
#undef UNPACK
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
	uint64_t value = 0;
	for (size_t b = 0, at = i * bits; b < bits; b++, at++)
		value |= (uint64_t)(packed[at / 8] >> at % 8 & 1) << b;
	return value;
}

void sl_bytes_replace(uint8_t *packed, size_t i, uint32_t bits, uint64_t value)
{
	for (size_t b = 0, at = i * bits; b < bits; b++, at++)
		packed[at / 8] = (uint8_t)((packed[at / 8] & ~(1u << at % 8)) | (value >> b & 1) << at % 8);
}

bool sl_bytes_filled(const uint8_t *packed, size_t count, uint32_t bits)
{
	uint32_t used = (uint32_t)(count % 8 * bits % 8); /* bits of the last byte */
	return used == 0 || packed[sl_packed_bytes(count, bits) - 1] >> used == 0;
}
