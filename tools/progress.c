#include "tools/progress.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_USUAL 80u
#define WIDTH_MOST 512u
#define GAUGE_LEAST 8u
#define GAUGE_MOST 40u

void sl_progress_open(struct sl_progress *progress, FILE *out, bool may_live)
{
	const char *term = getenv("TERM");
	bool able = term != NULL && *term != '\0' && strcmp(term, "dumb") != 0;
	*progress = (struct sl_progress){.out = out, .live = may_live && able && isatty(fileno(out))};
}

/* Asked each time: a window changes its width. */
static size_t width(const struct sl_progress *p)
{
	struct winsize size;
	if (ioctl(fileno(p->out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return WIDTH_USUAL;
	return size.ws_col < WIDTH_MOST ? size.ws_col : WIDTH_MOST;
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
	sl_progress_clear(progress);
	va_start(args, format);
	vfprintf(progress->out, format, args);
	va_end(args);
	fputc('\n', progress->out);
	fflush(progress->out);
}

void sl_progress_header(struct sl_progress *progress)
{
	sl_progress_line(progress, "%5s %8s %7s %9s %7s %9s %8s %9s  %s", "round", "learners", "edges", "mu",
			 "K", "MSE", "train s", "aggreg. s", "mean");
}

void sl_progress_round(struct sl_progress *progress, const struct sl_round_row *row)
{
	sl_progress_line(progress, "%5u %8u %7u %9.6f %7llu %9.6f %8.2f %9.2f  %s", row->round, row->learners,
			 row->edges, row->mu, (unsigned long long)row->k, row->mse, row->train_s,
			 row->aggregate_s, row->exact ? "exact" : "NOT EXACT");
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

size_t sl_bar_format(const struct sl_bar *bar, size_t columns, char *text, size_t size)
{
	char left[96], cells[GAUGE_MOST + 4] = "";
	int head = snprintf(left, sizeof left, "round %u of %u  %-8s %3.0f%% ", bar->round, bar->rounds,
			    bar->phase, 100 * bar->part);
	size_t used = (size_t)head + strlen(bar->note) + 1,
	       most = columns - 1 < size - 1 ? columns - 1 : size - 1;
	if (used + GAUGE_LEAST + 2 <= most) {
		size_t room = most - used - 2;
		gauge(bar->part, room < GAUGE_MOST ? room : GAUGE_MOST, cells);
	}
	int n = snprintf(text, size, "%s%s%s%s", left, cells, *cells != '\0' ? " " : "", bar->note);
	if ((size_t)n > most)
		text[most] = '\0';
	return strlen(text);
}

void sl_progress_bar(struct sl_progress *progress, const struct sl_bar *bar)
{
	char text[WIDTH_MOST];
	if (!progress->live)
		return;
	sl_bar_format(bar, width(progress), text, sizeof text);
	fprintf(progress->out, "\r%s\033[K", text);
	fflush(progress->out);
	progress->shown = true;
}
