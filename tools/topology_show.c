/* What one learns about a schedule before it is played: degrees, parts, and how long mixing takes. */
#include <jansson.h>
#include <stdlib.h>

#include "common/math/spectrum.h"
#include "tools/table.h"
#include "tools/terminal.h"
#include "tools/topology.h"

enum { STEP, N, EDGES, LEAST, MEAN, MOST, CONNECTED, MU, K, COLUMNS };

static const struct sl_column table[COLUMNS] = {
	[STEP] = {"step", 6, 0, false},
	[N] = {"N", 6, 3, false},
	[EDGES] = {"edges", 9, 0, false},
	[LEAST] = {"min", 7, 2, false},
	[MEAN] = {"mean", 9, 2, false},
	[MOST] = {"max", 7, 2, false},
	[CONNECTED] = {"connected", 12, 0, true},
	[MU] = {"mu", 10, 1, false},
	[K] = {"K", 10, 0, false},
};

#define DEGREES (UINT32_C(1) << LEAST | UINT32_C(1) << MEAN | UINT32_C(1) << MOST)

/* The graph, and what sl_mu works with. */
static size_t figures_scratch(uint32_t n, size_t edges)
{
	return 8192 + 64 * (size_t)n + 24 * edges + sl_mu_scratch(n);
}

static int figures_of(const struct sl_graph *graph, uint64_t p, struct sl_arena *scratch,
		      struct sl_step_figures *f)
{
	*f = (struct sl_step_figures){.learners = graph->n,
				      .edges = graph->edges,
				      .degree_min = sl_degree_min(graph),
				      .degree_max = sl_degree_max(graph),
				      .degree_mean = 2.0 * graph->edges / graph->n,
				      .mu = 1,
				      .k = UINT64_MAX};
	f->parts = sl_components(graph, NULL, scratch);
	if (f->parts == 0)
		return SL_ERR_NOMEM;
	if (f->parts > 1)
		return SL_OK;
	int rc = sl_mu(graph, scratch, &f->mu);
	if (rc == SL_OK)
		f->k = sl_iterations(p, graph->n, f->mu);
	return rc;
}

int sl_step_figures(const struct sl_schedule *schedule, uint32_t step, uint64_t p,
		    struct sl_step_figures *figures)
{
	size_t count = sl_schedule_count(schedule, step);
	size_t bytes = figures_scratch(schedule->learners, count);
	void *memory = malloc(bytes);
	struct sl_arena arena;
	struct sl_graph graph;
	if (memory == NULL)
		return SL_ERR_NOMEM;
	sl_arena_init(&arena, memory, bytes);
	int rc = sl_graph_init(&graph, schedule->learners, sl_schedule_edges(schedule, step), count, &arena);
	if (rc == SL_OK)
		rc = figures_of(&graph, p, &arena, figures);
	free(memory);
	return rc;
}

static int figures_or_fail(const struct sl_schedule *schedule, uint32_t step, uint64_t p,
			   struct sl_step_figures *f, struct sl_error *error)
{
	int rc = sl_step_figures(schedule, step, p, f);
	return rc == SL_OK ? SL_OK : sl_fail(error, rc, "step %u: %s", step + 1, sl_err_text(rc));
}

static void print_row(uint32_t step, const struct sl_step_figures *f, uint32_t columns, FILE *out)
{
	char cells[COLUMNS][SL_CELL_BYTES], line[SL_TABLE_LINE_BYTES];
	snprintf(cells[STEP], SL_CELL_BYTES, "%u", step + 1);
	snprintf(cells[N], SL_CELL_BYTES, "%u", f->learners);
	snprintf(cells[EDGES], SL_CELL_BYTES, "%u", f->edges);
	snprintf(cells[LEAST], SL_CELL_BYTES, "%u", f->degree_min);
	snprintf(cells[MEAN], SL_CELL_BYTES, "%.2f", f->degree_mean);
	snprintf(cells[MOST], SL_CELL_BYTES, "%u", f->degree_max);
	snprintf(cells[CONNECTED], SL_CELL_BYTES, f->parts > 1 ? "%u parts" : "yes", f->parts);
	snprintf(cells[MU], SL_CELL_BYTES, "%.7f", f->mu);
	snprintf(cells[K], SL_CELL_BYTES, f->k != UINT64_MAX ? "%llu" : "-", (unsigned long long)f->k);
	sl_table_line(table, COLUMNS, columns, cells, line);
	fprintf(out, "%s\n", line);
}

/* What is said of degrees goes as a whole. */
static uint32_t columns_for(FILE *out)
{
	uint32_t columns = sl_table_kept(table, COLUMNS, sl_terminal_width(out));
	return (columns & DEGREES) == DEGREES ? columns : columns & ~DEGREES;
}

int sl_topology_print_table(const struct sl_schedule *schedule, uint64_t p, FILE *out, struct sl_error *error)
{
	struct sl_step_figures f;
	char line[SL_TABLE_LINE_BYTES];
	uint32_t columns = columns_for(out);
	size_t before = sl_table_width(table, COLUMNS, columns & ((UINT32_C(1) << MEAN) - 1));
	if (columns & DEGREES)
		fprintf(out, "%*s  degree\n", (int)before + 1, "");
	sl_table_header(table, COLUMNS, columns, line);
	fprintf(out, "%s\n", line);
	for (uint32_t s = 0; s < schedule->steps; s++) {
		int rc = figures_or_fail(schedule, s, p, &f, error);
		if (rc != SL_OK)
			return rc;
		print_row(s, &f, columns, out);
	}
	return SL_OK;
}

static json_t *row(uint32_t step, uint64_t p, const struct sl_step_figures *f)
{
	json_t *k = f->k == UINT64_MAX ? json_null() : json_integer((json_int_t)f->k);
	return json_pack("{s:I, s:I, s:I, s:{s:I, s:f, s:I}, s:b, s:I, s:f, s:o, s:I}", "step",
			 (json_int_t)step + 1, "learners", (json_int_t)f->learners, "edges",
			 (json_int_t)f->edges, "degree", "min", (json_int_t)f->degree_min, "mean",
			 f->degree_mean, "max", (json_int_t)f->degree_max, "connected", f->parts == 1,
			 "components", (json_int_t)f->parts, "mu", f->mu, "k", k, "p", (json_int_t)p);
}

int sl_topology_print_json(const struct sl_schedule *schedule, uint64_t p, FILE *out, struct sl_error *error)
{
	struct sl_step_figures f;
	int rc = SL_OK;
	json_t *rows = json_array();
	for (uint32_t s = 0; rc == SL_OK && s < schedule->steps; s++) {
		rc = figures_or_fail(schedule, s, p, &f, error);
		if (rc == SL_OK && json_array_append_new(rows, row(s, p, &f)) != 0)
			rc = sl_fail(error, SL_ERR_NOMEM, "out of memory");
	}
	if (rc == SL_OK && (json_dumpf(rows, out, JSON_INDENT(2)) != 0 || fputc('\n', out) == EOF))
		rc = sl_fail(error, SL_ERR_IO, "cannot write");
	json_decref(rows);
	return rc;
}
