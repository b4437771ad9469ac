/* strands.h - the compression function of BLAKE2b (RFC 7693) on eight strands side by side (vector_hash.h),
 * for vectors as wide as the instruction set of the including file has them.
 */
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif
#include <string.h>

#include "common/field/vector_hash.h"

#ifdef __AVX512F__
#define STRAND_LANES 8u
#elif defined(__AVX2__)
#define STRAND_LANES 4u
#else
#define STRAND_LANES 2u
#endif

typedef uint64_t strands __attribute__((vector_size(8 * STRAND_LANES)));

static inline __attribute__((always_inline)) strands strands_turn(strands v, uint32_t bits)
{
#if defined(__AVX2__) && !defined(__AVX512F__) /* which has rotations; AVX2 permutes bytes instead */
	if (bits % 8 == 0) {
		uint8_t from[sizeof v]; /* of the 16 bytes of each half */
		for (uint32_t b = 0; b < sizeof v; b++)
			from[b] = (uint8_t)(b % 16 / 8 * 8 + (b + bits / 8) % 8);
		return (strands)_mm256_shuffle_epi8((__m256i)v, _mm256_loadu_si256((const __m256i *)from));
	}
#endif
	return v >> bits | v << (64 - bits);
}

/* Return word `w` of the block, of the strands from `first` on. */
static inline strands strands_word(const uint8_t *block, size_t w, size_t first)
{
	strands word;
	memcpy(&word, block + 8 * (w * SL_STRANDS + first), sizeof word);
	return word;
}

/* G of the RFC. */
#define MIX(a, b, c, d, x, y)                                                                                \
	(a) += (b) + strands_word(block, x, first);                                                          \
	(d) = strands_turn((d) ^ (a), 32);                                                                   \
	(c) += (d);                                                                                          \
	(b) = strands_turn((b) ^ (c), 24);                                                                   \
	(a) += (b) + strands_word(block, y, first);                                                          \
	(d) = strands_turn((d) ^ (a), 16);                                                                   \
	(c) += (d);                                                                                          \
	(b) = strands_turn((b) ^ (c), 63)

static inline void strands_round(strands *v, const uint8_t *block, const uint8_t *word, size_t first)
{
	MIX(v[0], v[4], v[8], v[12], word[0], word[1]);
	MIX(v[1], v[5], v[9], v[13], word[2], word[3]);
	MIX(v[2], v[6], v[10], v[14], word[4], word[5]);
	MIX(v[3], v[7], v[11], v[15], word[6], word[7]);
	MIX(v[0], v[5], v[10], v[15], word[8], word[9]);
	MIX(v[1], v[6], v[11], v[12], word[10], word[11]);
	MIX(v[2], v[7], v[8], v[13], word[12], word[13]);
	MIX(v[3], v[4], v[9], v[14], word[14], word[15]);
}
#undef MIX

static inline void sl_plain_strands(uint64_t (*h)[SL_STRANDS], const uint8_t *block, uint64_t bytes,
				    bool last)
{
	static const uint8_t order[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
					      {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
					      {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
					      {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
					      {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
					      {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
					      {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
					      {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
					      {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
					      {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
	for (size_t first = 0; first < SL_STRANDS; first += STRAND_LANES) {
		strands v[16], zero = {0};
		for (uint32_t i = 0; i < 8; i++) {
			memcpy(&v[i], &h[i][first], sizeof v[i]);
			v[8 + i] = zero + sl_vector_hash_start[i];
		}
		v[12] ^= bytes;
		v[14] ^= last ? UINT64_MAX : 0;
		for (uint32_t r = 0; r < 12; r++)
			strands_round(v, block, order[r % 10], first);
		for (uint32_t i = 0; i < 8; i++) {
			v[i] ^= v[8 + i];
			for (uint32_t k = 0; k < STRAND_LANES; k++)
				h[i][first + k] ^= v[i][k];
		}
	}
}
