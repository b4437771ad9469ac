#include "tools/paper/trace_chart.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tools/paper/reproduce.h"

static uint32_t fill_marks(const struct sl_trace *trace, char text[3][48], struct sl_mark marks[3])
{
	uint64_t settled = sl_trace_settled(trace);
	uint32_t count = 0;
	snprintf(text[0], sizeof text[0], "K = %u", SL_PAPER_K);
	snprintf(text[1], sizeof text[1], "all right from %" PRIu64, settled);
	snprintf(text[2], sizeof text[2], "K = %" PRIu64, trace->k);
	if (trace->k > SL_PAPER_K)
		marks[count++] = (struct sl_mark){false, SL_PAPER_K, text[0]};
	marks[count++] = (struct sl_mark){false, (double)settled, text[1]};
	marks[count++] = (struct sl_mark){false, (double)trace->k, text[2]};
	return count;
}

void sl_trace_chart(const struct sl_trace *trace, const char *title, const char *what, double level,
		    FILE *out)
{
	struct sl_series *series = calloc(trace->learners + 1, sizeof *series);
	double ends[2] = {trace->at[0], (double)trace->k}, levels[2] = {level, level};
	char text[3][48], name[32];
	struct sl_mark marks[3];
	bool log = trace->k >= SL_TRACE_KEPT;
	if (series == NULL)
		abort();
	for (uint32_t i = 0; i < trace->learners; i++)
		series[i] = (struct sl_series){.x = trace->at,
					       .y = trace->values + (size_t)i * SL_TRACE_KEPT,
					       .count = trace->kept,
					       .pen = SL_PEN_FAINT};
	snprintf(name, sizeof name, "%.4g", level);
	ends[0] = log ? 1 : 0;
	series[trace->learners] =
		(struct sl_series){.label = name, .x = ends, .y = levels, .count = 2, .pen = SL_PEN_TRUTH};
	struct sl_chart chart = {.title = title,
				 .x = {.label = "iteration k", .log = log},
				 .y = {.label = what},
				 .series = series,
				 .series_count = trace->learners + 1,
				 .marks = marks,
				 .mark_count = fill_marks(trace, text, marks)};
	sl_page_chart_write(&chart, out);
	free(series);
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
