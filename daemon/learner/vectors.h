/* vectors.h - the memory of the workspace that jobs need at times: the state, the second vector of some
 * engines, the scratch, and a model that is fetched (daemon/runtime/vector_memory.h).
 */
#pragma once

#include "common/compute/job.h"

/* Make room for the models: trained, committed and, with ranges, the rest. SL_ERR_NOMEM. */
int sl_vectors_open(struct sl_workspace *workspace, const char *folder);
/* Make room for what `job` needs, large vectors but the scratch on the disk of `folder`. Memory that grows
 * with the view is kept for later rounds. What is too small loses its contents: only jobs that begin anew
 * need more. SL_ERR_NOMEM. */
int sl_vectors_grow(struct sl_workspace *workspace, const char *folder, const struct sl_job *job);
/* Make room for the trained model again. SL_ERR_NOMEM. */
int sl_vectors_train(struct sl_workspace *workspace, const char *folder);
/* Free what no job needs after `job`, which has run: the fetched model, unless it is one of those that fetch
 * it; after ACCEPT large vectors, the trained model and Z, whose disk the commit needs for its files. */
void sl_vectors_shrink(struct sl_workspace *workspace, const struct sl_job *job);
void sl_vectors_free(struct sl_workspace *workspace);
