#include "tools/paper/trace_plot.h"

#include <inttypes.h>

#include "tools/paper/document.h"

void sl_trace_plot(struct sl_paper *r, const struct sl_trace *trace, const char *graph, const char *title,
		   const char *what, double level)
{
	uint64_t settled = sl_trace_settled(trace);
	sl_document_panel(r, title, "iteration k", what, trace->k >= SL_TRACE_KEPT ? "x" : "");
	if (trace->k > SL_PAPER_K)
		sl_document_mark(r, 'x', SL_PAPER_K, "K = %u", SL_PAPER_K);
	sl_document_mark(r, 'x', (double)settled, "all right from %" PRIu64, settled);
	sl_document_mark(r, 'x', (double)trace->k, "K = %" PRIu64, trace->k);
	fprintf(r->plots.out,
		"plot for [i=3:%u] rows('%s.csv', '%s') using 2:i with lines linewidth 0.5 linecolor "
		"'#5fa0cc' notitle, \\\n"
		"  %.9g with lines dashtype 2 linecolor 'black' title '%.4g'\n",
		trace->learners + 2, r->figure, graph, level, level);
}

void sl_trace_csv_open(struct sl_csv *csv, FILE *out, uint32_t learners)
{
	sl_csv_open(csv, out, NULL);
	sl_csv_text(csv, "graph");
	sl_csv_text(csv, "k");
	for (uint32_t i = 1; i <= learners; i++) {
		char name[24];
		snprintf(name, sizeof name, "learner_%u", i);
		sl_csv_text(csv, name);
	}
	sl_csv_end(csv);
}

void sl_trace_csv(struct sl_csv *csv, const struct sl_trace *trace, const char *graph)
{
	for (uint32_t a = 0; a < trace->kept; a++) {
		sl_csv_text(csv, graph);
		sl_csv_real(csv, trace->at[a]);
		for (uint32_t i = 0; i < trace->learners; i++)
			sl_csv_real(csv, trace->values[(size_t)i * SL_TRACE_KEPT + a]);
		sl_csv_end(csv);
	}
}
