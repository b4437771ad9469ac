#include "tools/paper/trace.h"

#include <math.h>
#include <stdlib.h>

#include "common/field/metropolis.h"

void sl_trace_init(struct sl_trace *trace, uint32_t learners, const uint64_t *truth, uint32_t count,
		   uint32_t shown, double unit)
{
	*trace = (struct sl_trace){
		.learners = learners, .count = count, .truth = truth, .shown = shown, .unit = unit};
}

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

static int begin(struct sl_trace *trace, uint64_t k)
{
	trace->k = k;
	trace->wrong = calloc(k + 1, sizeof *trace->wrong);
	trace->seen = calloc(k + 1, sizeof *trace->seen);
	trace->at = calloc(SL_TRACE_KEPT, sizeof *trace->at);
	trace->values = calloc((size_t)trace->learners * SL_TRACE_KEPT, sizeof *trace->values);
	if (trace->wrong == NULL || trace->seen == NULL || trace->at == NULL || trace->values == NULL)
		return SL_ERR_NOMEM;
	choose_kept(trace);
	return SL_OK;
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

int sl_trace_sample(struct sl_trace *trace, const struct sl_runner_sample *sample)
{
	const struct sl_view *view = sample->view;
	uint64_t k = sample->k, z;
	if (trace->k == 0 && begin(trace, view->steps) != SL_OK)
		return SL_ERR_NOMEM;
	assert(k <= trace->k && sample->count == trace->count && sample->learner < trace->learners);
	for (uint32_t c = 0; c < sample->count; c++) {
		sl_metropolis_close(&view->field, view->n, view->fraction, (const int64_t *)&sample->raw[c],
				    1, &z);
		trace->wrong[k] += z != trace->truth[c];
		if (c == trace->shown)
			keep(trace, sample->learner, k, &view->field, z);
	}
	trace->seen[k] += sample->count;
	return SL_OK;
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
