#include "common/field/vector_hash.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "common/field/kernels/table.h"

#define PARAMETERS (UINT64_C(0x01010000) | SL_HASH_BYTES) /* of BLAKE2b: fanout 1, depth 1, no key */

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are hashed as they are in memory");

const uint64_t sl_vector_hash_start[8] = {UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b),
					  UINT64_C(0x3c6ef372fe94f82b), UINT64_C(0xa54ff53a5f1d36f1),
					  UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
					  UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179)};

void sl_vector_hash_begin(struct sl_vector_hash *v)
{
	v->done = v->used = 0;
	for (size_t i = 0; i < 8; i++)
		for (size_t k = 0; k < SL_STRANDS; k++)
			v->h[i][k] = sl_vector_hash_start[i] ^ (i == 0 ? PARAMETERS : 0);
}

/* Hash `blocks` blocks of every strand, of which none is the last. */
static void some(struct sl_vector_hash *v, const uint8_t *bytes, size_t blocks)
{
	for (; blocks > 0; blocks--, bytes += SL_STRANDS_BLOCK) {
		v->done += SL_STRAND_BLOCK;
		sl_kernels()->strands(v->h, bytes, v->done, false);
	}
}

void sl_vector_hash_add(struct sl_vector_hash *v, const uint8_t *bytes, size_t n)
{
	while (n > 0) {
		if (v->used == SL_STRANDS_BLOCK) { /* more follows: it is not the last one */
			some(v, v->rest, 1);
			v->used = 0;
		}
		size_t whole = v->used == 0 ? (n - 1) / SL_STRANDS_BLOCK : 0;
		some(v, bytes, whole);
		bytes += whole * SL_STRANDS_BLOCK;
		n -= whole * SL_STRANDS_BLOCK;
		size_t room = SL_STRANDS_BLOCK - v->used, part = n < room ? n : room;
		memcpy(v->rest + v->used, bytes, part);
		v->used += part;
		bytes += part;
		n -= part;
	}
}

void sl_vector_hash_end(struct sl_vector_hash *v, uint8_t hashes[static SL_STRANDS_BYTES])
{
	size_t words = (v->used + 8 * SL_STRANDS - 1) / (8 * SL_STRANDS); /* of each strand */
	memset(v->rest + v->used, 0, SL_STRANDS_BLOCK - v->used);
	sl_kernels()->strands(v->h, v->rest, v->done + 8 * words, true);
	for (size_t k = 0; k < SL_STRANDS; k++)
		for (size_t i = 0; i < SL_HASH_BYTES / 8; i++)
			memcpy(hashes + k * SL_HASH_BYTES + 8 * i, &v->h[i][k], 8);
	sodium_memzero(v, sizeof *v);
}
