/* memory.h - how much memory learners take while they average. */
#pragma once

#include "tools/paper/reproduce.h"

/* Bytes at most of one of three learners with models of `floats` during a round, played in this process, more
 * than the process had before. SL_ERR_IO where the system does not say; SL_PENDING: ended by the user. */
int sl_memory_of_learners(struct sl_paper *r, uint32_t floats, double *bytes, struct sl_error *error);
