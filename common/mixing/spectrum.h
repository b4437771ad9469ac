/* spectrum.h - how many iterations mixing needs, and whether rounding can harm (protocol 7). */
#pragma once

#include "common/graph/graph.h"

/* Bytes of scratch arena that sl_spectrum_mu needs for n vertices. */
size_t sl_spectrum_scratch(uint32_t n);

/* mu = max(|lambda_min|, lambda_2) of the Metropolis-Hastings matrix, rounded up by 1e-12 and kept in [0, 1]
 * (1: not connected). Dense and exact to rounding: n <= SL_LEARNERS_MAX, else SL_ERR_RANGE; n = 1 gives 0. */
int sl_spectrum_mu(const struct sl_graph *graph, struct sl_arena *scratch, double *mu);

/* The smallest K >= 1 with 2 p n^1.5 mu^K < 1 (paper eq. K bound through the spectral norm); UINT64_MAX if mu
 * >= 1. */
uint64_t sl_spectrum_iterations(uint64_t p, uint32_t n, double mu);

/* f = 62 - bits(p): fractional bits of an int64 mixing state. */
static inline uint32_t sl_spectrum_fraction_bits(uint32_t p_bits)
{
	return 62 - p_bits;
}

/* What 2^f must reach, 8 N sqrt(2 deg_max E) / (1 - mu), for rounding to stay under 1/8. */
double sl_spectrum_width_need(const struct sl_graph *graph, double mu);
/* The largest bits(p) that the need leaves room for: the p that would do has at most so many bits. */
uint32_t sl_spectrum_p_bits(double need);
