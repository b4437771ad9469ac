/* vector_hash.h - the hash of a long vector, as eight BLAKE2b hashes that are computed side by side
 * (LINKS.md §6.14 What is hashed and signed).
 *
 * Strand k has the 8-byte words k, k + 8, k + 16, .. of the vector, which is followed by zeros up to a
 * multiple of 64 bytes. So a load of 64 bytes gives a word of every strand.
 *
 *     vector   | 0 1 2 3 4 5 6 7 | 8 9 ..          words of 8 bytes
 *     strand 0 | 0 8 16 ..                         each hashed with 32 bytes of output and no key
 *     strand 7 | 7 15 ..
 */
#pragma once

#include "common/base/limits.h"
#include "common/base/types.h"

#define SL_STRANDS 8u
#define SL_STRAND_BLOCK 128u /* bytes of a strand in a block of BLAKE2b */
#define SL_STRANDS_BLOCK (SL_STRANDS * SL_STRAND_BLOCK)
#define SL_STRANDS_BYTES (SL_STRANDS * SL_HASH_BYTES)

/* The initial state of BLAKE2b, before its parameters. */
extern const uint64_t sl_vector_hash_start[8];

struct sl_vector_hash {
	uint64_t h[8][SL_STRANDS]; /* by word of the state, then by strand */
	uint64_t done;		   /* bytes of a strand that are hashed */
	size_t used;		   /* bytes in `rest` */
	uint8_t rest[SL_STRANDS_BLOCK];
};

void sl_vector_hash_begin(struct sl_vector_hash *v);
/* Add the next `n` bytes of the vector. */
void sl_vector_hash_add(struct sl_vector_hash *v, const uint8_t *bytes, size_t n);
/* Write the hashes of the strands to `hashes`, and wipe `v`. */
void sl_vector_hash_end(struct sl_vector_hash *v, uint8_t hashes[static SL_STRANDS_BYTES]);
