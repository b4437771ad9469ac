#include "tools/progress.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/table.h"
#include "tools/terminal.h"

#define BAR_BYTES 512u
#define GAUGE_LEAST 8u
#define GAUGE_MOST 40u

enum { ROUND, LEARNERS, EDGES, MU, K, MSE, TRAIN, AGGREGATE, MEGABYTES, MEAN, COLUMNS };

/* 80 columns, as the usual terminal has; from 90 on the megabytes too, sent by all learners together. */
static const struct sl_column table[COLUMNS] = {
	[ROUND] = {"round", 5, 0, false},
	[LEARNERS] = {"learners", 9, 3, false},
	[EDGES] = {"edges", 8, 5, false},
	[MU] = {"mu", 10, 6, false},
	[K] = {"K", 8, 2, false},
	[MSE] = {"MSE", 10, 0, false},
	[TRAIN] = {"train s", 9, 4, false},
	[AGGREGATE] = {"aggreg. s", 10, 1, false},
	[MEGABYTES] = {"MB", 10, 7, false},
	[MEAN] = {"mean", 11, 0, true},
};

void sl_progress_open(struct sl_progress *progress, FILE *out, bool may_live)
{
	const char *term = getenv("TERM");
	bool able = term != NULL && *term != '\0' && strcmp(term, "dumb") != 0;
	*progress = (struct sl_progress){.out = out, .live = may_live && able && isatty(fileno(out))};
}

void sl_progress_clear(struct sl_progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", progress->out);
	progress->shown = false;
	fflush(progress->out);
}

void sl_progress_line(struct sl_progress *progress, const char *format, ...)
{
	va_list args;
	char *text = NULL;
	sl_progress_clear(progress);
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (text != NULL)
		sl_terminal_fill(progress->out, text, sl_terminal_width(progress->out));
	free(text);
	fflush(progress->out);
}

static void print_header(struct sl_progress *progress, uint32_t columns)
{
	char line[SL_TABLE_LINE_BYTES];
	progress->columns = columns;
	sl_table_header(table, COLUMNS, columns, line);
	sl_progress_line(progress, "%s", line);
}

void sl_progress_header(struct sl_progress *progress)
{
	print_header(progress, sl_table_kept(table, COLUMNS, sl_terminal_width(progress->out)));
}

static void fill_cells(const struct sl_round_row *row, char cells[COLUMNS][SL_CELL_BYTES])
{
	const char *mean = !row->exact ? "NOT EXACT" : row->verified ? "exact" : "same";
	snprintf(cells[ROUND], SL_CELL_BYTES, "%u", row->round);
	snprintf(cells[LEARNERS], SL_CELL_BYTES, "%u", row->learners);
	snprintf(cells[EDGES], SL_CELL_BYTES, "%u", row->edges);
	snprintf(cells[MU], SL_CELL_BYTES, "%.6f", row->mu);
	snprintf(cells[K], SL_CELL_BYTES, "%llu", (unsigned long long)row->k);
	snprintf(cells[MSE], SL_CELL_BYTES, "%.6f", row->mse);
	snprintf(cells[TRAIN], SL_CELL_BYTES, "%.2f", row->train_s);
	snprintf(cells[AGGREGATE], SL_CELL_BYTES, "%.2f", row->aggregate_s);
	snprintf(cells[MEGABYTES], SL_CELL_BYTES, "%.2f", (double)row->bytes / 1e6);
	snprintf(cells[MEAN], SL_CELL_BYTES, "%s", mean);
}

void sl_progress_round(struct sl_progress *progress, const struct sl_round_row *row)
{
	char cells[COLUMNS][SL_CELL_BYTES], line[SL_TABLE_LINE_BYTES], clamped[SL_THOUSANDS_BYTES];
	size_t width = sl_terminal_width(progress->out);
	uint32_t columns = sl_table_kept(table, COLUMNS, width);
	if (columns != progress->columns)
		print_header(progress, columns);
	fill_cells(row, cells);
	sl_table_line(table, COLUMNS, columns, cells, line);
	sl_thousands(row->clamped, clamped);
	bool fits = width == 0 || strlen(line) + strlen(", clamped ") + strlen(clamped) <= width;
	if (row->clamped == 0)
		sl_progress_line(progress, "%s", line);
	else
		sl_progress_line(progress, fits ? "%s, clamped %s" : "%s\n      clamped %s", line, clamped);
}

/* "[#####-----] " of `cells` cells. */
static size_t gauge(double part, size_t cells, char *out)
{
	size_t full = (size_t)((part < 0 ? 0 : part > 1 ? 1 : part) * (double)cells);
	char *at = out;
	*at++ = '[';
	memset(at, '#', full);
	memset(at + full, '-', cells - full);
	at += cells;
	*at++ = ']';
	*at = '\0';
	return (size_t)(at - out);
}

void sl_bar_format(const struct sl_bar *bar, size_t columns, char *text, size_t size)
{
	char left[96], cells[GAUGE_MOST + 4] = "";
	int head = snprintf(left, sizeof left, "round %u of %u  %-8s %3.0f%% ", bar->round, bar->rounds,
			    bar->phase, 100 * bar->part);
	size_t used = (size_t)head + strlen(bar->note) + 1, most = columns - 1;
	if (used + GAUGE_LEAST + 2 <= most) {
		size_t room = most - used - 2;
		gauge(bar->part, room < GAUGE_MOST ? room : GAUGE_MOST, cells);
	}
	snprintf(text, size, "%s%s%s%s", left, cells, *cells != '\0' ? " " : "", bar->note);
	sl_text_cut(text, most);
}

void sl_progress_bar(struct sl_progress *progress, const struct sl_bar *bar)
{
	char text[BAR_BYTES];
	if (!progress->live)
		return;
	size_t width = sl_terminal_width(progress->out);
	sl_bar_format(bar, width < 8 ? 8 : width, text, sizeof text);
	fprintf(progress->out, "\r%s\033[K", text);
	fflush(progress->out);
	progress->shown = true;
}
