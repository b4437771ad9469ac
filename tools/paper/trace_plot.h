/* trace_plot.h - a trace as a panel of a figure, and as rows of its CSV file. */
#pragma once

#include "tools/lib/csv.h"
#include "tools/paper/reproduce.h"
#include "tools/paper/trace.h"

/* Add a panel: the kept values of all learners over k, the right value `level`, the k from which all are
 * right, and K. The values are the rows of `graph` in the CSV file of the figure. A long trace has a
 * logarithmic axis. */
void sl_trace_plot(struct sl_paper *r, const struct sl_trace *trace, const char *graph, const char *title,
		   const char *what, double level);

/* Write the header "graph,k,learner_1,...", and the rows of a trace. */
void sl_trace_csv_open(struct sl_csv *csv, FILE *out, uint32_t learners);
void sl_trace_csv(struct sl_csv *csv, const struct sl_trace *trace, const char *graph);
