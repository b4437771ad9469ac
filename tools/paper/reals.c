/* Part g: mixing with the paper's real numbers as p grows, beside fixed point and the field. */
#include <inttypes.h>
#include <math.h>

#include "tools/lib/csv.h"
#include "tools/paper/printed.h"
#include "tools/paper/step.h"
#include "tools/paper/document.h"
#include "tools/paper/ways.h"

static const char *const graph_names[] = {"10 neighbours", "star", "line"};
static const char *const graph_texts[] = {"neighbours:10", "star", "line"};
static const uint64_t primes[] = {SL_PAPER_P, SL_P_MERSENNE31, (UINT64_C(1) << 36) - 5,
				  (UINT64_C(1) << 40) - 87, (UINT64_C(1) << 44) - 17};
static const char *const prime_texts[] = {"1020431", "2^31-1", "2^36-5", "2^40-87", "2^44-17"};
#define GRAPHS 3u
#define PRIMES 5u

struct table {
	struct sl_paper *r;
	struct sl_csv csv;
	uint32_t graphs;
	uint32_t fails_from[GRAPHS]; /* the first of the primes with a wrong result in float64, as the paper
					has it */
};

static void write_trial(struct table *w, const char *graph, const struct sl_trial *t,
			const uint32_t wrong[SL_WAY_COUNT])
{
	sl_csv_text(&w->csv, graph);
	sl_csv_whole(&w->csv, (int64_t)t->field.p);
	sl_csv_whole(&w->csv, (int64_t)t->k);
	for (uint32_t way = 0; way < SL_WAY_COUNT; way++)
		sl_csv_real(&w->csv, wrong[way] == SL_WAY_REFUSED ? (double)NAN : (double)wrong[way]);
	sl_csv_end(&w->csv);
}

static void check_ours(struct table *w, const char *graph, const char *p, const uint32_t wrong[SL_WAY_COUNT])
{
	for (uint32_t way = SL_WAY_FIXED; way <= SL_WAY_FIELD; way++)
		if (wrong[way] != SL_WAY_REFUSED && wrong[way] > 0)
			sl_paper_broken(w->r, "%s, p = %s: %u states are wrong in %s", graph, p, wrong[way],
					way == SL_WAY_FIXED ? "fixed point" : "the field");
}

static int try_one(struct table *w, uint32_t g, uint32_t prime, const struct sl_graph *graph, double mu)
{
	struct sl_trial t;
	int rc = sl_ways_trial_open(&t, graph, mu, primes[prime]);
	if (rc == SL_OK) {
		uint32_t wrong[SL_WAY_COUNT];
		for (enum sl_way way = 0; way < SL_WAY_COUNT; way++)
			wrong[way] = sl_ways_wrong(&t, way);
		write_trial(w, graph_names[g], &t, wrong);
		check_ours(w, graph_names[g], prime_texts[prime], wrong);
		if (wrong[SL_WAY_PRODUCT] > 0 && prime < w->fails_from[g])
			w->fails_from[g] = prime;
	}
	sl_ways_trial_close(&t);
	return rc;
}

static int try_graph(struct table *w, uint32_t g, struct sl_error *error)
{
	struct sl_step_graph graph;
	struct sl_eigen eigen;
	int rc = sl_step_graph_named(&graph, graph_texts[g], SL_PAPER_LEARNERS, error);
	if (rc == SL_OK)
		rc = sl_spectrum_eigen(&graph.graph, &eigen);
	for (uint32_t p = 0; rc == SL_OK && p < PRIMES; p++) {
		rc = sl_write_at(w->r, graph_names[g], (double)(g * PRIMES + p) / (GRAPHS * PRIMES));
		if (rc == SL_OK)
			rc = try_one(w, g, p, &graph.graph, eigen.mu);
	}
	sl_step_graph_close(&graph);
	return rc;
}

static void claim(struct table *w)
{
	char where[160] = "";
	size_t used = 0;
	bool right = true;
	for (uint32_t g = 0; g < w->graphs; g++) {
		uint32_t first = w->fails_from[g];
		right = right && first > 0;
		used += (size_t)snprintf(where + used, sizeof where - used, "%s %s (%s)", g > 0 ? "," : "",
					 first < PRIMES ? prime_texts[first] : "none tried", graph_names[g]);
	}
	sl_paper_claim(w->r, 'g', right ? SL_HOLDS : SL_HOLDS_NOT,
		       "real numbers (float64) mix to the right integers", "at p = 1020431",
		       "%s there; wrong from p =%s on", right ? "right" : "wrong", where);
}

int sl_reals_printed(struct sl_paper *r, struct sl_error *error)
{
	struct table w = {
		.r = r, .graphs = r->options.quick ? 1 : GRAPHS, .fails_from = {PRIMES, PRIMES, PRIMES}};
	FILE *out = sl_paper_folder_file(&r->folder, "g_numbers.csv", error);
	if (out == NULL)
		return error->code;
	sl_csv_open(&w.csv, out,
		    "topology,p,k,wrong_float64,wrong_float64_differences,wrong_fixed_point,wrong_field");
	sl_document_text(
		r,
		"Numbers. The paper mixes real numbers. Here are %u uniform states of each of %u learners, "
		"mixed K times: in float64 "
		"as the paper has it (A times s) and by differences, which is kinder to rounding; in fixed "
		"point (metropolis; refused "
		"where rounding is not provably harmless); and in the field (exact, in fewer iterations).",
		SL_WAY_STATES, SL_PAPER_LEARNERS);
	int rc = SL_OK;
	for (uint32_t g = 0; rc == SL_OK && g < w.graphs; g++)
		rc = try_graph(&w, g, error);
	sl_document_data(r, "g_numbers.csv");
	claim(&w);
	return rc;
}
