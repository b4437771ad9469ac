/* ChaCha20, sixteen blocks side by side: one vector holds word w of all of them. Two such sets are computed
 * at once: the additions of one run while the rotations of the other wait. */
#include "common/field/kernels/avx512.h"
#include "common/field/kernels/plain.h"

typedef uint32_t word16 __attribute__((vector_size(64)));

#define WORDS 16u
#define SET 16u /* blocks of a set */

/* --- rounds: on named variables, which the compiler keeps in registers, unlike an array --- */

#define EACH_WORD(do)                                                                                        \
	do                                                                                                   \
	(0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11) do(12) do(13) do(14) do(15)
#define LOAD(w) word16 x##w = (word16)x[w], y##w = (word16)y[w];
#define STORE(w) x[w] = (__m512i)x##w, y[w] = (__m512i)y##w;

#define STEP(a, b, d, bits)                                                                                  \
	(a) += (b);                                                                                          \
	(d) ^= (a);                                                                                          \
	(d) = (d) << (bits) | (d) >> (32 - (bits));
#define QUARTER(a, b, c, d) STEP(a, b, d, 16) STEP(c, d, b, 12) STEP(a, b, d, 8) STEP(c, d, b, 7)
#define QUARTERS(a, b, c, d) QUARTER(x##a, x##b, x##c, x##d) QUARTER(y##a, y##b, y##c, y##d)

static void rounds(__m512i x[static WORDS], __m512i y[static WORDS])
{
	EACH_WORD(LOAD)
	for (int round = 0; round < 20; round += 2) { /* on the columns, then on the diagonals */
		QUARTERS(0, 4, 8, 12)
		QUARTERS(1, 5, 9, 13)
		QUARTERS(2, 6, 10, 14)
		QUARTERS(3, 7, 11, 15)
		QUARTERS(0, 5, 10, 15)
		QUARTERS(1, 6, 11, 12)
		QUARTERS(2, 7, 8, 13)
		QUARTERS(3, 4, 9, 14)
	}
	EACH_WORD(STORE)
}

/* --- before and after the rounds --- */

/* Set the words before the rounds: constants, key, number of the block, nonce. */
static void begin(__m512i *x, const uint32_t *key, uint64_t nonce, uint64_t first)
{
	static const uint32_t constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
	const __m512i number = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	for (uint32_t w = 0; w < 4; w++)
		x[w] = _mm512_set1_epi32((int)constants[w]);
	for (uint32_t w = 0; w < 8; w++)
		x[4 + w] = _mm512_set1_epi32((int)key[w]);
	x[12] = _mm512_add_epi32(_mm512_set1_epi32((int)(uint32_t)first), number);
	__mmask16 carry = _mm512_cmplt_epu32_mask(x[12], number);
	x[13] = _mm512_set1_epi32((int)(uint32_t)(first >> 32));
	x[13] = _mm512_mask_add_epi32(x[13], carry, x[13], _mm512_set1_epi32(1));
	x[14] = _mm512_set1_epi32((int)(uint32_t)nonce);
	x[15] = _mm512_set1_epi32((int)(uint32_t)(nonce >> 32));
}

/* Transpose words of sixteen blocks to blocks of sixteen words: 4 x 4 words within the lanes, then the lanes.
 */
static void store_set(__m512i *x, uint8_t *out)
{
	for (uint32_t w = 0; w < WORDS; w += 4) {
		__m512i a = _mm512_unpacklo_epi32(x[w], x[w + 1]), b = _mm512_unpackhi_epi32(x[w], x[w + 1]);
		__m512i c = _mm512_unpacklo_epi32(x[w + 2], x[w + 3]),
			d = _mm512_unpackhi_epi32(x[w + 2], x[w + 3]);
		x[w] = _mm512_unpacklo_epi64(a, c); /* lane i: four words of block 4 i */
		x[w + 1] = _mm512_unpackhi_epi64(a, c);
		x[w + 2] = _mm512_unpacklo_epi64(b, d);
		x[w + 3] = _mm512_unpackhi_epi64(b, d);
	}
	for (uint32_t j = 0; j < 4; j++) {
		__m512i a = _mm512_shuffle_i32x4(x[j], x[4 + j], 0x44),
			b = _mm512_shuffle_i32x4(x[j], x[4 + j], 0xee);
		__m512i c = _mm512_shuffle_i32x4(x[8 + j], x[12 + j], 0x44);
		__m512i d = _mm512_shuffle_i32x4(x[8 + j], x[12 + j], 0xee);
		_mm512_storeu_si512(out + 64 * j, _mm512_shuffle_i32x4(a, c, 0x88));
		_mm512_storeu_si512(out + 64 * (4 + j), _mm512_shuffle_i32x4(a, c, 0xdd));
		_mm512_storeu_si512(out + 64 * (8 + j), _mm512_shuffle_i32x4(b, d, 0x88));
		_mm512_storeu_si512(out + 64 * (12 + j), _mm512_shuffle_i32x4(b, d, 0xdd));
	}
}

static void end(__m512i *x, const uint32_t *key, uint64_t nonce, uint64_t first, uint8_t *out)
{
	__m512i start[WORDS];
	begin(start, key, nonce, first);
	for (uint32_t w = 0; w < WORDS; w++)
		x[w] = _mm512_add_epi32(x[w], start[w]);
	store_set(x, out);
}

void sl_kernels_avx512_stream(const uint8_t key[static SL_KEY_BYTES], uint64_t nonce, uint64_t first,
			      uint8_t *out, size_t blocks)
{
	uint32_t words[8];
	memcpy(words, key, sizeof words);
	for (; blocks >= 2 * SET; blocks -= 2 * SET, first += 2 * SET, out += 2 * 64 * SET) {
		__m512i x[WORDS], y[WORDS];
		begin(x, words, nonce, first);
		begin(y, words, nonce, first + SET);
		rounds(x, y);
		end(x, words, nonce, first, out);
		end(y, words, nonce, first + SET, out + 64 * SET);
	}
	sodium_memzero(words, sizeof words);
	if (blocks > 0)
		sl_plain_stream(key, nonce, first, out, blocks);
}
