#include "tools/paper/page/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/paper/page/scale.h"
#include "tools/paper/page/text.h"
#include "tools/paper/page/thin.h"

/* All in pixels of a chart of the usual size. */
#define LETTER 6.1 /* width of one, at the size that the style sheet gives labels */
#define LINE 13.0  /* height of one */
#define TOP 38.0   /* title and what y is */
#define BOTTOM 36.0
#define GAP 6.0
#define TICK_GAP 10.0 /* least space between two numbers on the x axis */
#define THIN_TENTHS 3.0
#define LABELS_MOST 16u
#define BROAD 600u     /* a chart this wide takes a row of its own */
#define NEAR_EDGE 0.97 /* of the width: a line that ends beyond has its label outside */

struct drawing {
	const struct sl_chart *chart;
	FILE *out;
	struct sl_scale x, y;
	double left, right, top, bottom; /* of the plot */
};

/* ---- what is shown, and where ---- */

static void stretch(const struct sl_axis *axis, double value, double *low, double *high)
{
	if (!isfinite(value) || (axis->log && value <= 0))
		return;
	*low = fmin(*low, value);
	*high = fmax(*high, value);
}

static struct sl_scale scale_of(const struct sl_chart *chart, bool level)
{
	const struct sl_axis *axis = level ? &chart->y : &chart->x;
	double low = INFINITY, high = -INFINITY;
	if (axis->low < axis->high)
		return (struct sl_scale){axis->log, axis->low, axis->high};
	for (uint32_t s = 0; s < chart->series_count; s++)
		for (uint32_t i = 0; i < chart->series[s].count; i++)
			if (sl_page_scale_takes(&(struct sl_scale){.log = chart->x.log},
						chart->series[s].x[i]))
				stretch(axis, level ? chart->series[s].y[i] : chart->series[s].x[i], &low,
					&high);
	for (uint32_t m = 0; m < chart->mark_count; m++)
		if (chart->marks[m].level == level)
			stretch(axis, chart->marks[m].at, &low, &high);
	return sl_page_scale_of(axis->log, low, high, level);
}

static double width_of(const char *text)
{
	return LETTER * (double)sl_page_text_letters(text, strlen(text));
}

static double widest_tick(const struct sl_scale *scale)
{
	double ticks[SL_TICKS_MOST], widest = 0;
	char text[SL_TICK_BYTES];
	uint32_t count = sl_page_scale_ticks(scale, ticks);
	for (uint32_t i = 0; i < count; i++) {
		sl_page_scale_tick_text(scale, ticks[i], text);
		widest = fmax(widest, width_of(text));
	}
	return widest;
}

static bool shown(const struct drawing *d, const struct sl_series *s, uint32_t i)
{
	return sl_page_scale_takes(&d->x, s->x[i]) && sl_page_scale_takes(&d->y, s->y[i]);
}

/* How many points there are up to the last that is shown. */
static uint32_t end_of(const struct drawing *d, const struct sl_series *s)
{
	uint32_t count = s->count;
	while (count > 0 && !shown(d, s, count - 1))
		count--;
	return count;
}

/* Of the labels whose lines end near the right edge: the others find room inside. */
static double widest_label(const struct drawing *d)
{
	double widest = 0;
	for (uint32_t i = 0; i < d->chart->series_count; i++) {
		const struct sl_series *s = &d->chart->series[i];
		uint32_t end = end_of(d, s);
		if (s->label != NULL && end > 0 && sl_page_scale_place(&d->x, s->x[end - 1]) > NEAR_EDGE)
			widest = fmax(widest, width_of(s->label) + GAP);
	}
	return widest;
}

static void lay_out(struct drawing *d)
{
	double width = d->chart->width ? d->chart->width : SL_CHART_WIDTH;
	double height = d->chart->height ? d->chart->height : SL_CHART_HEIGHT;
	d->x = scale_of(d->chart, false);
	d->y = scale_of(d->chart, true);
	d->left = widest_tick(&d->y) + 2 * GAP;
	d->right = width - fmax(widest_label(d), 3 * GAP) - GAP;
	d->top = TOP;
	d->bottom = height - BOTTOM;
}

static double at_x(const struct drawing *d, double value)
{
	return d->left + sl_page_scale_place(&d->x, value) * (d->right - d->left);
}

static double at_y(const struct drawing *d, double value)
{
	return d->bottom - sl_page_scale_place(&d->y, value) * (d->bottom - d->top);
}

static void write_text(const struct drawing *d, const char *class, const char *anchor, double x, double y,
		       const char *text)
{
	fprintf(d->out, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, anchor, x, y);
	sl_page_text_markup(d->out, text);
	fputs("</text>", d->out);
}

static void write_line(const struct drawing *d, const char *class, double x1, double y1, double x2, double y2)
{
	fprintf(d->out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>", class, x1, y1, x2, y2);
}

/* ---- axes ---- */

static void write_y_axis(const struct drawing *d)
{
	double ticks[SL_TICKS_MOST];
	char text[SL_TICK_BYTES];
	uint32_t count = sl_page_scale_ticks(&d->y, ticks);
	for (uint32_t i = 0; i < count; i++) {
		double y = at_y(d, ticks[i]);
		sl_page_scale_tick_text(&d->y, ticks[i], text);
		write_line(d, "grid", d->left, y, d->right, y);
		write_text(d, "tick", "end", d->left - GAP, y + 4, text);
	}
	write_text(d, "what", "start", GAP, d->top - 8, d->chart->y.label);
}

static void write_x_axis(const struct drawing *d)
{
	double ticks[SL_TICKS_MOST], free_from = -INFINITY;
	char text[SL_TICK_BYTES];
	uint32_t count = sl_page_scale_ticks(&d->x, ticks);
	for (uint32_t i = 0; i < count; i++) {
		double x = at_x(d, ticks[i]);
		sl_page_scale_tick_text(&d->x, ticks[i], text);
		write_line(d, "axis", x, d->bottom, x, d->bottom + 4);
		if (x - width_of(text) / 2 < free_from)
			continue;
		write_text(d, "tick", "middle", x, d->bottom + 15, text);
		free_from = x + width_of(text) / 2 + TICK_GAP;
	}
	write_line(d, "axis", d->left, d->bottom, d->right, d->bottom);
	write_text(d, "what", "middle", (d->left + d->right) / 2, d->bottom + 30, d->chart->x.label);
}

/* ---- lines and dots ---- */

static void write_path(const struct drawing *d, struct sl_point *points, uint32_t count)
{
	count = sl_page_thin(points, count, THIN_TENTHS);
	for (uint32_t i = 0; i < count; i++) {
		struct sl_point p = points[i], before = i > 0 ? points[i - 1] : (struct sl_point){0, 0};
		fprintf(d->out,
			i == 0		 ? "M%d %d"
			: i == 1	 ? "l%d %d"
			: p.x < before.x ? "%d %d"
					 : " %d %d",
			p.x - before.x, p.y - before.y);
	}
}

static struct sl_point point_of(const struct drawing *d, const struct sl_series *s, uint32_t i)
{
	return (struct sl_point){(int32_t)lrint(10 * at_x(d, s->x[i])),
				 (int32_t)lrint(10 * at_y(d, s->y[i]))};
}

static void write_stretches(const struct drawing *d, const struct sl_series *s, struct sl_point *points)
{
	fprintf(d->out, "<path class=\"pen pen%d\" d=\"", (int)s->pen);
	for (uint32_t i = 0, count = 0; i <= s->count; i++) {
		if (i < s->count && shown(d, s, i)) {
			points[count++] = point_of(d, s, i);
			continue;
		}
		write_path(d, points, count);
		count = 0;
	}
	fputs("\"/>", d->out);
}

static void write_dots(const struct drawing *d, const struct sl_series *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (shown(d, s, i)) {
			struct sl_point p = point_of(d, s, i);
			fprintf(d->out, "<circle class=\"dot dot%d\" cx=\"%d\" cy=\"%d\" r=\"28\"/>",
				(int)s->pen, p.x, p.y);
		}
}

static void write_series(const struct drawing *d)
{
	uint32_t longest = 1;
	for (uint32_t s = 0; s < d->chart->series_count; s++)
		longest = d->chart->series[s].count > longest ? d->chart->series[s].count : longest;
	struct sl_point *points = reallocarray(NULL, longest, sizeof *points);
	if (points == NULL)
		abort();
	fputs("<g transform=\"scale(.1)\">", d->out);
	for (uint32_t s = 0; s < d->chart->series_count; s++)
		if (d->chart->series[s].dots)
			write_dots(d, &d->chart->series[s]);
		else
			write_stretches(d, &d->chart->series[s], points);
	fputs("</g>", d->out);
	free(points);
}

/* ---- words in the plot ---- */

static void write_mark(const struct drawing *d, const struct sl_mark *m, uint32_t before)
{
	if (m->level) {
		double y = at_y(d, m->at);
		write_line(d, "mark", d->left, y, d->right, y);
		write_text(d, "note", "start", d->left + 3, y - 4, m->label);
		return;
	}
	double x = at_x(d, m->at), place = sl_page_scale_place(&d->x, m->at);
	bool leftward = x + width_of(m->label) + GAP > d->right;
	if (place < 0 || place > 1)
		return;
	write_line(d, "mark", x, d->top, x, d->bottom);
	write_text(d, "note", leftward ? "end" : "start", leftward ? x - 3 : x + 3,
		   d->top + 10 + LINE * before, m->label);
}

struct label {
	const struct sl_series *series;
	double x, y;
};

static int higher_first(const void *a, const void *b)
{
	double x = ((const struct label *)a)->y, y = ((const struct label *)b)->y;
	return (x > y) - (x < y);
}

/* Whether two labels would meet if they were at one height. */
static bool abreast(const struct label *a, const struct label *b)
{
	return a->x < b->x + width_of(b->series->label) && b->x < a->x + width_of(a->series->label);
}

/* Down from those above, then up from the bottom. */
static void make_room(const struct drawing *d, struct label *labels, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		for (uint32_t j = 0; j < i; j++)
			if (abreast(&labels[i], &labels[j]))
				labels[i].y = fmax(labels[i].y, labels[j].y + LINE);
	for (uint32_t i = count; i-- > 0;) {
		labels[i].y = fmin(labels[i].y, d->bottom - LETTER);
		for (uint32_t j = i + 1; j < count; j++)
			if (abreast(&labels[i], &labels[j]))
				labels[i].y = fmin(labels[i].y, labels[j].y - LINE);
	}
}

/* Beside the last point of each line. */
static uint32_t place_labels(const struct drawing *d, struct label *labels)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < d->chart->series_count && count < LABELS_MOST; i++) {
		const struct sl_series *s = &d->chart->series[i];
		uint32_t end = end_of(d, s);
		if (s->label == NULL || end == 0)
			continue;
		double place = sl_page_scale_place(&d->x, s->x[end - 1]),
		       x = place > NEAR_EDGE ? d->right : at_x(d, s->x[end - 1]);
		labels[count++] = (struct label){s, x + GAP, at_y(d, s->y[end - 1])};
	}
	qsort(labels, count, sizeof *labels, higher_first);
	make_room(d, labels, count);
	return count;
}

static void write_labels(const struct drawing *d)
{
	struct label labels[LABELS_MOST];
	char class[16];
	uint32_t count = place_labels(d, labels);
	for (uint32_t i = 0; i < count; i++) {
		snprintf(class, sizeof class, "name ink%d", (int)labels[i].series->pen);
		write_text(d, class, "start", labels[i].x, labels[i].y + 4, labels[i].series->label);
	}
}

void sl_page_chart_write(const struct sl_chart *chart, FILE *out)
{
	struct drawing d = {.chart = chart, .out = out};
	uint32_t width = chart->width ? chart->width : SL_CHART_WIDTH;
	uint32_t height = chart->height ? chart->height : SL_CHART_HEIGHT;
	lay_out(&d);
	fprintf(out, "<svg%s viewBox=\"0 0 %u %u\" role=\"img\" aria-label=\"",
		width >= BROAD ? " class=\"broad\"" : "", width, height);
	sl_page_text_markup(out, chart->title);
	fputs("\">", out);
	write_text(&d, "title", "start", GAP, 13, chart->title);
	write_y_axis(&d);
	write_x_axis(&d);
	write_series(&d);
	for (uint32_t m = 0, upright = 0; m < chart->mark_count; m++) {
		write_mark(&d, &chart->marks[m], upright);
		upright += !chart->marks[m].level;
	}
	write_labels(&d);
	fputs("</svg>\n", out);
}
