#include "tools/lib/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "common/mixing/engine.h"
#include "daemon/runtime/streams.h"
#include "tools/lib/terminal.h"

#define BAR_BYTES 512u
#define REMARKS_BYTES 128u
#define GAUGE_LEAST 8u
#define GAUGE_MOST 40u

/* 80 columns; the megabytes are those that all learners sent. */
#define COLUMNS "%5s%9s%8s%8s%10s%9s%10s%10s  %s"
#define CELL_BYTES 32u

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
	sl_streams_flush(progress->out);
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
	sl_streams_flush(progress->out);
}

static const char *error_name(const struct sl_progress *progress)
{
	return progress->loss ? "loss" : "MSE";
}

static double error_of(const struct sl_progress *progress, const struct sl_round_row *row)
{
	return progress->loss ? sl_round_table_metric(row, "loss") : row->mse;
}

void sl_progress_header(struct sl_progress *progress)
{
	sl_progress_line(progress, COLUMNS, "round", "learners", "edges", "steps", error_name(progress),
			 "train s", "aggreg. s", "MB", "mean");
}

/* Append to the remarks of a row, separated by commas. */
__attribute__((format(printf, 2, 3))) static void remark(char text[static REMARKS_BYTES], const char *format,
							 ...)
{
	size_t used = strlen(text);
	va_list args;
	used += (size_t)snprintf(text + used, REMARKS_BYTES - used, ", ");
	va_start(args, format);
	vsnprintf(text + used, REMARKS_BYTES - used, format, args);
	va_end(args);
}

/* Write ", forest, clamped 47,000, rounded 2, 1 absent": the engine where it is not the default, and what is
 * out of the ordinary. */
static void write_remarks(const struct sl_round_row *row, char text[static REMARKS_BYTES])
{
	char clamped[SL_THOUSANDS_BYTES];
	*text = '\0';
	if (!isnan(row->mu))
		remark(text, "%s with mu %.6f", row->mixing, row->mu);
	else if (*row->mixing != '\0' && strcmp(row->mixing, sl_engine_name(SL_ENGINE_EXACT)) != 0)
		remark(text, "%s", row->mixing);
	sl_terminal_thousands(row->clamped, clamped);
	if (row->clamped > 0)
		remark(text, "clamped %s", clamped);
	if (row->rounded > 0)
		remark(text, "rounded %llu", (unsigned long long)row->rounded);
	if (sl_round_table_missing(row) > 0)
		remark(text, "%u absent", sl_round_table_missing(row));
}

/* Write a number, or "-" where it is not known. */
__attribute__((format(printf, 3, 4))) static const char *cell(char text[static CELL_BYTES], bool known,
							      const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(text, CELL_BYTES, known ? format : "-", args);
	va_end(args);
	return text;
}

void sl_progress_round(struct sl_progress *progress, const struct sl_round_row *row)
{
	char c[8][CELL_BYTES], remarks[REMARKS_BYTES], mean[CELL_BYTES + REMARKS_BYTES];
	double error = error_of(progress, row);
	bool known = row->edges > 0; /* else only as a result in the folders */
	write_remarks(row, remarks);
	snprintf(mean, sizeof mean, "%s%s",
		 !row->exact	 ? "NOT EXACT"
		 : row->verified ? "exact"
				 : "same",
		 remarks);
	sl_progress_line(progress, COLUMNS, cell(c[0], true, "%u", row->round),
			 cell(c[1], true, "%u", row->learners), cell(c[2], known, "%u", row->edges),
			 cell(c[3], known, "%llu", (unsigned long long)row->steps),
			 cell(c[4], !isnan(error), "%.6f", error), cell(c[5], known, "%.2f", row->train_s),
			 cell(c[6], known, "%.2f", row->aggregate_s),
			 cell(c[7], known, "%.2f", (double)row->bytes / 1e6), mean);
}

/* Return the verdict on the models of all rounds. Without `verified`, it rests on their reports. */
static const char *verdict(const struct sl_round_table *rounds, uint32_t shown, bool verified)
{
	bool complete = shown == rounds->most;
	for (uint32_t i = rounds->first; i < shown; i++)
		if (!rounds->rows[i].exact)
			return complete ? "NOT ALL EXACT" : "not complete and NOT ALL EXACT";
	bool noisy = shown > rounds->first && sl_values_are_noisy(rounds->rows[shown - 1].values);
	return !complete  ? "not complete"
	       : noisy	  ? "all the same, with the noise of dp"
	       : verified ? "all exact"
			  : "all the same (exact by construction; --verify recomputes it)";
}

static void say_clamped(struct sl_progress *progress, const struct sl_round_table *rounds, uint32_t shown,
			double clipping_range)
{
	char text[SL_THOUSANDS_BYTES], to[32] = ""; /* auto: another range in each round */
	uint64_t clamped = 0;
	uint32_t count = 0;
	for (uint32_t i = rounds->first; i < shown; i++) {
		clamped += rounds->rows[i].clamped;
		count += rounds->rows[i].clamped > 0;
	}
	sl_terminal_thousands(clamped, text);
	if (clipping_range > 0)
		snprintf(to, sizeof to, " to %g", clipping_range);
	if (clamped > 0)
		sl_progress_line(progress, "clamped %s parameter%s%s in %u round%s; the means lack this",
				 text, clamped == 1 ? "" : "s", to, count, count == 1 ? "" : "s");
}

/* Print what the rounds cost, so that settings can be compared. */
static void say_cost(struct sl_progress *progress, const struct sl_round_table *rounds, uint32_t shown)
{
	uint64_t steps = 0, bytes = 0;
	for (uint32_t i = rounds->first; i < shown; i++) {
		const struct sl_round_row *row = &rounds->rows[i];
		steps = row->steps > steps ? row->steps : steps;
		bytes = row->bytes_most > bytes ? row->bytes_most : bytes;
	}
	if (bytes > 0)
		sl_progress_line(progress,
				 "cost of a round: at most %llu exchange%s, and %.2f MB sent by one learner",
				 (unsigned long long)steps, steps == 1 ? "" : "s", (double)bytes / 1e6);
}

void sl_progress_total(struct sl_progress *progress, const struct sl_round_table *rounds, uint32_t shown,
		       double clipping_range, bool verified)
{
	const struct sl_round_row *rows = rounds->rows;
	char mse[64] = "", from[32] = "";
	if (shown <= rounds->first)
		return;
	const struct sl_round_row *first = &rows[rounds->first], *last = &rows[shown - 1];
	double before = error_of(progress, first), after = error_of(progress, last);
	if (last != first && !isnan(before) && !isnan(after))
		snprintf(mse, sizeof mse, "; %s %s%.6f -> %.6f", error_name(progress),
			 rounds->first > 0 ? "of these rounds " : "", before, after);
	else if (!isnan(after))
		snprintf(mse, sizeof mse, "; %s %.6f", error_name(progress), after);
	if (rounds->first > 0)
		snprintf(from, sizeof from, "rounds %u to ", rounds->first + 1);
	sl_progress_line(progress, "%s%u of %u%s, %s%s", from, shown, rounds->most,
			 rounds->first > 0   ? ""
			 : rounds->most == 1 ? " round"
					     : " rounds",
			 verdict(rounds, shown, verified), mse);
	say_clamped(progress, rounds, shown, clipping_range);
	say_cost(progress, rounds, shown);
}

/* "[#####-----] " of `cells` cells. */
static void gauge(double part, size_t cells, char *out)
{
	size_t full = (size_t)((part < 0 ? 0 : part > 1 ? 1 : part) * (double)cells);
	char *at = out;
	*at++ = '[';
	memset(at, '#', full);
	memset(at + full, '-', cells - full);
	at += cells;
	*at++ = ']';
	*at = '\0';
}

double sl_progress_left_s(struct sl_pace *pace, double done, double all)
{
	uint64_t now = uv_hrtime();
	if (pace->since_ns == 0)
		*pace = (struct sl_pace){now, done};
	double past = done - pace->done;
	return past <= 0 || done >= all ? 0 : (double)(now - pace->since_ns) / 1e9 * (all - done) / past;
}

/* ", 40 s left", ", 3 min left", ", 2 h left" */
static void write_left(double s, char *text, size_t size)
{
	bool minutes = s >= 100, hours = s >= 6000;
	*text = '\0';
	if (s > 0)
		snprintf(text, size, "%.0f %s left",
			 hours	   ? s / 3600
			 : minutes ? s / 60
				   : ceil(s),
			 hours	   ? "h"
			 : minutes ? "min"
				   : "s");
}

void sl_progress_bar_format(const struct sl_bar *bar, size_t columns, char *text, size_t size)
{
	char left[96], cells[GAUGE_MOST + 4] = "", time_left[32],
					  note[sizeof bar->note + sizeof ", " + sizeof time_left];
	write_left(bar->left_s, time_left, sizeof time_left);
	snprintf(note, sizeof note, "%s%s%s", bar->note, *bar->note != '\0' && *time_left != '\0' ? ", " : "",
		 time_left);
	int head = snprintf(left, sizeof left, "round %u of %u  %-8s %3.0f%% ", bar->round, bar->rounds,
			    bar->phase, 100 * bar->part);
	size_t used = (size_t)head + strlen(note) + 1, most = columns - 1;
	if (used + GAUGE_LEAST + 2 <= most) {
		size_t room = most - used - 2;
		gauge(bar->part, room < GAUGE_MOST ? room : GAUGE_MOST, cells);
	}
	snprintf(text, size, "%s%s%s%s", left, cells, *cells != '\0' ? " " : "", note);
	sl_terminal_cut(text, most);
}

void sl_progress_bar(struct sl_progress *progress, const struct sl_bar *bar)
{
	char text[BAR_BYTES];
	if (!progress->live)
		return;
	size_t width = sl_terminal_width(progress->out);
	sl_progress_bar_format(bar, width < 8 ? 8 : width, text, sizeof text);
	fprintf(progress->out, "\r%s\033[K", text);
	sl_streams_flush(progress->out);
	progress->shown = true;
}
