/* The analysis of every step of a schedule, as JSON: starling_topology/analyze.py and estimate.py add what a
 * round costs. */
#include "tools/topology/analyze.h"

#include <unistd.h>

/* Return the learner ids of vertices: [1, 3]. */
static json_t *ids_json(const uint32_t *vertices, size_t count)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_integer((json_int_t)vertices[i] + 1));
	return list;
}

static json_t *graph_json(const struct sl_figures *f)
{
	const struct sl_analysis *a = &f->analysis;
	return json_pack("{s:I, s:I, s:f, s:I, s:f, s:I, s:I, s:I, s:I, s:f}", "learners",
			 (json_int_t)f->graph.n, "edges", (json_int_t)f->graph.edges, "degree_mean",
			 2.0 * f->graph.edges / f->graph.n, "degree_max",
			 (json_int_t)sl_graph_degree_max(&f->graph), "mu", a->mu, "deg_r",
			 (json_int_t)a->degree, "depth", (json_int_t)a->depth, "trees", (json_int_t)a->trees,
			 "load", (json_int_t)a->load, "bound", f->forest_bound);
}

static json_t *step_json(const struct sl_figures *f)
{
	const struct sl_analysis *a = &f->analysis;
	char why[1024];
	sl_figures_refusal(f, f->request.analysis.tolerance, why, sizeof why);
	return json_pack("{s:o, s:I, s:I, s:I, s:I, s:o, s:s?}", "graph", graph_json(f), "degree_min",
			 (json_int_t)sl_graph_degree_min(&f->graph), "components", (json_int_t)a->components,
			 "largest", (json_int_t)a->largest, "kappa", (json_int_t)a->kappa, "cut",
			 ids_json(a->cut, a->cut_count), "refusal", *why != '\0' ? why : NULL);
}

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

json_t *sl_analyze(const struct sl_schedule *schedule, uint32_t steps,
		   const struct sl_figures_request *request, struct sl_error *error)
{
	struct sl_figures figures;
	json_t *rows = json_array();
	int rc = sl_figures_open(&figures, schedule, request);
	if (rc != SL_OK)
		sl_err_set(error, rc, "%s", sl_err_text(rc));
	for (uint32_t s = 0; rc == SL_OK && s < steps; s++) {
		show_progress(s, steps);
		rc = sl_figures_step(&figures, s);
		if (rc == SL_OK)
			json_array_append_new(rows, step_json(&figures));
		else
			sl_err_set(error, rc, "step %u: %s", s + 1, sl_err_text(rc));
	}
	show_progress(steps, steps);
	sl_figures_close(&figures);
	if (rc == SL_OK)
		return rows;
	json_decref(rows);
	return NULL;
}
