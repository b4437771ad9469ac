/* ways.h - mixing to the end in four kinds of numbers: which of them come to the right integers.
 *
 * A trial owns uniform masked states of N learners, and what they add up to mod p.
 */
#pragma once

#include "common/field/field.h"
#include "common/graph/graph.h"

#define SL_WAY_STATES 16u /* coordinates of each learner */

struct sl_trial {
	const struct sl_graph *graph; /* borrowed; at most SL_PAPER_LEARNERS */
	struct sl_field field;
	double mu;
	uint64_t k;
	uint64_t *s;	/* N x SL_WAY_STATES */
	uint64_t *sums; /* SL_WAY_STATES */
};

int sl_ways_trial_open(struct sl_trial *trial, const struct sl_graph *graph, double mu, uint64_t p);
void sl_ways_trial_close(struct sl_trial *trial);

enum sl_way {
	SL_WAY_PRODUCT,	   /* float64, A times s: as the paper has it */
	SL_WAY_DIFFERENCE, /* float64, s_i + sum a_ij (s_j - s_i): kinder to rounding */
	SL_WAY_FIXED,	   /* metropolis */
	SL_WAY_FIELD,	   /* exact */
	SL_WAY_COUNT,
};
#define SL_WAY_REFUSED UINT32_MAX

/* How many of the N x SL_WAY_STATES results are wrong; SL_WAY_REFUSED where the engine does not take the
 * graph. */
uint32_t sl_ways_wrong(const struct sl_trial *trial, enum sl_way way);
