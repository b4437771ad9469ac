/* job_analysis.h - what the gate and mixing ask of a view's graph (protocol 5, GATE; 7): the job SURVEY.
 * Vertices are positions in the view; it is the same at all its learners. Owns nothing; works in the arena
 * handed in, and leaves nothing there.
 */
#pragma once

#include "common/base/arena.h"
#include "common/protocol/view.h"

struct sl_analysis {
	double mu;			  /* where metropolis may be used; else 1 */
	uint32_t degree;		  /* of r, where exact may be used; 0: else, or r(1) = 0 */
	uint64_t part[SL_LEARNERS_MAX];	  /* exact: Z = sum of part[k] x(k), k = 0..degree */
	uint32_t depth;			  /* of the tree, where tree may be used; else 0 */
	uint32_t children;		  /* of a learner in it, at most */
	uint32_t parent[SL_LEARNERS_MAX]; /* the root is its own */
	uint32_t kappa;			  /* vertex connectivity, or c+1 if that is less */
	uint32_t weak_count;		  /* kappa < c+1: the cut vertices (kappa = 1), else a smallest cut */
	uint32_t weak[SL_LEARNERS_MAX];
	uint32_t missing_count; /* edges that would do; the first SL_ADVICE_MAX are named */
	struct sl_edge missing[SL_ADVICE_MAX];
};

/* Bytes of arena that sl_job_analysis_run needs. */
size_t sl_job_analysis_scratch(const struct sl_view *view);
/* SL_ERR_NOMEM. */
int sl_job_analysis_run(const struct sl_view *view, struct sl_analysis *analysis, struct sl_arena *scratch);
/* What it found of mixing, but K, into view->costs, roles and children. */
void sl_job_analysis_apply(const struct sl_analysis *analysis, struct sl_view *view);
