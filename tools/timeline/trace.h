/* trace.h - a run as a trace: the Trace Event Format (JSON) that ui.perfetto.dev and chrome://tracing open.
 *
 * One process for each learner; its phases are slices of one track, its waits of more than a second another,
 * its commits instants. Times are microseconds since the first record of the run.
 */
#pragma once

#include <stdio.h>

#include "tools/timeline/timeline.h"

/* Write the trace of all rounds. The caller checks `out` for errors. */
void sl_trace_write(FILE *out, struct sl_timeline *timeline);
