/* What rounding leaves out of an update (ROUND.md §4.3 Limbs and ranges). */
#include <math.h>
#include <string.h>

#include "common/field/encoding.h"
#include "common/field/encoding_scale.h"
#include "common/field/kernels/table.h"

static void rest_of_floats(const struct sl_grid *g, const float *theta, const float *base, size_t count,
			   float *rest)
{
	const struct sl_updates updates = {
		.base = base, .count = count, .step = ldexp(1, g->step), .edge = (double)g->edge};
	sl_kernels()->rest(&updates, theta, rest);
}

static void rest_of_doubles(const struct sl_grid *g, const double *theta, const double *base, size_t count,
			    double *rest)
{
	double scale = ldexp(1, -g->step), step = ldexp(1, g->step), edge = (double)g->edge;
	for (size_t l = 0; l < count; l++) {
		double u = theta[l] - base[l], steps = rint(u * scale);
		rest[l] = fabs(steps) <= edge ? u - steps * step : 0;
	}
}

void sl_encoding_rest_part(const struct sl_encoding *encoding, const struct sl_tensors *tensors,
			   const void *model, const void *base, size_t n, size_t first, size_t count,
			   void *rest)
{
	struct sl_tensor_run run = {.apart = true};
	for (sl_tensors_seek(tensors, first, &run);
	     run.first + run.count < first + count && sl_tensors_next(tensors, n, &run);) {
		struct sl_tensor_run some = sl_tensors_part(&run, first, count);
		const void *theta = sl_encoding_from(model, some.offset),
			   *from = sl_encoding_from(base, some.offset);
		void *to = (uint8_t *)rest + some.offset;
		if (sl_encoding_is_exact(encoding, run.tensor - 1)) {
			memset(to, 0, some.count * sl_tensors_dtype_bytes(some.dtype));
			continue;
		}
		struct sl_grid g = sl_encoding_grid(encoding, run.tensor - 1);
		if (some.dtype == SL_FLOAT32)
			rest_of_floats(&g, theta, from, some.count, to);
		else
			rest_of_doubles(&g, theta, from, some.count, to);
	}
}

static void add_floats(float *theta, const float *rest, size_t count)
{
	for (size_t l = 0; l < count; l++) {
		float sum = theta[l] + rest[l];
		theta[l] = isfinite(sum) ? sum : theta[l];
	}
}

static void add_doubles(double *theta, const double *rest, size_t count)
{
	for (size_t l = 0; l < count; l++) {
		double sum = theta[l] + rest[l];
		theta[l] = isfinite(sum) ? sum : theta[l];
	}
}

void sl_encoding_rest_add(const struct sl_tensors *tensors, void *model, const void *rest, size_t n)
{
	for (struct sl_tensor_run run = {0}; sl_tensors_next(tensors, n, &run);) {
		void *theta = (uint8_t *)model + run.offset;
		const void *from = sl_encoding_from(rest, run.offset);
		if (run.dtype == SL_FLOAT32)
			add_floats(theta, from, run.count);
		else if (run.dtype == SL_FLOAT64) /* int64 are exact */
			add_doubles(theta, from, run.count);
	}
}

double sl_encoding_change(const float *a, const float *b, size_t count)
{
	return sl_kernels()->change(a, b, count);
}
