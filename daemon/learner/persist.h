/* persist.h - write what must survive a crash, on the compute worker, in the order in which the core asks for
 * it (ROUND.md §14.1 What is durable before what is sent). */
#pragma once

#include "common/core/core.h"

struct sl_daemon;

/* Queue `persist`, with copies of everything that it points to. SL_EVENT_DURABLE follows the write; an error
 * ends the learner. */
void sl_persist_add(struct sl_daemon *daemon, const struct sl_persist *persist);
/* Return the name of the record that has not reached the disk for 10 s, if that is to be reported now: again
 * when the time has doubled. NULL: nothing is to be reported. *seconds is the time so far. */
const char *sl_persist_hangs(struct sl_daemon *daemon, sl_ms now, uint64_t *seconds);
