/* checksum.h - phi(v) = sum over l of w_l v_l mod p, for a few sets of weights w: two vectors that differ
 * have different checksums, but for a chance of 2^-60, if they were fixed before the weights are known
 * (ROUND.md §8.7 Checking what was passed on).
 *
 * One set of weights is a point. The weight of element l = 512 b + j is a_b c_j: a number drawn for its block
 * times one drawn for its place in the block. For a vector other than 0, phi is a polynomial of degree 2 in
 * the drawn numbers that is not 0. It vanishes with a probability of at most 2/p (Schwartz, Zippel).
 *
 * phi is linear: the sum of the checksums is the checksum of the sum. The tables live in the caller's arena.
 */
#pragma once

#include "common/base/arena.h"
#include "common/field/prg.h"

#define SL_CHECKSUM_POINTS_MAX 103u /* for p = 3 */

struct sl_checksum {
	struct sl_field field;
	uint32_t points;
	const uint64_t *places; /* points x 512: c_j of each point */
	const uint64_t *blocks; /* blocks x points: a_b of each point */
};

/* Return how many points make (2/p)^points at most 2^-60. */
uint32_t sl_checksum_points(const struct sl_field *field);
/* Return the bytes of arena that sl_checksum_init takes. */
size_t sl_checksum_bytes(uint32_t points, uint64_t elements);
/* Draw the weights of vectors of `elements` from the stream of the key `seed` (prg.h): first `places`, then
 * `blocks`. SL_ERR_NOMEM. */
int sl_checksum_init(struct sl_checksum *checksum, const struct sl_field *field, uint32_t points,
		     uint64_t elements, const uint8_t seed[static SL_KEY_BYTES], struct sl_arena *arena);
/* Add to phi[0..points-1] the part of the elements at .. at + count - 1, of which v[0] is the first; v[l] <
 * p.
 */
void sl_checksum_add(const struct sl_checksum *checksum, const uint64_t *v, size_t at, size_t count,
		     uint64_t *phi);
