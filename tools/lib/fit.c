#include "tools/lib/fit.h"

#include <math.h>

static struct sl_line fit(const double *x, const double *y, size_t count, double (*map)(double))
{
	double mx = 0, my = 0, xx = 0, xy = 0;
	if (count < SL_FIT_LEAST)
		return (struct sl_line){(double)NAN, (double)NAN};
	for (size_t i = 0; i < count; i++) {
		mx += map(x[i]) / (double)count;
		my += map(y[i]) / (double)count;
	}
	for (size_t i = 0; i < count; i++) {
		xx += (map(x[i]) - mx) * (map(x[i]) - mx);
		xy += (map(x[i]) - mx) * (map(y[i]) - my);
	}
	return (struct sl_line){xy / xx, my - xy / xx * mx};
}

static double same(double value)
{
	return value;
}

struct sl_line sl_fit_line(const double *x, const double *y, size_t count)
{
	return fit(x, y, count, same);
}

double sl_fit_off(const double *x, const double *y, size_t count)
{
	struct sl_line line = sl_fit_line(x, y, count);
	double most = count < SL_FIT_LEAST ? (double)NAN : 0;
	for (size_t i = 0; i < count; i++)
		most = fmax(most, fabs(line.intercept + line.slope * x[i] - y[i]) / y[i]);
	return most;
}

double sl_fit_exponent(const double *x, const double *y, size_t count)
{
	return fit(x, y, count, log).slope;
}
