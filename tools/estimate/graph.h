/* graph.h - the figures of a graph on which the cost of each engine depends (ROUND.md §8 Engines).
 *
 * For a given graph (N up to SL_LEARNERS_MAX) everything is computed. For a family at any N there are
 * formulas, with d the degree, W = I - L_w the Metropolis-Hastings matrix, w_ij = 1 / (max(d_i, d_j) + 1):
 *
 *   family        mu
 *   complete      0
 *   ring          1 - 2(1 - cos(2 pi / N)) / 3, or 1/3 if that is more
 *   line          1 - 2(1 - cos(pi / N)) / 3
 *   star          1 - 1/N
 *   nearest:k     max_j |sin((k+1) pi j/N) / sin(pi j/N)| / (k+1)
 *   neighbours:k  max_j |1 + k cos(2 pi j/s)| / (k+1), s = 2N/k
 *   grid a x b    <= 1 - 2(1 - cos(pi / max(a, b))) / 5
 *   regular:d     ~ (2 sqrt(d - 1) + 1) / (d + 1)
 *   geometric:r   ~ 1 - (pi r)^2 / 8
 *
 *   family        deg r                          depth
 *   complete      1                              1
 *   ring          floor(N/2)                     floor(N/2)
 *   line          N - 1                          floor(N/2)
 *   star          2                              1
 *   nearest:k     <= floor(N/2)                  ceil(floor(N/2) / (k/2))
 *   neighbours:k  floor(s/2), +1 unless 4 | s    floor(s/2), 2 at least
 *   grid a x b    <= N - 1                       floor(a/2) + floor(b/2)
 *   regular:d     <= N - 1                       ~ 1 + log_(d-1) (N ln(N / ln N) / d)
 *   geometric:r   <= N - 1                       ~ 1.1 / (r sqrt 2)
 *
 * Formulas without a sign are exact (deg r but for primes that divide a difference of eigenvalues, about
 * N^2/p of all); "<=" is a bound; "~" an estimate: by Friedman's theorem, and of a step of variance r^2/4 in
 * the square. A grid's bound holds because no weight is below 1/5; where its last row is short, bound and
 * depth are estimates.
 */
#pragma once

#include "common/base/err.h"
#include "common/field/field.h"
#include "common/graph/generate.h"

enum sl_certainty { SL_EXACTLY, SL_AT_MOST, SL_ABOUT };

struct sl_estimate_figures {
	uint64_t learners;
	double degree_mean, degree_most, edges;
	double mu;
	uint64_t degree_r; /* exchanges of `exact`; 0: it cannot run */
	uint64_t depth;	   /* of the deepest tree: `forest` takes 2 depth steps */
	uint32_t trees;	   /* of the forest, for a large vector */
	double load;	   /* edges of the busiest learner in all trees */
	double bound;	   /* vectors that the busiest learner sends with any trees, at least */
	enum sl_certainty mu_is, degree_r_is, depth_is;
};

/* Compute the figures of a connected graph, with a forest for vectors of `elements`. SL_ERR_INVALID if it is
 * not, SL_ERR_RANGE above SL_LEARNERS_MAX, SL_ERR_NOMEM. */
int sl_estimate_graph_figures(const struct sl_graph *graph, const struct sl_field *field, uint64_t elements,
			      struct sl_estimate_figures *figures);

/* Compute the figures of a family, for any number of learners that it exists for (sl_family_fault).
 * SL_ERR_INVALID: a geometric graph that is hardly ever connected, of a radius below sqrt(ln N / (pi N)). */
int sl_estimate_family_figures(const struct sl_family *topology, uint64_t learners,
			       struct sl_estimate_figures *figures, struct sl_error *error);
