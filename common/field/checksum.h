/* checksum.h - phi(v) = sum over l of v_l rho^l mod p at a few points rho: two vectors that differ have
 * different checksums, but for a chance of (n/p)^points, if they were fixed before the points are known
 * (PROTOCOL.md §8.7 Checking what was passed on).
 *
 * phi is linear: the sum of the checksums is the checksum of the sum. The tables live in the caller's arena.
 */
#pragma once

#include "common/base/arena.h"
#include "common/field/prg.h"

#define SL_CHECKSUM_POINTS_MAX 56u /* for p = 3 and 2^28 elements */

struct sl_checksum {
	struct sl_field field;
	uint32_t points;
	uint64_t rho[SL_CHECKSUM_POINTS_MAX];
	uint64_t *powers; /* points rows: rho^0 .. rho^(SL_KERNEL_BLOCK - 1) */
};

/* Return the least k with elements p^-k < 2^-60. That is too few (PROTOCOL.md §15.4 Known gaps). */
uint32_t sl_checksum_points(const struct sl_field *field, uint64_t elements);
/* Return the bytes of arena that sl_checksum_init takes. */
size_t sl_checksum_bytes(uint32_t points);
/* Draw the points from `seed`: the first `points` elements of the stream of that key (prg.h). SL_ERR_NOMEM.
 */
int sl_checksum_init(struct sl_checksum *checksum, const struct sl_field *field, uint32_t points,
		     const uint8_t seed[static SL_KEY_BYTES], struct sl_arena *arena);
/* Add to phi[0..points-1] the part of the coordinates at .. at + count - 1, of which v[0] is the first; v[l]
 * < p. */
void sl_checksum_add(const struct sl_checksum *checksum, const uint64_t *v, size_t at, size_t count,
		     uint64_t *phi);
