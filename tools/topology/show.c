/* What one learns about a schedule before it is played: how much it bears, and how long mixing takes. */
#include <stdlib.h>
#include <unistd.h>

#include "common/field/field.h"
#include "tools/lib/table.h"
#include "tools/lib/terminal.h"
#include "tools/topology/topology.h"
#include "tools/topology/ids.h"
#include "tools/topology/json.h"
#include "tools/topology/notes.h"

enum { STEP, EDGES, LEAST, MEAN, MOST, MU, KAPPA, C, K, EXACT, TREE, MB_MEAN, MB_MOST, COLUMNS };

static const struct sl_column table[COLUMNS] = {
	[STEP] = {"step", 6, 0, false},	  [EDGES] = {"edges", 7, 3, false}, [LEAST] = {"min", 5, 2, false},
	[MEAN] = {"mean", 6, 2, false},	  [MOST] = {"max", 5, 2, false},    [MU] = {"mu", 7, 4, false},
	[KAPPA] = {"kappa", 6, 0, false}, [C] = {"c", 5, 0, false},	    [K] = {"K", 8, 0, false},
	[EXACT] = {"exact", 6, 0, false}, [TREE] = {"tree", 5, 0, false},   [MB_MEAN] = {"MB", 7, 1, false},
	[MB_MOST] = {"max", 7, 1, false},
};

#define DEGREES (UINT32_C(1) << LEAST | UINT32_C(1) << MEAN | UINT32_C(1) << MOST)
#define SENT (UINT32_C(1) << MB_MEAN | UINT32_C(1) << MB_MOST)

/* ---- what is to be said of a step ---- */

static void say_cut(FILE *out, const struct sl_step_figures *f)
{
	bool together = f->kappa > 1;
	const uint32_t *cut = together ? f->cut : f->articulation;
	uint32_t count = together ? f->cut_count : f->articulation_count;
	fprintf(out, "without %s", !together && count > 1 ? "any one of " : "");
	sl_ids_write_learners(out, cut, count);
	fprintf(out, "%s it falls apart", together ? " together" : "");
}

static void say_privacy_check(FILE *out, const struct sl_step_figures *f, uint32_t c)
{
	enum sl_privacy_verdict privacy_check = sl_figures_privacy_check(f, c);
	if (privacy_check != SL_PRIVACY_OPEN)
		fprintf(out, "refused at c = %u: ", c);
	if (privacy_check == SL_PRIVACY_PARTS)
		fprintf(out, "%u parts, the largest of %u learner%s", f->parts, f->largest,
			f->largest == 1 ? "" : "s");
	else if (privacy_check == SL_PRIVACY_FEW)
		fprintf(out, "%u learners, and it takes %llu", f->learners, (unsigned long long)c + 2);
	else if (privacy_check == SL_PRIVACY_CUT || f->articulation_count > 0)
		say_cut(out, f);
}

static bool metropolis_runs(const struct sl_step_figures *f, uint32_t bits)
{
	return bits <= f->p_bits && bits <= SL_MIXING_P_BITS_MAX && f->k <= SL_ITERATIONS_MAX;
}

static void say_metropolis(FILE *out, const struct sl_step_figures *f, uint32_t bits)
{
	uint32_t most = f->p_bits < SL_MIXING_P_BITS_MAX ? f->p_bits : SL_MIXING_P_BITS_MAX;
	fputs("metropolis cannot run: ", out);
	if (bits > most)
		fprintf(out, "p has %u bits, and rounding leaves room for %u", bits, most);
	else
		fprintf(out, "more than %u iterations", SL_ITERATIONS_MAX);
}

static uint32_t bits_of(uint64_t p)
{
	return 64 - (uint32_t)__builtin_clzll(p);
}

/* Empty when there is nothing to say; to free(). NULL: out of memory. */
static char *note_of(const struct sl_step_figures *f, const struct sl_show_request *request)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	if (out == NULL)
		return NULL;
	say_privacy_check(out, f, request->tolerance);
	if (f->parts == 1 && !metropolis_runs(f, bits_of(request->figures.p))) {
		fputs(ftell(out) > 0 ? "; " : "", out);
		say_metropolis(out, f, bits_of(request->figures.p));
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* ---- the table ---- */

static void megabytes(double bytes, char cell[static SL_CELL_BYTES])
{
	double mb = bytes / 1e6;
	if (mb >= 1e6)
		snprintf(cell, SL_CELL_BYTES, "%.0e", mb);
	else
		snprintf(cell, SL_CELL_BYTES, "%.*f", mb >= 1000 ? 0 : 1, mb);
}

static void count_or_none(uint64_t count, uint64_t none, char cell[static SL_CELL_BYTES])
{
	snprintf(cell, SL_CELL_BYTES, count != none ? "%llu" : "-", (unsigned long long)count);
}

static void print_row(uint32_t step, const struct sl_step_figures *f, const struct sl_show_request *request,
		      uint32_t columns, FILE *out)
{
	char cells[COLUMNS][SL_CELL_BYTES] = {{0}}, line[SL_TABLE_LINE_BYTES];
	bool refused = sl_figures_privacy_check(f, request->tolerance) != SL_PRIVACY_OPEN;
	snprintf(cells[STEP], SL_CELL_BYTES, "%u%s", step + 1, refused ? "!" : " ");
	snprintf(cells[EDGES], SL_CELL_BYTES, "%u", f->edges);
	snprintf(cells[LEAST], SL_CELL_BYTES, "%u", f->degree_min);
	snprintf(cells[MEAN], SL_CELL_BYTES, "%.1f", f->degree_mean);
	snprintf(cells[MOST], SL_CELL_BYTES, "%u", f->degree_max);
	snprintf(cells[MU], SL_CELL_BYTES, "%.4f", f->mu);
	snprintf(cells[KAPPA], SL_CELL_BYTES, "%u", f->kappa);
	count_or_none((uint64_t)f->kappa - 1, UINT64_MAX, cells[C]);
	count_or_none(f->k, UINT64_MAX, cells[K]);
	count_or_none(f->exact, SL_FIGURE_NONE, cells[EXACT]);
	count_or_none(f->tree, SL_FIGURE_NONE, cells[TREE]);
	snprintf(cells[MB_MEAN], SL_CELL_BYTES, "-");
	snprintf(cells[MB_MOST], SL_CELL_BYTES, "-");
	if (f->k < UINT64_MAX) {
		megabytes(f->bytes_mean, cells[MB_MEAN]);
		megabytes(f->bytes_most, cells[MB_MOST]);
	}
	sl_table_line(table, COLUMNS, columns, cells, line);
	fprintf(out, "%s\n", line);
	fflush(out); /* the next may take a second */
}

/* What is said of degrees, or of bytes, goes as a whole. */
static uint32_t columns_for(FILE *out)
{
	size_t width = sl_terminal_width(out);
	uint32_t columns = sl_table_kept(table, COLUMNS, width);
	if ((columns & DEGREES) != DEGREES)
		columns &= ~DEGREES;
	return (columns & SENT) == SENT ? columns : columns & ~SENT;
}

/* Names above those of the columns, each over the last of its own. */
static void print_groups(uint32_t columns, FILE *out)
{
	static const struct {
		uint32_t last;
		const char *name;
	} groups[] = {{MOST, "degree"}, {TREE, "iterations of an engine"}, {MB_MOST, "to send"}};
	size_t used = 0;
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
		if (!(columns >> groups[i].last & 1))
			continue;
		size_t end = sl_table_width(table, COLUMNS, columns & ((UINT32_C(2) << groups[i].last) - 1));
		used += (size_t)fprintf(out, "%*s", (int)(end - used), groups[i].name);
	}
	fputc('\n', out);
}

static void print_header(const struct sl_schedule *schedule, const struct sl_show_request *request,
			 uint32_t columns, FILE *out)
{
	char line[SL_TABLE_LINE_BYTES], floats[SL_THOUSANDS_BYTES];
	size_t width = sl_terminal_width(out);
	sl_terminal_thousands(request->figures.floats, floats);
	snprintf(line, sizeof line, "%u learners; p = %llu; a model of %s floats. ! is refused at c = %u.\n",
		 schedule->learners, (unsigned long long)request->figures.p, floats, request->tolerance);
	sl_terminal_fill(out, line, width);
	print_groups(columns, out);
	sl_table_header(table, COLUMNS, columns, line);
	fprintf(out, "%s\n", line);
}

/* ---- every step ---- */

/* Where nobody sees rows come one by one, how far it has got: on a terminal only. */
static void show_progress(uint32_t step, uint32_t steps, FILE *out)
{
	if (!isatty(STDERR_FILENO) || (out == stdout && isatty(STDOUT_FILENO)))
		return;
	if (step < steps)
		fprintf(stderr, "\rstep %u of %u", step + 1, steps);
	else
		fputs("\r\033[K", stderr);
}

static int figures_or_fail(struct sl_figures *figures, uint32_t step, struct sl_step_figures *f,
			   struct sl_error *error)
{
	int rc = sl_figures_step(figures, step, f);
	return rc == SL_OK ? SL_OK : sl_err_set(error, rc, "step %u: %s", step + 1, sl_err_text(rc));
}

static int open_figures(struct sl_figures *figures, const struct sl_schedule *schedule,
			const struct sl_show_request *request, struct sl_error *error)
{
	int rc = sl_figures_open(figures, schedule, &request->figures);
	return rc == SL_OK ? SL_OK : sl_err_set(error, rc, "%s", sl_err_text(rc));
}

int sl_topology_print_table(const struct sl_schedule *schedule, const struct sl_show_request *request,
			    FILE *out, struct sl_error *error)
{
	struct sl_step_figures f;
	struct sl_figures figures;
	struct sl_notes notes = {.count = 0};
	uint32_t columns = columns_for(out);
	int rc = open_figures(&figures, schedule, request, error);
	if (rc == SL_OK)
		print_header(schedule, request, columns, out);
	for (uint32_t s = 0; rc == SL_OK && s < schedule->steps; s++) {
		show_progress(s, schedule->steps, out);
		rc = figures_or_fail(&figures, s, &f, error);
		if (rc != SL_OK)
			break;
		print_row(s, &f, request, columns, out);
		sl_notes_add(&notes, s, note_of(&f, request));
	}
	show_progress(schedule->steps, schedule->steps, out);
	sl_notes_print(&notes, out);
	sl_figures_close(&figures);
	return rc;
}

static json_t *count_json(uint64_t count, uint64_t none)
{
	return count == none ? json_null() : json_integer((json_int_t)count);
}

static json_t *bytes_json(const struct sl_step_figures *f)
{
	return f->k == UINT64_MAX ? json_null()
				  : json_pack("{s:f, s:f}", "mean", f->bytes_mean, "max", f->bytes_most);
}

static json_t *row(uint32_t step, const struct sl_show_request *request, const struct sl_step_figures *f)
{
	char *note = note_of(f, request);
	bool refused = sl_figures_privacy_check(f, request->tolerance) != SL_PRIVACY_OPEN;
	json_t *all =
		json_pack("{s:I, s:I, s:I, s:{s:I, s:f, s:I}, s:b, s:I, s:I, s:f, s:o, s:I}", "step",
			  (json_int_t)step + 1, "learners", (json_int_t)f->learners, "edges",
			  (json_int_t)f->edges, "degree", "min", (json_int_t)f->degree_min, "mean",
			  f->degree_mean, "max", (json_int_t)f->degree_max, "connected", f->parts == 1,
			  "components", (json_int_t)f->parts, "largest", (json_int_t)f->largest, "mu", f->mu,
			  "k", count_json(f->k, UINT64_MAX), "p", (json_int_t)request->figures.p);
	json_t *more = json_pack(
		"{s:I, s:o, s:o, s:o, s:o, s:o, s:b, s:I, s:b, s:o, s:b, s:s?}", "kappa",
		(json_int_t)f->kappa, "tolerance", count_json((uint64_t)f->kappa - 1, UINT64_MAX), "cut",
		sl_json_ids(f->cut, f->cut_count), "articulation",
		sl_json_ids(f->articulation, f->articulation_count), "exact",
		count_json(f->exact, SL_FIGURE_NONE), "tree", count_json(f->tree, SL_FIGURE_NONE),
		"metropolis", f->parts == 1 && metropolis_runs(f, bits_of(request->figures.p)), "floats",
		(json_int_t)request->figures.floats, "seeded", request->figures.seeded, "bytes",
		bytes_json(f), "refused", refused, "note", note != NULL && *note != '\0' ? note : NULL);
	free(note);
	if (all != NULL && more != NULL)
		json_object_update(all, more);
	json_decref(more);
	return all;
}

int sl_topology_print_json(const struct sl_schedule *schedule, const struct sl_show_request *request,
			   FILE *out, struct sl_error *error)
{
	struct sl_step_figures f;
	struct sl_figures figures;
	json_t *rows = json_array();
	int rc = open_figures(&figures, schedule, request, error);
	for (uint32_t s = 0; rc == SL_OK && s < schedule->steps; s++) {
		show_progress(s, schedule->steps, out);
		rc = figures_or_fail(&figures, s, &f, error);
		if (rc == SL_OK && json_array_append_new(rows, row(s, request, &f)) != 0)
			rc = sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	}
	show_progress(schedule->steps, schedule->steps, out);
	sl_figures_close(&figures);
	if (rc == SL_OK)
		return sl_json_print(rows, out, error);
	json_decref(rows);
	return rc;
}
