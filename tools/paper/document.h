/* document.h - report.md and figures.gp: sections with text, and gnuplot commands that draw a figure from its
 * CSV file.
 *
 * A figure is a grid of panels. After sl_document_panel and its marks the caller writes one `plot` command to
 * r->plots.
 */
#pragma once

#include "tools/paper/reproduce.h"

void sl_document_heading(struct sl_paper *r, const char *text);
void sl_document_text(struct sl_paper *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Name a CSV file that no figure is drawn from. */
void sl_document_data(struct sl_paper *r, const char *csv);

/* Begin the figure NAME.svg, drawn from NAME.csv. */
void sl_document_figure(struct sl_paper *r, const char *name, uint32_t rows, uint32_t columns);
/* Begin the next panel; `logarithmic` names its logarithmic axes: "", "x", "y" or "xy". */
void sl_document_panel(struct sl_paper *r, const char *title, const char *x, const char *y,
		       const char *logarithmic);
/* Draw a thin line across the panel at `at` on `axis` ('x' or 'y'), with a label. */
void sl_document_mark(struct sl_paper *r, char axis, double at, const char *label, ...)
	__attribute__((format(printf, 4, 5)));
/* End the figure; the caption is Markdown. */
void sl_document_caption(struct sl_paper *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Write figures.gp, if there is a figure, and report.md: `top`, then the sections. */
int sl_document_write(struct sl_paper *r, const char *top, struct sl_error *error);
/* Run gnuplot in the folder of the report. Without it, or if it fails, say on standard error how to draw the
 * figures. */
void sl_document_draw(struct sl_paper *r);

int sl_document_open(struct sl_paper *r, struct sl_error *error);
void sl_document_close(struct sl_paper *r);
