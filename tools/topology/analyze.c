/* The analysis of every step of a schedule: a table with remarks, or JSON. */
#include "tools/topology/analyze.h"

#include <stdlib.h>
#include <unistd.h>

#include "tools/lib/table.h"
#include "tools/lib/terminal.h"
#include "tools/topology/annotations.h"
#include "tools/topology/ids.h"
#include "tools/topology/json.h"

enum { STEP, EDGES, LEAST, MEAN, MOST, MU, KAPPA, C, K, EXACT, TREE, MB_MEAN, MB_MOST, COLUMNS };

static const struct sl_column table[COLUMNS] = {
	[STEP] = {"step", 6, false},   [EDGES] = {"edges", 7, false}, [LEAST] = {"min", 5, false},
	[MEAN] = {"mean", 6, false},   [MOST] = {"max", 5, false},    [MU] = {"mu", 7, false},
	[KAPPA] = {"kappa", 6, false}, [C] = {"c", 5, false},	      [K] = {"K", 8, false},
	[EXACT] = {"exact", 6, false}, [TREE] = {"tree", 5, false},   [MB_MEAN] = {"mean", 7, false},
	[MB_MOST] = {"max", 7, false},
};

struct report {
	const struct sl_analyze_request *request;
	struct sl_figures figures; /* of the step at hand */
	FILE *out;
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

/* Return the remark on the step, "" without one; to free(). NULL: out of memory. */
static char *remark_of(const struct report *r)
{
	const struct sl_figures *f = &r->figures;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	if (out == NULL)
		return NULL;
	write_privacy(out, r);
	if (f->analysis.components == 1 && !f->metropolis) {
		fputs(ftell(out) > 0 ? "; " : "", out);
		write_metropolis(out, f);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* ---- the table ---- */

static void put_megabytes(double bytes, char cell[static SL_CELL_BYTES])
{
	double mb = bytes / 1e6;
	if (!(bytes > 0))
		snprintf(cell, SL_CELL_BYTES, "-");
	else if (mb >= 1e6)
		snprintf(cell, SL_CELL_BYTES, "%.0e", mb);
	else
		snprintf(cell, SL_CELL_BYTES, "%.*f", mb >= 1000 ? 0 : 1, mb);
}

static void put_count(uint64_t count, bool known, char cell[static SL_CELL_BYTES])
{
	snprintf(cell, SL_CELL_BYTES, known ? "%llu" : "-", (unsigned long long)count);
}

static void print_row(const struct report *r, uint32_t step)
{
	char cells[COLUMNS][SL_CELL_BYTES] = {{0}}, line[SL_TABLE_LINE_BYTES];
	const struct sl_figures *f = &r->figures;
	const struct sl_analysis *a = &f->analysis;
	snprintf(cells[STEP], SL_CELL_BYTES, "%u%s", step + 1, refused(r) ? "!" : " ");
	snprintf(cells[EDGES], SL_CELL_BYTES, "%u", f->graph.edges);
	snprintf(cells[LEAST], SL_CELL_BYTES, "%u", sl_graph_degree_min(&f->graph));
	snprintf(cells[MEAN], SL_CELL_BYTES, "%.1f", 2.0 * f->graph.edges / f->graph.n);
	snprintf(cells[MOST], SL_CELL_BYTES, "%u", sl_graph_degree_max(&f->graph));
	snprintf(cells[MU], SL_CELL_BYTES, "%.4f", a->mu);
	snprintf(cells[KAPPA], SL_CELL_BYTES, "%u", a->kappa);
	put_count((uint64_t)a->kappa - 1, a->kappa > 0, cells[C]);
	put_count(f->k, f->k != UINT64_MAX, cells[K]);
	put_count(a->degree, a->degree > 0, cells[EXACT]);
	put_count(2 * (uint64_t)a->depth, a->depth > 0, cells[TREE]);
	put_megabytes(f->bytes_mean, cells[MB_MEAN]);
	put_megabytes(f->bytes_most, cells[MB_MOST]);
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
	fprintf(r->out, "%29s%37s%14s\n", "degree", "exchanges of an engine", "MB to send");
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

/* Analyse all steps and hand each to `visit`. */
static int for_each_step(struct report *r, int (*visit)(struct report *r, uint32_t step, void *into),
			 void *into, struct sl_error *error)
{
	int rc = SL_OK;
	uint32_t steps = r->figures.schedule->steps;
	for (uint32_t s = 0; rc == SL_OK && s < steps; s++) {
		show_progress(r, s);
		rc = sl_figures_step(&r->figures, s);
		if (rc == SL_OK)
			rc = visit(r, s, into);
		if (rc != SL_OK)
			sl_err_set(error, rc, "step %u: %s", s + 1, sl_err_text(rc));
	}
	show_progress(r, steps);
	return rc;
}

static int add_row(struct report *r, uint32_t step, void *annotations)
{
	print_row(r, step);
	sl_annotations_add(annotations, step, remark_of(r));
	return SL_OK;
}

static int print_table(struct report *r, struct sl_error *error)
{
	struct sl_annotations annotations = {.count = 0};
	print_header(r);
	int rc = for_each_step(r, add_row, &annotations, error);
	sl_annotations_print(&annotations, r->out);
	return rc;
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

static json_t *graph_json(const struct report *r, uint32_t step)
{
	const struct sl_figures *f = &r->figures;
	const struct sl_analysis *a = &f->analysis;
	uint32_t smallest = a->kappa < a->cut_count ? a->kappa : a->cut_count;
	return json_pack(
		"{s:I, s:I, s:I, s:{s:I, s:f, s:I}, s:b, s:I, s:I, s:I, s:o, s:o, s:o}", "step",
		(json_int_t)step + 1, "learners", (json_int_t)f->graph.n, "edges", (json_int_t)f->graph.edges,
		"degree", "min", (json_int_t)sl_graph_degree_min(&f->graph), "mean",
		2.0 * f->graph.edges / f->graph.n, "max", (json_int_t)sl_graph_degree_max(&f->graph),
		"connected", a->components == 1, "components", (json_int_t)a->components, "largest",
		(json_int_t)a->largest, "kappa", (json_int_t)a->kappa, "tolerance",
		count_json((uint64_t)a->kappa - 1, a->kappa > 0), "cut", sl_json_ids(a->cut, smallest),
		"articulation", sl_json_ids(a->cut, a->kappa <= 1 ? a->cut_count : 0));
}

static json_t *mixing_json(const struct report *r)
{
	const struct sl_figures *f = &r->figures;
	const struct sl_analysis *a = &f->analysis;
	return json_pack("{s:f, s:o, s:I, s:o, s:o, s:b, s:I, s:b, s:o}", "mu", a->mu, "k",
			 count_json(f->k, f->k != UINT64_MAX), "p", (json_int_t)f->request.p, "exact",
			 count_json(a->degree, a->degree > 0), "tree",
			 count_json(2 * (uint64_t)a->depth, a->depth > 0), "metropolis", f->metropolis,
			 "floats", (json_int_t)f->request.floats, "seeded", f->request.seeded, "bytes",
			 bytes_json(f));
}

static int add_json(struct report *r, uint32_t step, void *rows)
{
	char *remark = remark_of(r);
	json_t *row = graph_json(r, step), *mixing = mixing_json(r);
	json_t *rest = json_pack("{s:b, s:s?}", "refused", refused(r), "note",
				 remark != NULL && *remark != '\0' ? remark : NULL);
	free(remark);
	bool made = row != NULL && json_object_update(row, mixing) == 0 && json_object_update(row, rest) == 0;
	json_decref(mixing);
	json_decref(rest);
	return json_array_append_new(rows, row) == 0 && made ? SL_OK : SL_ERR_NOMEM;
}

static int print_json(struct report *r, struct sl_error *error)
{
	json_t *rows = json_array();
	int rc = for_each_step(r, add_json, rows, error);
	if (rc == SL_OK)
		return sl_json_print(rows, r->out, error);
	json_decref(rows);
	return rc;
}

int sl_analyze_print(const struct sl_schedule *schedule, const struct sl_analyze_request *request, FILE *out,
		     struct sl_error *error)
{
	struct report r = {.request = request, .out = out};
	int rc = sl_figures_open(&r.figures, schedule, &request->figures);
	if (rc != SL_OK)
		sl_err_set(error, rc, "%s", sl_err_text(rc));
	else
		rc = (request->json ? print_json : print_table)(&r, error);
	sl_figures_close(&r.figures);
	return rc;
}
