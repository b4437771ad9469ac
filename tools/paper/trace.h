/* trace.h - the mixing of one round as an observer sees it: the value that each learner would decode if
 * iteration k were its last.
 *
 * A trace counts, for every k, the learners' coordinates that would come out wrong. It keeps the values of
 * one coordinate for a figure: of every k while there are few, at growing distances when there are many. Owns
 * its arrays; the truth is borrowed.
 */
#pragma once

#include "tools/paper/paper.h"
#include "tools/sim/runner.h"

#define SL_TRACE_KEPT 240u /* values of a learner at most: the width of a figure in pixels */

struct sl_trace {
	uint32_t learners, count; /* N; coordinates */
	const uint64_t *truth;	  /* count: the plain sums of the encodings, mod p */
	uint32_t shown;		  /* the coordinate whose values are kept */
	double unit;		  /* 1 / (10^decimals N): from a sum to a mean */
	uint64_t k;		  /* K of the view; 0: no sample yet */
	uint64_t *wrong;	  /* k+1 */
	uint64_t *seen;		  /* k+1: coordinates of all learners that were seen */
	uint32_t kept;		  /* iterations of which values are kept */
	double *at;		  /* kept: k */
	double *values;		  /* learners rows of SL_TRACE_KEPT, `kept` of them used */
};

void sl_trace_close(struct sl_trace *trace);

void sl_trace_sample(struct sl_trace *trace, const struct sl_runner_sample *sample);

/* Return true if every learner was seen in every iteration. */
bool sl_trace_whole(const struct sl_trace *trace);

/* Return the least k from which everything is right and stays right; K+1 when the end is wrong. */
uint64_t sl_trace_settled(const struct sl_trace *trace);

/* Return the number of wrong coordinates at k, or at K when there is no such iteration. */
uint64_t sl_trace_wrong(const struct sl_trace *trace, uint64_t k);

/* Write the header "graph,k,learner_1,...", and the kept values as rows of `graph`. */
void sl_trace_header(FILE *csv, uint32_t learners);
void sl_trace_write(FILE *csv, const struct sl_trace *trace, const char *graph);
