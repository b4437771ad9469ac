/* The analysis of every step of a schedule: a table with remarks, or JSON. */
#include "tools/topology/analyze.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/lib/table.h"
#include "tools/lib/terminal.h"
#include "tools/topology/annotations.h"
#include "tools/topology/ids.h"
#include "tools/topology/json.h"

#define COLUMNS 13u
static const struct sl_column table[COLUMNS] = {
	{"step", 5, false},   {"edges", 7, false}, {"min", 5, false}, {"mean", 6, false}, {"max", 5, false},
	{"mu", 7, false},     {"kappa", 6, false}, {"c", 5, false},   {"K", 7, false},	  {"exact", 6, false},
	{"forest", 7, false}, {"mean", 7, false},  {"max", 7, false},
};
/* The field of a step's JSON for each column, a member of it, and the digits of a real number; megabytes have
 * their own format. */
static const struct {
	const char *field, *member;
	int digits;
} cells_of[COLUMNS] = {
	{"step", NULL, 0},    {"edges", NULL, 0}, {"degree", "min", 0}, {"degree", "mean", 1},
	{"degree", "max", 0}, {"mu", NULL, 4},	  {"kappa", NULL, 0},	{"tolerance", NULL, 0},
	{"k", NULL, 0},	      {"exact", NULL, 0}, {"forest", NULL, 0},	{"bytes", "mean", -1},
	{"bytes", "max", -1},
};

struct report {
	const struct sl_analyze_request *request;
	struct sl_figures figures; /* of the step at hand */
	FILE *out;
	json_t *rows; /* of all steps; NULL: a table is printed */
	struct sl_annotations remarks;
};

static bool refused(const struct report *r)
{
	const struct sl_figures *f = &r->figures;
	return f->analysis.components > 1 ||
	       sl_privacy_check(f->graph.n, f->analysis.kappa, r->request->tolerance) != SL_PRIVACY_KEPT;
}

/* ---- remarks ---- */

static void write_privacy(FILE *out, const struct report *r)
{
	const struct sl_analysis *a = &r->figures.analysis;
	char why[1024];
	if (refused(r)) {
		sl_figures_refusal(&r->figures, r->request->tolerance, why, sizeof why);
		fprintf(out, "refused: %s", why);
	} else if (a->kappa == 1 && a->cut_count > 0) {
		sl_ids_write_learners(out, a->cut, a->cut_count);
		fputs(a->cut_count == 1 ? " cuts the others apart" : " each cut the others apart", out);
	}
}

static void write_metropolis(FILE *out, const struct sl_figures *f)
{
	fputs("metropolis cannot run: ", out);
	if (f->field.bits > f->p_bits)
		fprintf(out, "p has %u bits, and rounding leaves room for %u", f->field.bits, f->p_bits);
	else
		fprintf(out, "more than %u exchanges", SL_ITERATIONS_MAX);
}

static void write_remark(FILE *out, const struct report *r)
{
	const struct sl_figures *f = &r->figures;
	write_privacy(out, r);
	if (f->analysis.components == 1 && !f->metropolis) {
		fputs(ftell(out) > 0 ? "; " : "", out);
		write_metropolis(out, f);
	}
}

/* ---- JSON ---- */

static json_t *count_json(uint64_t count, bool known)
{
	return known ? json_integer((json_int_t)count) : json_null();
}

static json_t *bytes_json(const struct sl_figures *f)
{
	return f->bytes_most > 0 ? json_pack("{s:f, s:f}", "mean", f->bytes_mean, "max", f->bytes_most)
				 : json_null();
}

/* Vectors that the busiest learner sends with the forest, and with any trees at least. */
static json_t *vectors_json(const struct sl_figures *f)
{
	const struct sl_analysis *a = &f->analysis;
	return a->trees > 0 ? json_pack("{s:I, s:f, s:f}", "trees", (json_int_t)a->trees, "max",
					(double)a->load / a->trees, "bound", f->forest_bound)
			    : json_null();
}

static json_t *step_json(const struct report *r, uint32_t step)
{
	const struct sl_figures *f = &r->figures;
	const struct sl_analysis *a = &f->analysis;
	uint32_t smallest = a->kappa < a->cut_count ? a->kappa : a->cut_count;
	return json_pack(
		"{s:I, s:I, s:I, s:{s:I, s:f, s:I}, s:b, s:I, s:I, s:I, s:o, s:o, s:o, s:f, s:o, s:I, s:o, "
		"s:o, s:o, s:b, s:I, s:b, s:o, s:b}",
		"step", (json_int_t)step + 1, "learners", (json_int_t)f->graph.n, "edges",
		(json_int_t)f->graph.edges, "degree", "min", (json_int_t)sl_graph_degree_min(&f->graph),
		"mean", 2.0 * f->graph.edges / f->graph.n, "max", (json_int_t)sl_graph_degree_max(&f->graph),
		"connected", a->components == 1, "components", (json_int_t)a->components, "largest",
		(json_int_t)a->largest, "kappa", (json_int_t)a->kappa, "tolerance",
		count_json((uint64_t)a->kappa - 1, a->kappa > 0), "cut", sl_json_ids(a->cut, smallest),
		"articulation", sl_json_ids(a->cut, a->kappa <= 1 ? a->cut_count : 0), "mu", a->mu, "k",
		count_json(f->k, f->k != UINT64_MAX), "p", (json_int_t)f->request.p, "exact",
		count_json(a->degree, a->degree > 0), "forest",
		count_json(2 * (uint64_t)a->depth, a->depth > 0), "forest_vectors", vectors_json(f),
		"metropolis", f->metropolis, "floats", (json_int_t)f->request.floats, "seeded",
		f->request.seeded, "bytes", bytes_json(f), "refused", refused(r));
}

/* ---- the table ---- */

/* Write a number of the step's JSON, "-" for null. */
static void put_cell(const json_t *value, int digits, char cell[static SL_CELL_BYTES])
{
	double mb = json_number_value(value) / 1e6;
	if (json_is_null(value) || value == NULL)
		snprintf(cell, SL_CELL_BYTES, "-");
	else if (json_is_integer(value))
		snprintf(cell, SL_CELL_BYTES, "%lld", (long long)json_integer_value(value));
	else if (digits >= 0)
		snprintf(cell, SL_CELL_BYTES, "%.*f", digits, json_real_value(value));
	else if (mb >= 1e6)
		snprintf(cell, SL_CELL_BYTES, "%.0e", mb);
	else
		snprintf(cell, SL_CELL_BYTES, "%.*f", mb >= 1000 ? 0 : 1, mb);
}

static void print_row(const struct report *r, const json_t *row)
{
	char cells[COLUMNS][SL_CELL_BYTES] = {{0}}, line[SL_TABLE_LINE_BYTES];
	for (size_t i = 0; i < COLUMNS; i++) {
		const json_t *value = json_object_get(row, cells_of[i].field);
		if (cells_of[i].member != NULL)
			value = json_object_get(value, cells_of[i].member);
		put_cell(value, cells_of[i].digits, cells[i]);
	}
	strcat(cells[0], refused(r) ? "!" : " ");
	sl_table_line(table, COLUMNS, cells, line);
	fprintf(r->out, "%s\n", line);
	fflush(r->out); /* the next step may take a second */
}

static void print_header(const struct report *r)
{
	char line[SL_TABLE_LINE_BYTES], floats[SL_THOUSANDS_BYTES];
	sl_terminal_thousands(r->request->figures.floats, floats);
	sl_terminal_print(r->out, "%u learners, models of %s floats, p = %llu; !: refused at c = %u\n",
			  r->figures.schedule->learners, floats, (unsigned long long)r->request->figures.p,
			  r->request->tolerance);
	fprintf(r->out, "%28s%38s%14s\n", "degree", "exchanges of an engine", "MB to send");
	sl_table_header(table, COLUMNS, line);
	fprintf(r->out, "%s\n", line);
}

/* ---- every step ---- */

/* Print on a terminal how far the analysis is, where rows do not show it. */
static void show_progress(const struct report *r, uint32_t step)
{
	uint32_t steps = r->figures.schedule->steps;
	if (!isatty(STDERR_FILENO) || (r->out == stdout && isatty(STDOUT_FILENO)))
		return;
	if (step < steps)
		fprintf(stderr, "\rstep %u of %u", step + 1, steps);
	else
		fputs("\r\033[K", stderr);
}

static int add_step(struct report *r, uint32_t step)
{
	int rc = sl_figures_step(&r->figures, step);
	if (rc != SL_OK)
		return rc;
	json_t *row = step_json(r, step);
	write_remark(r->remarks.out, r);
	if (r->rows == NULL) {
		print_row(r, row);
		sl_annotations_add(&r->remarks, step);
		json_decref(row);
		return SL_OK;
	}
	char *remark = sl_annotations_take(&r->remarks);
	json_object_set_new(row, "note", *remark != '\0' ? json_string(remark) : json_null());
	free(remark);
	return json_array_append_new(r->rows, row) == 0 ? SL_OK : SL_ERR_NOMEM;
}

static int print_steps(struct report *r, struct sl_error *error)
{
	int rc = SL_OK;
	uint32_t steps = r->figures.schedule->steps;
	r->rows = r->request->json ? json_array() : NULL;
	if (r->rows == NULL)
		print_header(r);
	for (uint32_t s = 0; rc == SL_OK && s < steps; s++) {
		show_progress(r, s);
		rc = add_step(r, s);
		if (rc != SL_OK)
			sl_err_set(error, rc, "step %u: %s", s + 1, sl_err_text(rc));
	}
	show_progress(r, steps);
	if (rc == SL_OK && r->rows != NULL)
		return sl_json_print(r->rows, r->out, error);
	json_decref(r->rows);
	sl_annotations_print(&r->remarks, r->out);
	return rc;
}

int sl_analyze_print(const struct sl_schedule *schedule, const struct sl_analyze_request *request, FILE *out,
		     struct sl_error *error)
{
	struct report r = {.request = request, .out = out};
	struct sl_figures_request figures = request->figures;
	figures.forest_bound = request->json;
	int rc = sl_figures_open(&r.figures, schedule, &figures);
	sl_annotations_open(&r.remarks);
	rc = rc == SL_OK ? print_steps(&r, error) : sl_err_set(error, rc, "%s", sl_err_text(rc));
	sl_annotations_close(&r.remarks);
	sl_figures_close(&r.figures);
	return rc;
}
