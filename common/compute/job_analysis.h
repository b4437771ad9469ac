/* job_analysis.h - the analysis of a view's graph (common/mixing/analysis.h): the job ANALYSE. Vertices are
 * positions in the view. Owns nothing; works in the arena handed in, and leaves nothing there.
 */
#pragma once

#include "common/base/arena.h"
#include "common/mixing/analysis.h"
#include "common/protocol/view.h"

/* Return the bytes of arena that sl_job_analysis_run needs. */
size_t sl_job_analysis_scratch(const struct sl_view *view);

/* Analyse the privacy of `view` and the engines that its agreed `mixing` may come to, and no others. r is
 * scaled by N / r(1): Z = sum of r[k] x(k), k = 0..degree (ROUND.md §8.3 exact). SL_ERR_NOMEM. */
int sl_job_analysis_run(const struct sl_view *view, struct sl_analysis *analysis, struct sl_arena *scratch);

/* Fill view->costs but for K, up, down, keeper and deposits_forest from the analysis. */
void sl_job_analysis_apply(const struct sl_analysis *analysis, struct sl_view *view);
