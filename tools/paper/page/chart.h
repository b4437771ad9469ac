/* chart.h - a line chart as inline SVG: series of points in, text out. Pure.
 *
 *      title
 *      what y is
 *      |     mark            .---- label of a line, beside its end
 *      |  ____|_____________/
 *      |_/____|______________
 *       what x is
 *
 * Lines and letters have classes, not colours: those are the page's style sheet's (page.h), which knows
 * light, dark and paper. Points that the scale cannot show (not finite; 0 on a logarithmic one) interrupt
 * their line.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum sl_pen {
	SL_PEN_1, /* six colours, each with dashes of its own */
	SL_PEN_2,
	SL_PEN_3,
	SL_PEN_4,
	SL_PEN_5,
	SL_PEN_6,
	SL_PEN_FAINT, /* one of very many */
	SL_PEN_TRUTH, /* what it ought to be: dashed, the colour of the text */
};

struct sl_series {
	const char *label; /* NULL: none */
	const double *x, *y;
	uint32_t count;
	enum sl_pen pen;
	bool dots; /* the points themselves, without a line */
};

/* A thin line across the chart, with a word. */
struct sl_mark {
	bool level; /* at a y; else at an x */
	double at;
	const char *label;
};

struct sl_axis {
	const char *label;
	bool log;
	double low, high; /* low < high: these; else what the points take */
};

#define SL_CHART_WIDTH 360u
#define SL_CHART_HEIGHT 240u

struct sl_chart {
	const char *title;
	uint32_t width, height; /* 0: the usual */
	struct sl_axis x, y;
	const struct sl_series *series;
	uint32_t series_count;
	const struct sl_mark *marks;
	uint32_t mark_count;
};

void sl_page_chart_write(const struct sl_chart *chart, FILE *out);
