/* Part g: three statements of the paper, tried as printed. */
#include <inttypes.h>
#include <math.h>

#include "tools/paper/csv.h"
#include "tools/paper/run.h"
#include "tools/paper/spectrum.h"
#include "tools/paper/ways.h"

/* ---- shares with c_tau != 0, and the update rule with s_i for s_j ---- */

static void try_shares(struct sl_paper *r)
{
	double printed = sl_ways_share_distance(false), uniform = sl_ways_share_distance(true);
	sl_paper_value(r, "g_printed", "%.4f", printed);
	sl_paper_value(r, "g_uniform", "%.4f", uniform);
	if (uniform != 0)
		sl_paper_broken(r, "shares with uniform coefficients tell of the secret: distance %g",
				uniform);
	sl_paper_claim(r, 'g', sl_paper_verdict(printed == 0),
		       "τ shares tell nothing (Lemma 2), with c_τ ≠ 0 as printed", "distance 0",
		       "%.4f at p = 7, τ = 2 (1/6 = %.4f); 0 with c_τ uniform", printed, 1.0 / 6);
}

static int try_rule(struct sl_paper *r, struct sl_error *error)
{
	struct sl_run_graph graph;
	struct sl_eigen eigen;
	struct sl_ways_trial trial;
	uint32_t all = SL_PAPER_LEARNERS * SL_WAY_STATES;
	int rc = sl_run_graph_open(&graph, "neighbours:40", SL_PAPER_LEARNERS, error);
	if (rc != SL_OK)
		return rc;
	sl_spectrum_eigen(&graph.graph, &eigen);
	rc = sl_ways_trial_open(&trial, &graph.graph, eigen.mu, SL_PAPER_P);
	assert(rc == SL_OK);
	uint32_t printed = all - sl_ways_wrong(&trial, SL_WAY_PRINTED),
		 meant = all - sl_ways_wrong(&trial, SL_WAY_PRODUCT);
	sl_paper_value(r, "g_k", "%" PRIu64, trial.k);
	sl_paper_value(r, "g_right_printed", "%u", printed);
	sl_paper_value(r, "g_right_meant", "%u", meant);
	sl_paper_claim(r, 'g',
		       printed != all && meant == all ? SL_MISPRINT : sl_paper_verdict(printed == all),
		       "the update rule reaches the mean (it prints s_i for s_j)", "all states",
		       "as printed %u of %u, as meant %u of %u", printed, all, meant, all);
	sl_ways_trial_close(&trial);
	sl_run_graph_close(&graph);
	return SL_OK;
}

/* ---- real numbers as p grows, beside fixed point and the field ---- */

static const struct {
	const char *name, *topology;
} graphs[] = {{"10 neighbours", "neighbours:10"}, {"star", "star"}, {"line", "line"}};
static const struct {
	uint64_t p;
	const char *text;
} primes[] = {{SL_PAPER_P, "1020431"},
	      {SL_P_MERSENNE31, "2^31-1"},
	      {(UINT64_C(1) << 36) - 5, "2^36-5"},
	      {(UINT64_C(1) << 40) - 87, "2^40-87"},
	      {(UINT64_C(1) << 44) - 17, "2^44-17"}};
#define GRAPHS 3u
#define PRIMES 5u

/* Count the wrong elements of a round of the engine `exact`. */
static int try_field(struct sl_paper *r, uint32_t g, uint32_t prime, uint64_t *wrong, struct sl_error *error)
{
	struct sl_run run;
	struct sl_run_plan plan = {.what = graphs[g].name,
				   .learners = SL_PAPER_LEARNERS,
				   .parameters = SL_WAY_STATES - 1, /* and the weight */
				   .topologies = {graphs[g].topology}};
	snprintf(plan.set, sizeof plan.set,
		 "rounds=1 decimals=3 clipping_range=5 privacy_check=warn mixing=exact modulus=%" PRIu64,
		 primes[prime].p);
	int rc = sl_run_start(&run, &plan, r, error);
	if (rc == SL_OK)
		*wrong = run.rounds[0].wrong;
	sl_run_close(&run);
	return rc;
}

static int try_prime(struct sl_paper *r, FILE *csv, uint32_t g, uint32_t prime, const struct sl_graph *graph,
		     double mu, uint32_t *fails_from, struct sl_error *error)
{
	struct sl_ways_trial t;
	uint64_t field;
	int rc = try_field(r, g, prime, &field, error);
	if (rc == SL_OK)
		rc = sl_ways_trial_open(&t, graph, mu, primes[prime].p);
	if (rc != SL_OK)
		return rc;
	uint32_t product = sl_ways_wrong(&t, SL_WAY_PRODUCT),
		 difference = sl_ways_wrong(&t, SL_WAY_DIFFERENCE), fixed = sl_ways_wrong(&t, SL_WAY_FIXED);
	sl_csv_print(csv, "%s,%" PRIu64 ",%" PRIu64 ",%u,%u,%g,%" PRIu64 "\n", graphs[g].name, t.field.p, t.k,
		     product, difference, fixed == SL_WAY_REFUSED ? (double)NAN : (double)fixed, field);
	if (fixed != SL_WAY_REFUSED && fixed > 0)
		sl_paper_broken(r, "%s, p = %s: %u states are wrong in fixed point", graphs[g].name,
				primes[prime].text, fixed);
	if (product > 0 && prime < *fails_from)
		*fails_from = prime;
	sl_ways_trial_close(&t);
	return SL_OK;
}

/* *fails_from: the first of the primes with a wrong result in float64, as the paper has it; or PRIMES. */
static int try_graph(struct sl_paper *r, FILE *csv, uint32_t g, uint32_t *fails_from, struct sl_error *error)
{
	struct sl_run_graph graph;
	struct sl_eigen eigen;
	int rc = sl_run_graph_open(&graph, graphs[g].topology, SL_PAPER_LEARNERS, error);
	if (rc == SL_OK)
		sl_spectrum_eigen(&graph.graph, &eigen);
	*fails_from = PRIMES;
	for (uint32_t p = 0; rc == SL_OK && p < PRIMES; p++) {
		rc = sl_paper_progress(r, graphs[g].name, (double)(g * PRIMES + p) / (GRAPHS * PRIMES));
		if (rc == SL_OK)
			rc = try_prime(r, csv, g, p, &graph.graph, eigen.mu, fails_from, error);
	}
	sl_run_graph_close(&graph);
	return rc;
}

static int try_reals(struct sl_paper *r, struct sl_error *error)
{
	char where[160] = "";
	size_t used = 0;
	bool right = true;
	FILE *csv = sl_paper_folder_file(&r->folder, "g_numbers.csv");
	sl_csv_print(csv, "topology,p,k,wrong_float64,wrong_float64_differences,wrong_fixed_point,"
			  "wrong_field\n");
	for (uint32_t g = 0; g < (r->options.quick ? 1 : GRAPHS); g++) {
		uint32_t first;
		int rc = try_graph(r, csv, g, &first, error);
		if (rc != SL_OK)
			return rc;
		right = right && first > 0;
		used += (size_t)snprintf(where + used, sizeof where - used, "%s %s (%s)", g > 0 ? "," : "",
					 first < PRIMES ? primes[first].text : "none tried", graphs[g].name);
	}
	sl_paper_claim(r, 'g', sl_paper_verdict(right), "real numbers (float64) mix to the right integers",
		       "at p = 1020431", "%s there; wrong from p =%s on", right ? "right" : "wrong", where);
	return SL_OK;
}

int sl_paper_printed(struct sl_paper *r, struct sl_error *error)
{
	try_shares(r);
	int rc = try_rule(r, error);
	return rc == SL_OK ? try_reals(r, error) : rc;
}
