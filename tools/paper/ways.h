/* ways.h - mixing to the end in several kinds of numbers, to see which of them come to the right integers.
 *
 * A trial owns uniform masked states of N learners, and their sums mod p.
 */
#pragma once

#include "common/field/field.h"
#include "common/graph/graph.h"

#define SL_WAY_STATES 16u /* coordinates of each learner */

struct sl_ways_trial {
	const struct sl_graph *graph; /* borrowed; at most SL_PAPER_LEARNERS */
	struct sl_field field;
	double mu;
	uint64_t k;
	uint64_t *s;	/* N x SL_WAY_STATES */
	uint64_t *sums; /* SL_WAY_STATES */
};

int sl_ways_trial_open(struct sl_ways_trial *trial, const struct sl_graph *graph, double mu, uint64_t p);
void sl_ways_trial_close(struct sl_ways_trial *trial);

enum sl_way {
	SL_WAY_PRODUCT,	   /* float64, A times s: as the paper has it */
	SL_WAY_DIFFERENCE, /* float64, s_i + sum a_ij (s_j - s_i): less rounding */
	SL_WAY_PRINTED,	   /* float64, the rule that the paper prints, with s_i for s_j */
	SL_WAY_FIXED,	   /* fixed point, as metropolis */
};
#define SL_WAY_REFUSED UINT32_MAX

/* Return how many of the N x SL_WAY_STATES results are wrong; SL_WAY_REFUSED where metropolis does not take
 * the graph. */
uint32_t sl_ways_wrong(const struct sl_ways_trial *trial, enum sl_way way);

/* Return how much two shares of a polynomial of degree 2 over Z_7 reveal of its secret: the largest total
 * variation distance, with the highest coefficient from 0..6 or from 1..6. */
double sl_ways_share_distance(bool zero_allowed);
