/* fit.h - a straight line or a power through measured points, by least squares. Pure.
 *
 * Any two points lie on a line: a fit of fewer than SL_FIT_LEAST points says nothing, and all its numbers are
 * NAN. */
#pragma once

#include <stddef.h>

#define SL_FIT_LEAST 3u

/* y = intercept + slope x; needs two different x. */
struct sl_line {
	double slope, intercept;
};
struct sl_line sl_fit_line(const double *x, const double *y, size_t count);
/* Return the largest distance of a point from that line, as a part of its y; all y above 0. */
double sl_fit_off(const double *x, const double *y, size_t count);

/* Return the e of y = c x^e, fitted to the logarithms; all values above 0. */
double sl_fit_exponent(const double *x, const double *y, size_t count);
