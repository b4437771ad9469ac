#include "tools/paper/trace.h"

#include <math.h>
#include <stdlib.h>

#include "common/field/metropolis.h"
#include "tools/paper/csv.h"

void sl_trace_close(struct sl_trace *trace)
{
	free(trace->wrong);
	free(trace->seen);
	free(trace->at);
	free(trace->values);
	*trace = (struct sl_trace){.learners = 0};
}

/* 0, 1, 2 .. k, or as many with growing distances. */
static void choose_kept(struct sl_trace *trace)
{
	double ratio = pow((double)trace->k, 1.0 / (SL_TRACE_KEPT - 1)), next = 1;
	trace->at[trace->kept++] = 0;
	for (uint64_t k = 1; k <= trace->k && trace->kept < SL_TRACE_KEPT; k++)
		if (trace->k < SL_TRACE_KEPT || (double)k >= next || k == trace->k) {
			trace->at[trace->kept++] = (double)k;
			next = fmax(next * ratio, (double)k + 1);
		}
	trace->at[trace->kept - 1] = (double)trace->k;
}

static void begin(struct sl_trace *trace, uint64_t k)
{
	trace->k = k;
	trace->wrong = sl_command_memory(k + 1, sizeof *trace->wrong);
	trace->seen = sl_command_memory(k + 1, sizeof *trace->seen);
	trace->at = sl_command_memory(SL_TRACE_KEPT, sizeof *trace->at);
	trace->values = sl_command_memory((size_t)trace->learners * SL_TRACE_KEPT, sizeof *trace->values);
	choose_kept(trace);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void keep(struct sl_trace *trace, uint32_t learner, uint64_t k, const struct sl_field *field,
		 uint64_t z)
{
	double wanted = (double)k;
	const double *place = bsearch(&wanted, trace->at, trace->kept, sizeof *trace->at, by_value);
	if (place != NULL)
		trace->values[(size_t)learner * SL_TRACE_KEPT + (size_t)(place - trace->at)] =
			(double)sl_field_centred(field, z) * trace->unit;
}

void sl_trace_sample(struct sl_trace *trace, const struct sl_runner_sample *sample)
{
	const struct sl_view *view = sample->view;
	uint64_t k = sample->k, z;
	if (trace->k == 0)
		begin(trace, view->steps);
	assert(k <= trace->k && sample->count == trace->count && sample->learner < trace->learners);
	for (uint32_t c = 0; c < sample->count; c++) {
		sl_metropolis_close(&view->field, view->n, view->fraction, (const int64_t *)&sample->raw[c],
				    1, &z);
		trace->wrong[k] += z != trace->truth[c];
		if (c == trace->shown)
			keep(trace, sample->learner, k, &view->field, z);
	}
	trace->seen[k] += sample->count;
}

bool sl_trace_whole(const struct sl_trace *trace)
{
	uint64_t all = (uint64_t)trace->learners * trace->count;
	for (uint64_t k = 0; trace->seen != NULL && k <= trace->k; k++)
		if (trace->seen[k] != all)
			return false;
	return trace->seen != NULL;
}

uint64_t sl_trace_settled(const struct sl_trace *trace)
{
	uint64_t settled = trace->k + 1;
	while (settled > 0 && trace->wrong[settled - 1] == 0)
		settled--;
	return settled;
}

uint64_t sl_trace_wrong(const struct sl_trace *trace, uint64_t k)
{
	return trace->wrong[k < trace->k ? k : trace->k];
}

void sl_trace_header(FILE *csv, uint32_t learners)
{
	sl_csv_print(csv, "graph,k");
	for (uint32_t i = 1; i <= learners; i++)
		sl_csv_print(csv, ",learner_%u", i);
	sl_csv_print(csv, "\n");
}

void sl_trace_write(FILE *csv, const struct sl_trace *trace, const char *graph)
{
	for (uint32_t a = 0; a < trace->kept; a++) {
		sl_csv_print(csv, "%s,%g", graph, trace->at[a]);
		for (uint32_t i = 0; i < trace->learners; i++)
			sl_csv_print(csv, ",%g", trace->values[(size_t)i * SL_TRACE_KEPT + a]);
		sl_csv_print(csv, "\n");
	}
}
