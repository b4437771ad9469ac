/* Part i: the estimates of `starling estimate`, compared with rounds of daemons. */
#include <math.h>
#include <stdlib.h>

#include "tools/dev/bench/daemons.h"
#include "tools/estimate/estimate.h"
#include "tools/lib/csv.h"
#include "tools/paper/reproduce.h"
#include "tools/paper/document.h"
#include "tools/paper/step.h"

#define ROUNDS 4u /* the first makes the links */
#define CASES_MOST 7u

struct one {
	const char *name, *topology;
	uint32_t learners, floats;
	enum sl_engine engine;
	enum sl_sharing_kind sharing;
};

static const struct one cases[] = {
	{"10, complete", "complete", 10, 100000, SL_ENGINE_EXACT, SL_SHARING_SHAMIR},
	{"10, ring", "ring", 10, 100000, SL_ENGINE_EXACT, SL_SHARING_SEEDED},
	{"30, 6 neighbours", "regular:6", 30, 30000, SL_ENGINE_METROPOLIS, SL_SHARING_ADDITIVE},
	{"100, 10 neighbours", "regular:10", 100, 10000, SL_ENGINE_EXACT, SL_SHARING_ADDITIVE},
	{"100, 10 neighbours", "regular:10", 100, 10000, SL_ENGINE_EXACT, SL_SHARING_SEEDED},
	{"10, ring", "ring", 10, 1000000, SL_ENGINE_TREE, SL_SHARING_SEEDED},
	{"100, 10 neighbours", "regular:10", 100, 10000, SL_ENGINE_TREE, SL_SHARING_SEEDED},
};
static const struct one quick_cases[] = {
	{"4, ring", "ring", 4, 1000, SL_ENGINE_METROPOLIS, SL_SHARING_ADDITIVE}};

enum quantity { BYTES, MEMORY, QUANTITIES };
static const char *const quantity_names[QUANTITIES] = {"MB sent by all", "MB of memory, most"};
static const char *const keys[QUANTITIES] = {"bytes", "peak_bytes"};
static const double units[QUANTITIES] = {1e-6, 1e-6};

struct compared {
	double planned[QUANTITIES], measured[QUANTITIES];
};

struct plans {
	struct sl_paper *r;
	const struct one *cases;
	uint32_t count;
	struct compared compared[CASES_MOST];
};

/* ---- planned ---- */

static int plan_one(struct plans *w, uint32_t i, struct sl_error *error)
{
	const struct one *c = &w->cases[i];
	struct sl_estimate_input input = {.floats = c->floats, .p = SL_P_MERSENNE31};
	struct sl_step_graph graph;
	struct sl_field field;
	struct sl_estimated planned;
	int rc = sl_step_graph_named(&graph, c->topology, c->learners, error);
	if (rc == SL_OK)
		rc = sl_field_init(&field, input.p);
	if (rc == SL_OK)
		rc = sl_estimate_graph_figures(&graph.graph, &field, &input.graph);
	sl_step_graph_close(&graph);
	if (rc != SL_OK)
		return sl_err_set(error, rc, "%s: %s", c->name, sl_err_text(rc));
	sl_estimate_cost_all(&input, &planned);
	const struct sl_estimate_cost *cost = &planned.costs[c->engine][c->sharing];
	w->compared[i] = (struct compared){.planned = {cost->bytes_all * 1e-6, cost->memory * 1e-6}};
	return SL_OK;
}

/* ---- measured ---- */

/* The middle one of the rounds but the first. */
static double middle_of(const json_t *rows, const char *key)
{
	struct sl_figure figure = {.count = 0};
	for (size_t i = 1; i < json_array_size(rows); i++)
		sl_figure_add(&figure, json_number_value(json_object_get(json_array_get(rows, i), key)));
	return sl_figure_spread(&figure).median;
}

static int measure_one(struct plans *w, uint32_t i, struct sl_error *error)
{
	const struct one *c = &w->cases[i];
	char mixing[32], sharing[32];
	json_t *rows = NULL;
	snprintf(mixing, sizeof mixing, "mixing=%s", sl_engine_name(c->engine));
	snprintf(sharing, sizeof sharing, "sharing=%s", sl_share_kind_name(c->sharing));
	const struct sl_bench_daemons what = {.learners = c->learners,
					      .size = c->floats,
					      .topology = c->topology,
					      .set = {mixing, sharing, "privacy_check=warn"}};
	if (sl_write_at(w->r, c->name, (double)i / w->count) != SL_OK)
		return SL_PENDING;
	int rc = sl_bench_launch(w->r->bench, &what, ROUNDS, w->r->bench->folder, &rows, error);
	for (enum quantity q = 0; rc == SL_OK && q < QUANTITIES; q++)
		w->compared[i].measured[q] = units[q] * middle_of(rows, keys[q]);
	json_decref(rows);
	return rc;
}

/* ---- what it comes to ---- */

static void write_rows(struct plans *w, struct sl_csv *csv, uint32_t i)
{
	const struct one *c = &w->cases[i];
	char name[96];
	snprintf(name, sizeof name, "%s, n = %u, %s + %s", c->name, c->floats, sl_share_kind_name(c->sharing),
		 sl_engine_name(c->engine));
	for (enum quantity q = 0; q < QUANTITIES; q++) {
		double planned = w->compared[i].planned[q], measured = w->compared[i].measured[q];
		sl_csv_text(csv, name);
		sl_csv_text(csv, quantity_names[q]);
		sl_csv_real(csv, planned);
		sl_csv_real(csv, measured);
		sl_csv_end(csv);
	}
}

static void claim(struct plans *w, enum quantity q)
{
	double least = INFINITY, most = 0;
	char text[128];
	for (uint32_t i = 0; i < w->count; i++) {
		double ratio = w->compared[i].measured[q] / w->compared[i].planned[q];
		least = fmin(least, ratio);
		most = fmax(most, ratio);
	}
	snprintf(text, sizeof text, "starling estimate: %s", quantity_names[q]);
	sl_paper_claim(w->r, 'i', SL_MEASURED, text, "-",
		       "measured over planned: %.2f to %.2f in %u cases up to N = %u", least, most, w->count,
		       w->cases[w->count - 1].learners);
}

static int write_part(struct plans *w, struct sl_error *error)
{
	struct sl_csv csv;
	FILE *out = sl_paper_folder_file(&w->r->folder, "i_plan.csv", error);
	if (out == NULL)
		return error->code;
	sl_csv_open(&csv, out, "case,quantity,planned,measured");
	sl_document_heading(w->r, "i. Plan against measured");
	sl_document_text(w->r,
			 "The estimates of `starling estimate`, and the median of %u rounds of as many "
			 "daemons on this machine, over loopback, with TLS and durable records.",
			 ROUNDS - 1);
	for (uint32_t i = 0; i < w->count; i++)
		write_rows(w, &csv, i);
	sl_document_data(w->r, "i_plan.csv");
	for (enum quantity q = 0; q < QUANTITIES; q++)
		claim(w, q);
	return SL_OK;
}

int sl_paper_plan(struct sl_paper *r, struct sl_error *error)
{
	struct plans w = {.r = r, .cases = cases, .count = sizeof cases / sizeof *cases};
	if (r->options.quick) {
		w.cases = quick_cases;
		w.count = sizeof quick_cases / sizeof *quick_cases;
	}
	int rc = SL_OK;
	for (uint32_t i = 0; rc == SL_OK && i < w.count; i++)
		rc = plan_one(&w, i, error);
	for (uint32_t i = 0; rc == SL_OK && i < w.count; i++)
		rc = measure_one(&w, i, error);
	return rc == SL_OK ? write_part(&w, error) : rc;
}
