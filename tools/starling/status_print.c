/* The state of the learners as a table of 80 columns. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/lib/command.h"
#include "tools/lib/table.h"
#include "tools/lib/terminal.h"
#include "tools/starling/group_folder.h"
#include "tools/starling/status.h"

#define WAIT_SHOWN_S 1.0 /* a shorter wait is not worth a line */
#define NAME_COLUMNS 13
#define METRIC_COLUMNS 7
#define BELOW 3u	 /* lines below the rows */
#define SECOND_BYTES 19u /* of an instant in RFC 3339, up to its seconds */
#define INDENT 4	 /* of what follows the row of a learner */

enum { NAME, ROUND, ATTEMPT, PHASE, SINCE, NEIGHBOURS, TOLERATES, COMMIT, METRIC, MEMORY, EXACT, COLUMNS };

static const struct sl_column table[COLUMNS] = {
	[NAME] = {"learner", NAME_COLUMNS + 1, true},
	[ROUND] = {"round", 8, false},
	[ATTEMPT] = {"try", 4, false},
	[PHASE] = {"phase", 10, true},
	[SINCE] = {"for", 5, false},
	[NEIGHBOURS] = {"nbrs", 5, false},
	[TOLERATES] = {"tolerates", 10, false},
	[COMMIT] = {"commit", 7, false},
	[METRIC] = {"MSE", 8, false},
	[MEMORY] = {"MB", 5, false},
	[EXACT] = {"", 6, false},
};

/* ---- cells ---- */

/* Write a duration in at most five columns: "0.3s", "12s", "5m", "3h", "2d". */
static void write_duration(double s, char cell[static SL_CELL_BYTES])
{
	if (s < 9.95)
		snprintf(cell, SL_CELL_BYTES, "%.1fs", s > 0 ? s : 0);
	else if (s < 100)
		snprintf(cell, SL_CELL_BYTES, "%.0fs", s);
	else if (s < 6000)
		snprintf(cell, SL_CELL_BYTES, "%.0fm", s / 60);
	else if (s < 360000)
		snprintf(cell, SL_CELL_BYTES, "%.0fh", s / 3600);
	else
		snprintf(cell, SL_CELL_BYTES, "%.0fd", s / 86400);
}

/* Return the seconds since `at`, an instant in RFC 3339; negative: there is none. */
static double ago(const char *at)
{
	struct tm tm = {0};
	if (strptime(at, "%Y-%m-%dT%H:%M:%S", &tm) == NULL)
		return -1;
	double s = difftime(time(NULL), timegm(&tm));
	return s > 0 ? s : 0;
}

/* Return the metric that the learners have in common: the held-out error if one of them knows it, else the
 * training loss. The two are not comparable. */
static const char *common_metric(const struct sl_status_all *all)
{
	for (size_t i = 0; i < all->of.count; i++)
		if (json_is_real(json_object_get(json_object_get(all->rows[i].status, "last_commit"), "mse")))
			return "mse";
	return "loss";
}

/* Write a metric in at most seven columns: with three digits, or with fewer if these need more room. */
static void write_metric(const json_t *value, char cell[static SL_CELL_BYTES])
{
	int n = METRIC_COLUMNS + 1;
	for (int digits = 3; json_is_real(value) && n > METRIC_COLUMNS && digits > 0; digits--)
		n = snprintf(cell, SL_CELL_BYTES, "%.*g", digits, json_real_value(value));
}

static void write_round(const struct sl_status_row *row, long long round, char cell[static SL_CELL_BYTES])
{
	if (row->rounds > 0)
		snprintf(cell, SL_CELL_BYTES, "%lld/%u", round, row->rounds);
	else if (round > 0)
		snprintf(cell, SL_CELL_BYTES, "%lld", round);
}

static void fill_status(const struct sl_status_row *row, const char *metric,
			char cells[COLUMNS][SL_CELL_BYTES])
{
	const json_t *s = row->status, *commit = json_object_get(s, "last_commit"),
		     *tolerance = json_object_get(s, "tolerance");
	double since = ago(sl_learners_text(commit, "at"));
	write_round(row, sl_learners_number(s, "round"), cells[ROUND]);
	snprintf(cells[ATTEMPT], SL_CELL_BYTES, "%lld", sl_learners_number(s, "attempt"));
	snprintf(cells[PHASE], SL_CELL_BYTES, "%s", sl_learners_text(s, "phase"));
	write_duration(json_number_value(json_object_get(s, "phase_s")), cells[SINCE]);
	snprintf(cells[NEIGHBOURS], SL_CELL_BYTES, "%zu", json_array_size(json_object_get(s, "neighbours")));
	if (json_is_integer(tolerance))
		snprintf(cells[TOLERATES], SL_CELL_BYTES, "%lld", (long long)json_integer_value(tolerance));
	if (since >= 0)
		write_duration(since, cells[COMMIT]);
	write_metric(json_object_get(commit, metric), cells[METRIC]);
	snprintf(cells[MEMORY], SL_CELL_BYTES, "%.0f", (double)sl_learners_number(s, "memory_bytes") / 1e6);
}

static void fill_row(const struct sl_status_all *all, const struct sl_status_row *row, const char *metric,
		     char cells[COLUMNS][SL_CELL_BYTES])
{
	static const char marks[] = {
		[SL_STATUS_RUNNING] = ' ', [SL_STATUS_FINISHED] = ' ', [SL_STATUS_FORMING] = ' ',
		[SL_STATUS_WAITING] = ' ', [SL_STATUS_NEW] = 'x',      [SL_STATUS_OVERDUE] = '!',
		[SL_STATUS_SILENT] = '?',  [SL_STATUS_STOPPED] = 'x'};
	for (int i = 0; i < COLUMNS; i++)
		strcpy(cells[i], "-");
	snprintf(cells[NAME], SL_CELL_BYTES, "%c%.*s", marks[row->state], NAME_COLUMNS - 2,
		 sl_status_name(row));
	strcpy(cells[EXACT], row->committed > 0 && row->committed <= all->verified ? "exact" : "");
	if (row->status != NULL) {
		fill_status(row, metric, cells);
		return;
	}
	write_round(row, row->committed, cells[ROUND]);
	snprintf(cells[PHASE], SL_CELL_BYTES, "%s", sl_status_state_name(row->state));
	double since = ago(sl_learners_text(row->last, "time"));
	if (row->state != SL_STATUS_SILENT && since >= 0)
		write_duration(since, cells[SINCE]);
}

/* ---- lines ---- */

struct screen {
	FILE *out;
	size_t width, left; /* lines that are left */
	const char *metric; /* field of last_commit that the table shows */
};

/* Remove the end of a text that is longer than the terminal is wide, and blanks at its end. */
static void trim(char *text, size_t width)
{
	size_t n = strlen(text);
	bool cut = n > width;
	n = cut ? width : n;
	while (cut && n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80) /* no part of a character */
		n--;
	while (n > 0 && text[n - 1] == ' ')
		n--;
	text[n] = '\0';
}

/* Print one line, cut where the terminal ends. */
__attribute__((format(printf, 2, 3))) static void put(struct screen *s, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	va_start(args, format);
	if (s->left == 0 || vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (text == NULL)
		return;
	trim(text, s->width);
	fprintf(s->out, "%s\n", text);
	s->left--;
	free(text);
}

/* Print a text on as many lines as it takes. */
static void put_wrapped(struct screen *s, const char *text)
{
	size_t room = s->width > 2 * INDENT ? s->width - INDENT : s->width;
	while (*text != '\0' && s->left > BELOW) {
		size_t n = sl_terminal_fitting(text, strlen(text), room);
		put(s, "%*s%.*s", INDENT, "", (int)n, text);
		text += n;
		text += strspn(text, " ");
	}
}

/* Write how a learner is started that has begun no round. */
static void describe_start(const struct sl_status_row *row, char *text, size_t size)
{
	char folder[PATH_MAX], command[PATH_MAX + 64];
	snprintf(folder, sizeof folder, "%s", row->asked->folder);
	char *state = strrchr(folder, '/');
	if (state != NULL)
		*state = '\0';
	sl_group_folder_start(folder, command, sizeof command);
	snprintf(text, size, "does not run, and has begun no round; start it: %s", command);
}

/* Return true if the row has a second line, and write it. */
static bool detail(const struct sl_status_all *all, const struct sl_status_row *row, char *text, size_t size)
{
	double phase_s = json_number_value(json_object_get(row->status, "phase_s"));
	bool waits = json_array_size(json_object_get(row->status, "awaits")) > 0;
	if (row->state == SL_STATUS_OVERDUE || (waits && phase_s >= WAIT_SHOWN_S)) {
		sl_status_wait(all, row, text, size);
		return true;
	}
	if (row->state == SL_STATUS_RUNNING)
		return false;
	if (row->state == SL_STATUS_FORMING || row->state == SL_STATUS_WAITING)
		snprintf(text, size, "%s",
			 row->asked->reply != NULL ? sl_learners_text(row->asked->reply, "error") : "starts");
	else if (row->state == SL_STATUS_NEW)
		describe_start(row, text, size);
	else if (row->state == SL_STATUS_SILENT && row->asked->error != 0 && row->asked->error != EAGAIN)
		snprintf(text, size, "cannot be asked: %s", strerror(row->asked->error));
	else if (row->state == SL_STATUS_SILENT)
		snprintf(text, size, "runs and does not answer: stopped by a signal, or its disk hangs");
	else if (row->last != NULL)
		snprintf(text, size, "%slast record: %.19s %s: %s",
			 row->ended || row->state == SL_STATUS_FINISHED ? "" : "killed; ",
			 sl_learners_text(row->last, "time"), sl_learners_text(row->last, "event"),
			 sl_learners_text(row->last, "text"));
	else
		snprintf(text, size,
			 "does not run (%s/%s: %s); its last lines in the journal or on its terminal say why",
			 row->asked->folder, row->asked->socket, strerror(row->asked->error));
	return true;
}

static void print_row(struct screen *s, const struct sl_status_all *all, const struct sl_status_row *row)
{
	char cells[COLUMNS][SL_CELL_BYTES], line[SL_TABLE_LINE_BYTES], text[2 * PATH_MAX];
	fill_row(all, row, s->metric, cells);
	sl_table_line(table, COLUMNS, cells, line);
	put(s, "%s", line + 2); /* without the gap before the first column */
	if (detail(all, row, text, sizeof text))
		put_wrapped(s, text);
	long long rounded = sl_learners_number(row->status, "rounded");
	if (rounded > 0) {
		snprintf(text, sizeof text, "rounded to 0 as a whole in its last model: %lld tensor%s",
			 rounded, rounded == 1 ? "" : "s");
		put_wrapped(s, text);
	}
}

static double phase_s(const struct sl_status_row *row)
{
	return json_number_value(json_object_get(row->status, "phase_s"));
}

/* The worst first. */
static int worse(const void *a, const void *b)
{
	const struct sl_status_row *x = *(const struct sl_status_row *const *)a,
				   *y = *(const struct sl_status_row *const *)b;
	if (x->state != y->state)
		return x->state > y->state ? -1 : 1;
	if (x->committed != y->committed)
		return x->committed < y->committed ? -1 : 1;
	if (phase_s(x) != phase_s(y))
		return phase_s(x) > phase_s(y) ? -1 : 1;
	return strcmp(sl_status_name(x), sl_status_name(y));
}

static void print_rows(struct screen *s, const struct sl_status_all *all, size_t below)
{
	size_t n = all->of.count, shown = 0;
	const struct sl_status_row **order = sl_command_memory(n, sizeof *order);
	char header[SL_TABLE_LINE_BYTES];
	for (size_t i = 0; i < n; i++)
		order[i] = &all->rows[i];
	if (s->left < 2 * n + below + 2) /* not all fit */
		qsort(order, n, sizeof *order, worse);
	struct sl_column columns[COLUMNS];
	memcpy(columns, table, sizeof columns);
	s->metric = common_metric(all);
	columns[METRIC].name = strcmp(s->metric, "mse") == 0 ? "MSE" : "loss";
	sl_table_header(columns, COLUMNS, header);
	put(s, "%s", header + 2);
	for (; shown < n && s->left > below + 2; shown++)
		print_row(s, all, order[shown]);
	if (shown < n)
		put(s, "  and %zu more, none of them worse", n - shown);
	free(order);
}

/* ---- second-hand ---- */

static bool is_asked(const struct sl_status_all *all, const json_t *peer)
{
	const char *name = sl_learners_text(peer, "name");
	for (size_t i = 0; i < all->of.count; i++)
		if (strcmp(sl_status_name(&all->rows[i]), name) == 0)
			return true;
	return false;
}

static bool contains(const json_t *ids, json_int_t id)
{
	size_t index;
	json_t *one;
	json_array_foreach(ids, index, one)
	{
		if (json_integer_value(one) == id)
			return true;
	}
	return false;
}

static void print_peer(struct screen *s, const struct sl_status_row *row, const json_t *peer)
{
	char cells[5][SL_CELL_BYTES], line[SL_TABLE_LINE_BYTES], note[96] = "";
	static const struct sl_column columns[5] = {
		{"", NAME_COLUMNS + 1, true}, {"", 8, false}, {"", 4, false}, {"", 10, true}, {"", 8, true}};
	const json_t *left_out = json_object_get(peer, "left_out_until");
	bool awaited = contains(json_object_get(row->status, "awaits"), sl_learners_number(peer, "id"));
	bool heard = json_is_integer(json_object_get(peer, "round"));
	snprintf(cells[0], SL_CELL_BYTES, "~%.*s", NAME_COLUMNS - 2, sl_learners_text(peer, "name"));
	snprintf(cells[1], SL_CELL_BYTES, heard ? "%lld" : "-", sl_learners_number(peer, "round"));
	snprintf(cells[2], SL_CELL_BYTES, heard ? "%lld" : "-", sl_learners_number(peer, "attempt"));
	snprintf(cells[3], SL_CELL_BYTES, "%s", heard ? sl_learners_text(peer, "state") : "-");
	snprintf(cells[4], SL_CELL_BYTES, "link %s", sl_learners_text(peer, "link"));
	sl_table_line(columns, 5, cells, line);
	if (json_is_string(json_object_get(peer, "two_places")))
		snprintf(note, sizeof note, ", at two places: %.70s", sl_learners_text(peer, "two_places"));
	else if (json_is_true(json_object_get(peer, "other_run")))
		snprintf(note, sizeof note, ", of another run");
	else if (json_is_integer(left_out))
		snprintf(note, sizeof note, ", left out up to round %lld",
			 (long long)json_integer_value(left_out));
	put(s, "%s%s%s%s", line + 2, json_is_true(json_object_get(peer, "neighbour")) ? ", neighbour" : "",
	    awaited ? ", awaited" : "", note);
}

/* What the learners that were asked know of those that were not. */
static void print_peers(struct screen *s, const struct sl_status_all *all)
{
	for (size_t i = 0; i < all->of.count; i++) {
		const struct sl_status_row *row = &all->rows[i];
		size_t index;
		json_t *peer;
		bool any = false;
		json_array_foreach(json_object_get(row->status, "peers"), index, peer)
		{
			if (is_asked(all, peer))
				continue;
			if (!any)
				put(s, "second-hand, as %s has heard last:", sl_status_name(row));
			any = true;
			print_peer(s, row, peer);
		}
	}
}

/* ---- the last lines ---- */

/* Return the least number of this name that a learner tells, or -1. */
static long long least(const struct sl_status_all *all, const char *name)
{
	long long found = -1;
	for (size_t i = 0; i < all->of.count; i++) {
		const json_t *value = json_object_get(all->rows[i].status, name);
		if (json_is_integer(value) && (found < 0 || json_integer_value(value) < found))
			found = (long long)json_integer_value(value);
	}
	return found;
}

/* Print how many more losses the open attempt tolerates, by the learner that knows of the most, and how many
 * learners hide each other. */
static void print_tolerance(struct screen *s, const struct sl_status_all *all)
{
	long long losses = least(all, "tolerance"), atom = least(all, "atom");
	if (losses >= 0)
		put(s, "the open attempt tolerates %lld more loss%s", losses, losses == 1 ? "" : "es");
	if (atom == 1)
		put(s,
		    "the last sums together tell the model of one learner: see the event privacy in the log");
	else if (atom > 1)
		put(s, "in the last sums together, each learner is hidden among at least %lld", atom);
}

/* Return the learner that has spent most of its privacy; NULL: none has dp. */
static const struct sl_status_row *dearest(const struct sl_status_all *all)
{
	const struct sl_status_row *found = NULL;
	double most = -1;
	for (size_t i = 0; i < all->of.count; i++) {
		const json_t *dp = json_object_get(all->rows[i].status, "dp"),
			     *epsilon = json_object_get(dp, "epsilon");
		double spent = json_is_number(epsilon) ? json_number_value(epsilon) : INFINITY;
		if (!json_is_object(dp) || spent <= most)
			continue;
		most = spent;
		found = &all->rows[i];
	}
	return found;
}

/* Print what is spent of the privacy, by the learner that has spent most. */
static void print_spent(struct screen *s, const struct sl_status_all *all)
{
	const struct sl_status_row *row = dearest(all);
	char of[64] = "", unsampled[64] = "", guessed[64] = "";
	if (row == NULL)
		return;
	const json_t *dp = json_object_get(row->status, "dp"), *budget = json_object_get(dp, "budget"),
		     *epsilon = json_object_get(dp, "epsilon"),
		     *without = json_object_get(dp, "epsilon_unsampled");
	long long charges = sl_learners_number(dp, "charges"), unknown = sl_learners_number(dp, "guessed");
	double spent = json_is_number(epsilon) ? json_number_value(epsilon) : INFINITY;
	if (json_is_number(budget))
		snprintf(of, sizeof of, " of %g", json_number_value(budget));
	if (json_is_number(without) && json_number_value(without) > spent)
		snprintf(unsampled, sizeof unsampled, " (%.3f without sampling)", json_number_value(without));
	if (unknown > 0)
		snprintf(guessed, sizeof guessed, ", %lld of them without a record", unknown);
	put(s, "privacy spent: epsilon %.3f%s%s at delta %g, by %s: %lld attempt%s%s", spent, of, unsampled,
	    json_number_value(json_object_get(dp, "delta")), sl_status_name(row), charges,
	    charges == 1 ? "" : "s", guessed);
}

static void print_problem(struct screen *s, const struct sl_status_all *all)
{
	const struct sl_status_row *last = NULL;
	const json_t *problem = NULL;
	for (size_t i = 0; i < all->of.count; i++) {
		const json_t *one = json_object_get(all->rows[i].status, "last_problem");
		if (!json_is_object(one) || (problem != NULL && strcmp(sl_learners_text(one, "at"),
								       sl_learners_text(problem, "at")) <= 0))
			continue;
		problem = one;
		last = &all->rows[i];
	}
	if (problem == NULL)
		return;
	const char *at = sl_learners_text(problem, "at"),
		   *commit = sl_learners_text(json_object_get(last->status, "last_commit"), "at");
	char age[SL_CELL_BYTES];
	write_duration(ago(at), age);
	put(s, "last %s, %s ago%s, %s: %s",
	    strcmp(sl_learners_text(problem, "level"), "warn") == 0 ? "warning" : "error", age,
	    strncmp(at, commit, SECOND_BYTES) < 0 ? ", before its last commit" : "", sl_status_name(last),
	    sl_learners_text(problem, "text"));
}

static void print_count(struct screen *s, const struct sl_status_all *all)
{
	static const char *const words[] = {
		[SL_STATUS_RUNNING] = "making progress", [SL_STATUS_FINISHED] = "finished",
		[SL_STATUS_FORMING] = "forming",	 [SL_STATUS_WAITING] = "waiting",
		[SL_STATUS_NEW] = "not started yet",	 [SL_STATUS_OVERDUE] = "overdue",
		[SL_STATUS_SILENT] = "silent",		 [SL_STATUS_STOPPED] = "stopped"};
	size_t counts[SL_STATUS_STATES], used = 0;
	char text[128] = "";
	sl_status_count(all, counts);
	for (size_t k = 0; k < SL_STATUS_STATES; k++)
		if (counts[k] > 0)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu %s",
						 used > 0 ? ", " : "", counts[k], words[k]);
	put(s, "%zu learner%s: %s", all->of.count, all->of.count == 1 ? "" : "s", text);
}

void sl_status_print(const struct sl_status_all *all, FILE *out, size_t width, size_t height)
{
	struct screen s = {out, width > 0 ? width : SIZE_MAX, height > 0 ? height : SIZE_MAX, NULL};
	print_rows(&s, all, BELOW);
	print_count(&s, all);
	print_tolerance(&s, all);
	print_spent(&s, all);
	print_problem(&s, all);
	print_peers(&s, all);
}
