/* The analysis of every step of a schedule, as JSON; starling_topology/tables.py makes a table of it. */
#include "tools/topology/analyze.h"

#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include <unistd.h>

#include "tools/lib/command.h"
#include "tools/topology/ids.h"

struct report {
	const struct sl_analyze_request *request;
	struct sl_figures figures; /* of the step at hand */
	json_t *rows;		   /* of all steps */
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

/* Return the learner ids of vertices: [1, 3]. */
static json_t *ids_json(const uint32_t *vertices, size_t count)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_integer((json_int_t)vertices[i] + 1));
	return list;
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
		count_json((uint64_t)a->kappa - 1, a->kappa > 0), "cut", ids_json(a->cut, smallest),
		"articulation", ids_json(a->cut, a->kappa <= 1 ? a->cut_count : 0), "mu", a->mu, "k",
		count_json(f->k, f->k != UINT64_MAX), "p", (json_int_t)f->request.p, "exact",
		count_json(a->degree, a->degree > 0), "forest",
		count_json(2 * (uint64_t)a->depth, a->depth > 0), "forest_vectors", vectors_json(f),
		"metropolis", f->metropolis, "floats", (json_int_t)f->request.floats, "seeded",
		f->request.seeded, "bytes", bytes_json(f), "refused", refused(r));
}

/* ---- every step ---- */

/* Print on a terminal how far the analysis is. */
static void show_progress(uint32_t step, uint32_t steps)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (step < steps)
		fprintf(stderr, "\rstep %u of %u", step + 1, steps);
	else
		fputs("\r\033[K", stderr);
}

static int add_step(struct report *r, uint32_t step)
{
	char *remark = NULL;
	size_t bytes = 0;
	int rc = sl_figures_step(&r->figures, step);
	FILE *out = rc == SL_OK ? open_memstream(&remark, &bytes) : NULL;
	if (out == NULL)
		return rc == SL_OK ? SL_ERR_NOMEM : rc;
	json_t *row = step_json(r, step);
	write_remark(out, r);
	fclose(out);
	json_object_set_new(row, "note", bytes > 0 ? json_string(remark) : json_null());
	free(remark);
	return json_array_append_new(r->rows, row) == 0 ? SL_OK : SL_ERR_NOMEM;
}

static int print_steps(struct report *r, struct sl_error *error)
{
	int rc = SL_OK;
	uint32_t steps = r->figures.schedule->steps;
	r->rows = json_array();
	for (uint32_t s = 0; rc == SL_OK && s < steps; s++) {
		show_progress(s, steps);
		rc = add_step(r, s);
		if (rc != SL_OK)
			sl_err_set(error, rc, "step %u: %s", s + 1, sl_err_text(rc));
	}
	show_progress(steps, steps);
	if (rc == SL_OK)
		sl_command_print_json(r->rows, JSON_INDENT(2));
	else
		json_decref(r->rows);
	return rc;
}

int sl_analyze_print(const struct sl_schedule *schedule, const struct sl_analyze_request *request,
		     struct sl_error *error)
{
	struct report r = {.request = request};
	int rc = sl_figures_open(&r.figures, schedule, &request->figures);
	rc = rc == SL_OK ? print_steps(&r, error) : sl_err_set(error, rc, "%s", sl_err_text(rc));
	sl_figures_close(&r.figures);
	return rc;
}
