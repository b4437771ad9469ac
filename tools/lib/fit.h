/* fit.h - what a few measurements come to: a straight line, a power. Pure. */
#pragma once

#include <stddef.h>

/* y = intercept + slope x by least squares; needs two different x. */
struct sl_line {
	double slope, intercept;
};
struct sl_line sl_fit_line(const double *x, const double *y, size_t count);
/* How far from that line a point is at most, as a part of its y; all y above 0. */
double sl_fit_off(const double *x, const double *y, size_t count);

/* The e of y = c x^e, by least squares of the logarithms; all above 0. */
double sl_fit_exponent(const double *x, const double *y, size_t count);
