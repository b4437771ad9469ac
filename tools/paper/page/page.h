/* page.h - one self-contained HTML page: text, tables and charts, for light and dark screens and for paper.
 *
 * Nothing is fetched from anywhere: the style sheet is inside, there are no scripts and the fonts are the
 * reader's own. Texts come as they are; what means something to HTML is written as entities. Pure: writes to
 * a borrowed stream.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

void sl_page_open(FILE *out, const char *title);
void sl_page_close(FILE *out);

void sl_page_heading(FILE *out, const char *id, const char *text);
void sl_page_text(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Charts side by side, between open and close; then what they show, and the file that has their numbers (or
 * NULL). */
void sl_page_figure_open(FILE *out);
void sl_page_figure_close(FILE *out, const char *csv, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

enum sl_cell { SL_CELL_TEXT, SL_CELL_NUMBER, SL_CELL_GOOD, SL_CELL_BAD };

/* A table: its heads, then rows of as many cells. */
void sl_page_table_open(FILE *out, const char *const *heads, uint32_t columns);
void sl_page_row(FILE *out);
void sl_page_cell(FILE *out, enum sl_cell kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void sl_page_table_close(FILE *out, const char *csv);
