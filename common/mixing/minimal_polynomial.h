/* minimal_polynomial.h - the polynomial with which the exact engine adds up masked states (ROUND.md §8.3
 * exact).
 *
 * W over Z_p: w_ij = 1 / (max(|N_i|, |N_j|) + 1) for every edge, rows sum to 1. r is the monic polynomial of
 * least degree with r(W) v = 0 for every v that sums to 0. After deg r exchanges x(k+1) = W x(k), every
 * learner has
 *
 *     Z = N / r(1) * sum_k r_k x_i(k) mod p,   k = 0..deg r,
 *
 * because r(W) x(0) = r(1) * mean * 1.
 */
#pragma once

#include "common/field/field.h"
#include "common/graph/graph.h"

/* Return the bytes of scratch arena that sl_minimal_polynomial needs. */
size_t sl_minimal_polynomial_scratch(uint32_t n, uint32_t edges);

/* Write r_0 .. r_degree (r_degree = 1) to `r` (room for n); degree <= n - 1. The seed (the view's h) chooses
 * projections and checks; r depends on it only if a wrong r passes every check, with probability below 2^-64.
 * SL_ERR_INVALID when the view cannot use the exact engine: n = 0, p <= n (w_ij or the mean undefined; r
 * untouched), or r(1) = 0 mod p (r and degree are set), as on every graph that is not connected.
 * SL_ERR_NOMEM. */
int sl_minimal_polynomial(const struct sl_graph *graph, const struct sl_field *field,
			  const uint8_t seed[static SL_HASH_BYTES], uint64_t *r, uint32_t *degree,
			  struct sl_arena *scratch);

/* Return r(1) mod p. */
uint64_t sl_minimal_polynomial_at_one(const struct sl_field *field, const uint64_t *r, uint32_t degree);

/* Return N / r(1) mod p, the factor of the accumulated sum_k r_k x_i(k); r(1) != 0. */
uint64_t sl_minimal_polynomial_scale(const struct sl_field *field, const uint64_t *r, uint32_t degree,
				     uint32_t learners);
