/* trace_chart.h - a trace as a picture and as a table. */
#pragma once

#include "tools/paper/page/chart.h"
#include "tools/lib/csv.h"
#include "tools/paper/trace.h"

/* The kept values of all learners over k, where they should end, where they are all right, and K. `level` is
 * the number that is right. A long trace has a logarithmic axis. */
void sl_trace_chart(const struct sl_trace *trace, const char *title, const char *what, double level,
		    FILE *out);

/* "graph,k,learner_1,...": the names of the columns, and the rows of a trace. */
void sl_trace_csv_open(struct sl_csv *csv, FILE *out, uint32_t learners);
void sl_trace_csv(struct sl_csv *csv, const struct sl_trace *trace, const char *graph);
