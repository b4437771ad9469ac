/* trace.h - mixing seen from outside: what each learner would decode if iteration k were its last.
 *
 * A trace is of one round. It counts the learners' coordinates that would come out wrong, for every k, and
 * keeps the values of one coordinate for a picture: of every k while there are few, further and further apart
 * when there are many. Owns its arrays; the truth is borrowed.
 */
#pragma once

#include "tools/sim/runner.h"

#define SL_TRACE_KEPT 240u /* values of a learner at most: a picture is about as many pixels wide */

struct sl_trace {
	uint32_t learners, count; /* N; the coordinates that are told of */
	const uint64_t *truth;	  /* count: the plain sums of the encodings, mod p */
	uint32_t shown;		  /* the coordinate whose values are kept */
	double unit;		  /* 1 / (10^sigma N): from a sum to a mean */
	uint64_t k;		  /* K of the view; 0: nothing seen yet */
	uint64_t *wrong;	  /* k+1 */
	uint64_t *seen;		  /* k+1: of how many */
	uint32_t kept;		  /* iterations of which values are kept */
	double *at;		  /* kept: k */
	double *values;		  /* learners rows of SL_TRACE_KEPT, `kept` of them used */
};

/* Nothing is asked for before the first sample, which says K. */
void sl_trace_init(struct sl_trace *trace, uint32_t learners, const uint64_t *truth, uint32_t count,
		   uint32_t shown, double unit);
void sl_trace_close(struct sl_trace *trace);

/* SL_ERR_NOMEM. */
int sl_trace_sample(struct sl_trace *trace, const struct sl_runner_sample *sample);

/* Whether every learner was seen in every iteration: what else is said of the trace means nothing. */
bool sl_trace_whole(const struct sl_trace *trace);

/* The least k from which everything is right and stays right; K+1 when the end is wrong. */
uint64_t sl_trace_settled(const struct sl_trace *trace);

/* The wrong ones at k, or at K when there is no such iteration. */
uint64_t sl_trace_wrong(const struct sl_trace *trace, uint64_t k);
