/* progress.h - what a run shows while it goes on: a line per round, and on a terminal a bar below that is
 * rewritten in place.
 *
 * In a pipe there is no bar and no control character: plain lines, each flushed. Borrows its stream.
 */
#pragma once

#include <stdio.h>

#include "tools/lib/round_table.h"

struct sl_progress {
	FILE *out;
	bool live;  /* a terminal that can rewrite a line */
	bool shown; /* a bar stands in the last line */
	bool loss; /* the trainer is an application: show its loss in place of the error on held-out images */
};

struct sl_bar {
	uint32_t round, rounds;
	const char *phase; /* "MIX" */
	double part;	   /* 0..1 of the phase */
	char note[64];	   /* "8 of 10 learners" */
	double left_s;	   /* time left; 0: not known */
};

/* What the time left is estimated from: the pace since the first call. Begins as {0}. */
struct sl_pace {
	uint64_t since_ns;
	double done;
};
/* Return the seconds left when `done` of `all` is done, at the pace since the first call; 0: not known yet.
 */
double sl_progress_left_s(struct sl_pace *pace, double done, double all);

void sl_progress_open(struct sl_progress *progress, FILE *out, bool may_live);

/* Print a line of text, broken between words where the terminal ends. A bar is cleared first; the next
 * sl_progress_bar draws it again. */
void sl_progress_line(struct sl_progress *progress, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The table of rounds. A round's last column says "exact" if the mean was recomputed, "same" if all learners
 * committed the same within the margin, else "NOT EXACT"; remarks follow: an engine other than the default,
 * clamped and absent. */
void sl_progress_header(struct sl_progress *progress);
void sl_progress_round(struct sl_progress *progress, const struct sl_round_row *row);

/* Print the last lines: the result of the first `shown` rounds, and the parameters that were clamped. */
void sl_progress_total(struct sl_progress *progress, const struct sl_round_table *rounds, uint32_t shown,
		       double clipping_range, bool verified);

/* Draw the bar, cut between words where the terminal ends; in a pipe, do nothing. */
void sl_progress_bar(struct sl_progress *progress, const struct sl_bar *bar);
void sl_progress_clear(struct sl_progress *progress);

/* The bar as text of fewer than `width` characters (width >= 8). For sl_progress_bar, and for tests. */
void sl_progress_bar_format(const struct sl_bar *bar, size_t width, char *text, size_t size);
