/* spectrum.h - how many exchanges metropolis needs, and whether rounding can do harm (ROUND.md §8.2
 * metropolis). */
#pragma once

#include "common/graph/graph.h"

/* Return the bytes of scratch arena that sl_spectrum_mu needs for `n` vertices. */
size_t sl_spectrum_scratch(uint32_t n);

/* Compute mu = max(|lambda_min|, lambda_2) of the Metropolis-Hastings matrix, rounded up by 1e-12 and kept in
 * [0, 1] (1: not connected). Dense, exact to rounding. n = 1 gives 0; SL_ERR_RANGE for n > SL_LEARNERS_MAX,
 * SL_ERR_NOMEM. */
int sl_spectrum_mu(const struct sl_graph *graph, struct sl_arena *scratch, double *mu);

/* Return the smallest K >= 1 with 2 p n^1.5 mu^K < 1 (paper eq. K bound through the spectral norm);
 * UINT64_MAX if mu >= 1. */
uint64_t sl_spectrum_iterations(uint64_t p, uint32_t n, double mu);

/* Return a bound on the spread of the states after `k` exchanges. The spread is the difference between the
 * sums that two learners would take from their states. The bound is 2 p n^1.5 mu^k, which is below 1 after K
 * exchanges, plus the part of rounding: 1/4 of sl_spectrum_width_need, over 2^g. */
double sl_spectrum_spread_bound(const struct sl_graph *graph, double mu, uint64_t p, uint32_t g, uint64_t k);
/* Return `value` >= 0 to two significant digits. */
double sl_spectrum_two_digits(double value);

/* Return g = 62 - bits(p), the fractional bits of an int64 mixing state. */
static inline uint32_t sl_spectrum_fraction_bits(uint32_t p_bits)
{
	return 62 - p_bits;
}

/* Return what 2^g must reach for rounding to stay under 1/8: 8 n sqrt(2 degree_max edges) / (1 - mu). */
double sl_spectrum_width_need(const struct sl_graph *graph, double mu);
/* Return the same of a graph that is known only by these numbers. */
double sl_spectrum_width_need_of(double n, double degree_max, double edges, double mu);
/* Return the most bits of a p with which 2^g reaches `need`, or 0. */
uint32_t sl_spectrum_p_bits(double need);
