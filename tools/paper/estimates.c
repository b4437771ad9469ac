/* Part i: the estimates of `starling estimate`, compared with rounds of daemons. */
#include <math.h>

#include "tools/dev/bench/daemons.h"
#include "tools/estimate/estimate.h"
#include "tools/paper/csv.h"
#include "tools/paper/run.h"

#define ROUNDS 4u /* the first makes the links */

static const struct experiment {
	const char *name, *topology;
	uint32_t learners, floats;
	enum sl_engine engine;
	enum sl_sharing_kind sharing;
} full[] =
	{
		{"10, complete", "complete", 10, 100000, SL_ENGINE_EXACT, SL_SHARING_SHAMIR},
		{"10, ring", "ring", 10, 100000, SL_ENGINE_EXACT, SL_SHARING_SEEDED},
		{"30, 6 neighbours", "regular:6", 30, 30000, SL_ENGINE_METROPOLIS, SL_SHARING_ADDITIVE},
		{"100, 10 neighbours", "regular:10", 100, 10000, SL_ENGINE_EXACT, SL_SHARING_ADDITIVE},
		{"100, 10 neighbours", "regular:10", 100, 10000, SL_ENGINE_EXACT, SL_SHARING_SEEDED},
		{"10, ring", "ring", 10, 1000000, SL_ENGINE_FOREST, SL_SHARING_SEEDED},
		{"100, 10 neighbours", "regular:10", 100, 10000, SL_ENGINE_FOREST, SL_SHARING_SEEDED},
},
  quick[] = {{"4, ring", "ring", 4, 1000, SL_ENGINE_METROPOLIS, SL_SHARING_ADDITIVE}};

enum quantity { BYTES, MEMORY, QUANTITIES };
static const char *const quantity_names[QUANTITIES] = {"MB sent by all", "MB of memory, most"};
static const char *const keys[QUANTITIES] = {"bytes", "peak_bytes"};

/* Megabytes, and the range of measured over planned. */
struct compared {
	double planned[QUANTITIES], measured[QUANTITIES], least[QUANTITIES], most[QUANTITIES];
};

static int plan(const struct experiment *e, struct compared *c, struct sl_error *error)
{
	struct sl_estimate_input input = {.floats = e->floats, .p = SL_P_MERSENNE31};
	struct sl_run_graph graph;
	struct sl_field field;
	struct sl_estimated planned;
	int rc = sl_run_graph_open(&graph, e->topology, e->learners, error);
	if (rc == SL_OK)
		rc = sl_field_init(&field, input.p);
	if (rc == SL_OK)
		rc = sl_estimate_graph_figures(&graph.graph, &field, input.floats + 1, &input.graph);
	sl_run_graph_close(&graph);
	if (rc != SL_OK)
		return sl_err_set(error, rc, "%s: %s", e->name, sl_err_text(rc));
	sl_estimate_cost_all(&input, &planned);
	c->planned[BYTES] = planned.costs[e->engine][e->sharing].bytes_all * 1e-6;
	c->planned[MEMORY] = planned.costs[e->engine][e->sharing].memory * 1e-6;
	return SL_OK;
}

/* Return the median over the rounds but the first. */
static double median_of(const json_t *rows, const char *key)
{
	struct sl_figure figure = {.count = 0};
	for (size_t i = 1; i < json_array_size(rows); i++)
		sl_figure_add(&figure, json_number_value(json_object_get(json_array_get(rows, i), key)));
	return sl_figure_spread(&figure).median;
}

static int measure(struct sl_paper *r, const struct experiment *e, struct compared *c, struct sl_error *error)
{
	char mixing[32], sharing[32];
	json_t *rows = NULL;
	snprintf(mixing, sizeof mixing, "mixing=%s", sl_engine_name(e->engine));
	snprintf(sharing, sizeof sharing, "sharing=%s", sl_share_kind_name(e->sharing));
	const struct sl_bench_daemons what = {.learners = e->learners,
					      .size = e->floats,
					      .topology = e->topology,
					      .set = {mixing, sharing, "privacy_check=warn"}};
	int rc = sl_bench_launch(r->bench, &what, ROUNDS, r->bench->folder, &rows, error);
	for (enum quantity q = 0; rc == SL_OK && q < QUANTITIES; q++)
		c->measured[q] = median_of(rows, keys[q]) * 1e-6;
	json_decref(rows);
	return rc;
}

static void write_rows(FILE *csv, const struct experiment *e, struct compared *c)
{
	char name[96];
	snprintf(name, sizeof name, "%s, n = %u, %s + %s", e->name, e->floats, sl_share_kind_name(e->sharing),
		 sl_engine_name(e->engine));
	for (enum quantity q = 0; q < QUANTITIES; q++) {
		double ratio = c->measured[q] / c->planned[q];
		sl_csv_print(csv, "%s,%s,%g,%g\n", name, quantity_names[q], c->planned[q], c->measured[q]);
		c->least[q] = fmin(c->least[q], ratio);
		c->most[q] = fmax(c->most[q], ratio);
	}
}

int sl_paper_estimates(struct sl_paper *r, struct sl_error *error)
{
	const struct experiment *all = r->options.quick ? quick : full;
	uint32_t count = r->options.quick ? 1 : sizeof full / sizeof *full;
	struct compared c = {.least = {INFINITY, INFINITY}};
	FILE *csv = sl_paper_folder_file(&r->folder, "i_plan.csv");
	sl_csv_print(csv, "case,quantity,planned,measured\n");
	for (uint32_t i = 0; i < count; i++) {
		int rc = sl_paper_progress(r, all[i].name, (double)i / count);
		if (rc == SL_OK)
			rc = plan(&all[i], &c, error);
		if (rc == SL_OK)
			rc = measure(r, &all[i], &c, error);
		if (rc != SL_OK)
			return rc;
		write_rows(csv, &all[i], &c);
	}
	for (enum quantity q = 0; q < QUANTITIES; q++) {
		char text[128];
		snprintf(text, sizeof text, "starling estimate: %s", quantity_names[q]);
		sl_paper_claim(r, 'i', SL_MEASURED, text, "-",
			       "measured over planned: %.2f to %.2f in %u cases up to N = %u", c.least[q],
			       c.most[q], count, all[count - 1].learners);
	}
	return SL_OK;
}
