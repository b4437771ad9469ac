#include "tools/dev/bench/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sl_figure_add(struct sl_figure *figure, double sample)
{
	if (figure->count < SL_SAMPLES_MOST)
		figure->samples[figure->count++] = sample;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

struct sl_spread sl_figure_spread(const struct sl_figure *figure)
{
	double sorted[SL_SAMPLES_MOST];
	uint32_t n = figure->count;
	if (n == 0)
		return (struct sl_spread){NAN, NAN, NAN};
	memcpy(sorted, figure->samples, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, ascending);
	return (struct sl_spread){sorted[0], (sorted[(n - 1) / 2] + sorted[n / 2]) / 2, sorted[n - 1]};
}

json_t *sl_figure_json(const struct sl_figure *figure)
{
	struct sl_spread s = sl_figure_spread(figure);
	json_t *samples = json_array();
	if (figure->count == 0) {
		json_decref(samples);
		return json_null();
	}
	for (uint32_t i = 0; i < figure->count; i++)
		json_array_append_new(samples, json_real(figure->samples[i]));
	return json_pack("{s:s, s:s, s:f, s:f, s:f, s:o}", "name", figure->name, "unit", figure->unit, "min",
			 s.least, "median", s.median, "max", s.most, "samples", samples);
}
