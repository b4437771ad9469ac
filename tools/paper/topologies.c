/* Parts c and d: the paper's six topologies: mixing on each, the powers of its matrix, its eigenvalues. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/mixing/spectrum.h"
#include "tools/paper/csv.h"
#include "tools/paper/run.h"
#include "tools/paper/spectrum.h"

#define FLOATS 2353u
#define WATCHED SL_RUNNER_COORDINATES_MAX
#define FLOATS_LONG 15u /* and the weight: 16 elements, where mixing takes thousands of iterations */
#define K_LONG 1000u
#define K_QUICK 250u

#define SIX 6u
struct topology {
	const char *name, *topology;
	double paper; /* the paper's second largest eigenvalue, to four digits */
	struct sl_run_graph graph;
	struct sl_eigen eigen;
	uint64_t k, k_lambda; /* iterations by the bound: from mu, and from lambda_2 as the paper reads it */
	uint32_t coordinates[WATCHED];
	struct sl_run_plan plan;
	struct sl_run run;	      /* of one round */
	const struct sl_trace *trace; /* of that round; NULL: --quick leaves it out */
};

static const struct topology paper[SIX] = {
	{.name = "complete", .topology = "complete", .paper = 0},
	{.name = "40 neighbours", .topology = "neighbours:40", .paper = 0.3259},
	{.name = "20 neighbours", .topology = "neighbours:20", .paper = 0.8181},
	{.name = "10 neighbours", .topology = "neighbours:10", .paper = 0.9555},
	{.name = "star", .topology = "star", .paper = 0.9900},
	{.name = "line", .topology = "line", .paper = 0.9997},
};

static int open_one(struct topology *one, struct sl_error *error)
{
	int rc = sl_run_graph_open(&one->graph, one->topology, SL_PAPER_LEARNERS, error);
	if (rc != SL_OK)
		return rc;
	sl_spectrum_eigen(&one->graph.graph, &one->eigen);
	one->k = sl_spectrum_iterations(SL_PAPER_P, SL_PAPER_LEARNERS, one->eigen.mu);
	one->k_lambda = sl_spectrum_iterations(SL_PAPER_P, SL_PAPER_LEARNERS, one->eigen.lambda_2);
	return SL_OK;
}

static int mix_one(struct sl_paper *r, struct topology *one, struct sl_error *error)
{
	bool brief = one->k > K_LONG || r->options.quick;
	uint32_t floats = brief ? FLOATS_LONG : FLOATS, count = brief ? FLOATS_LONG : WATCHED;
	for (uint32_t c = 0; c < count; c++)
		one->coordinates[c] = c * (floats / count);
	one->plan = (struct sl_run_plan){.what = one->name,
					 .learners = SL_PAPER_LEARNERS,
					 .parameters = floats,
					 .topologies = {one->topology},
					 .set = "rounds=1 decimals=3 clipping_range=5 privacy_check=warn "
						"mixing=metropolis " SL_PAPER_MODULUS,
					 .coordinates = one->coordinates,
					 .coordinate_count = count};
	int rc = sl_run_start(&one->run, &one->plan, r, error);
	if (rc != SL_OK)
		return rc;
	one->trace = &one->run.rounds[0].trace;
	if (one->trace->k < one->k || one->trace->k > one->k + 1) /* learners round mu up by 1e-12 */
		sl_paper_broken(r, "%s: learners mix %" PRIu64 " times, the bound says %" PRIu64, one->name,
				one->trace->k, one->k);
	return SL_OK;
}

/* ---- part c: trajectories ---- */

static void write_trajectories(struct sl_paper *r, const struct topology *six)
{
	FILE *csv = sl_paper_folder_file(&r->folder, "c_trajectories.csv");
	uint32_t measured = 0, right = 0, ascending = 0;
	uint64_t before = 0;
	sl_trace_header(csv, SL_PAPER_LEARNERS);
	for (uint32_t i = 0; i < SIX; i++) {
		const struct sl_trace *trace = six[i].trace;
		if (trace == NULL)
			continue;
		uint64_t settled = sl_trace_settled(trace);
		measured++;
		right += settled <= trace->k;
		ascending += settled > before;
		before = settled;
		sl_trace_write(csv, trace, six[i].name);
		sl_paper_value(r, "c_graph", "'%s'", six[i].name);
		sl_paper_value(r, "c_k", "%" PRIu64, trace->k);
		sl_paper_value(r, "c_right", "%" PRIu64, settled);
		sl_paper_value(r, "c_value", "%.17g",
			       (double)sl_field_centred(&six[i].run.field, trace->truth[0]) * trace->unit);
	}
	sl_paper_value(r, "c_count", "%u", measured);
	sl_paper_claim(r, 'c', sl_paper_verdict(right == measured),
		       "all trajectories end at the true value under all six topologies", "6 of 6",
		       "%u of %u measured", right, measured);
	sl_paper_claim(r, 'c', sl_paper_verdict(ascending == measured),
		       "the denser the topology, the fewer iterations", "in this order of the six",
		       "ascending in %u of %u measured", ascending, measured);
}

/* ---- part c: norms of the powers ---- */

#define POINTS 60u
#define NORM_LEAST 1e-9 /* in the figure: K is decided at 4.9e-8 */
#define AGREE 1e-6

/* Choose 1, 2, 3 .. at growing distances, up to where the norm is below NORM_LEAST. Return their number. */
static uint32_t choose_k(double mu, double k[static POINTS])
{
	double end = mu < 1e-6 ? 2 : log(NORM_LEAST / SL_PAPER_LEARNERS) / log(mu), next = 1;
	double ratio = pow(end, 1.0 / (POINTS - 1));
	uint32_t count;
	for (count = 0; count < POINTS && next <= end; count++) {
		k[count] = floor(next);
		next = fmax(next * ratio, floor(next) + 1);
	}
	return count;
}

/* Compare the norms with N mu^k, on which the bound on K rests, and the norm at K with the bound. */
static void check_norms(struct sl_paper *r, const struct topology *one, const double *k, const double *norm,
			uint32_t count)
{
	double at_k, last = (double)one->k;
	for (uint32_t i = 0; i < count && one->eigen.mu > 1e-6; i++) {
		double expected = SL_PAPER_LEARNERS * pow(one->eigen.mu, k[i]);
		if (fabs(norm[i] - expected) > AGREE * expected) {
			sl_paper_broken(r, "%s: the norm at k = %g is %g, N mu^k is %g", one->name, k[i],
					norm[i], expected);
			break;
		}
	}
	sl_spectrum_power_norms(&one->graph.graph, &last, 1, &at_k);
	if (!(2 * (double)SL_PAPER_P * sqrt(SL_PAPER_LEARNERS) * at_k < 1))
		sl_paper_broken(r, "%s: K = %" PRIu64 " does not meet the bound: the norm is %g", one->name,
				one->k, at_k);
}

static void write_norms(struct sl_paper *r, const struct topology *six)
{
	double k[POINTS], norm[POINTS];
	FILE *csv = sl_paper_folder_file(&r->folder, "c_norms.csv");
	sl_csv_print(csv, "graph,k,norm\n");
	for (uint32_t i = 0; i < SIX; i++) {
		uint32_t count = choose_k(six[i].eigen.mu, k);
		sl_spectrum_power_norms(&six[i].graph.graph, k, count, norm);
		check_norms(r, &six[i], k, norm, count);
		for (uint32_t at = 0; at < count; at++)
			sl_csv_print(csv, "%s,%g,%g\n", six[i].name, k[at], norm[at]);
	}
	sl_paper_value(r, "c_bound", "%.9g", 1 / (2 * (double)SL_PAPER_P * sqrt(SL_PAPER_LEARNERS)));
}

/* ---- part c: neighbours for which K = 10 is enough ---- */

#define DEGREE_LEAST 40u
#define DEGREE_MOST 98u

static int write_degrees(struct sl_paper *r, struct sl_error *error)
{
	double mu_most = pow(2 * (double)SL_PAPER_P * pow(SL_PAPER_LEARNERS, 1.5), -1.0 / SL_PAPER_K);
	uint32_t enough = DEGREE_LEAST;
	FILE *csv = sl_paper_folder_file(&r->folder, "c_degrees.csv");
	sl_csv_print(csv, "neighbours,mu,k\n");
	for (uint32_t degree = DEGREE_LEAST; degree <= DEGREE_MOST; degree++) {
		char name[32];
		struct sl_run_graph graph;
		struct sl_eigen eigen;
		snprintf(name, sizeof name, "regular:%u", degree);
		int rc = sl_run_graph_open(&graph, name, SL_PAPER_LEARNERS, error);
		if (rc != SL_OK)
			return rc;
		sl_spectrum_eigen(&graph.graph, &eigen);
		sl_run_graph_close(&graph);
		uint64_t k = sl_spectrum_iterations(SL_PAPER_P, SL_PAPER_LEARNERS, eigen.mu);
		sl_csv_print(csv, "%u,%g,%" PRIu64 "\n", degree, eigen.mu, k);
		if (k > SL_PAPER_K)
			enough = degree + 1;
	}
	sl_paper_value(r, "c_mu", "%.4f", mu_most);
	sl_paper_value(r, "c_enough", "%u", enough);
	sl_paper_claim(r, 'c', SL_HOLDS_NOT,
		       "K = 10 meets the bound on K (\"verified\" for arbitrary topologies)", "K = 10",
		       "only for μ ≤ %.4f: about %u neighbours of 100", mu_most, enough);
	return SL_OK;
}

static int part_c(struct sl_paper *r, const struct topology *six, struct sl_error *error)
{
	write_norms(r, six);
	int rc = write_degrees(r, error);
	if (rc == SL_OK)
		write_trajectories(r, six);
	return rc;
}

/* ---- part d ---- */

#define FOUR_DIGITS 0.00005 /* half of the last digit, and a little for the paper's own rounding */

static void write_eigenvalues(struct sl_paper *r, const struct topology *six)
{
	FILE *csv = sl_paper_folder_file(&r->folder, "d_topologies.csv");
	sl_csv_print(csv, "topology,lambda_2_paper,lambda_2,lambda_min,mu,k_bound,k_from_lambda_2,k_observed,"
			  "wrong_at_k_from_lambda_2,wrong_at_10,decoded\n");
	for (uint32_t i = 0; i < SIX; i++) {
		const struct topology *one = &six[i];
		const struct sl_trace *t = one->trace;
		sl_csv_print(csv, "%s,%g,%g,%g,%g,%" PRIu64 ",%" PRIu64 ",%g,%g,%g,%g\n", one->name,
			     one->paper, one->eigen.lambda_2, one->eigen.lambda_min, one->eigen.mu, one->k,
			     one->k_lambda, t != NULL ? (double)sl_trace_settled(t) : NAN,
			     t != NULL ? (double)sl_trace_wrong(t, one->k_lambda) : NAN,
			     t != NULL ? (double)sl_trace_wrong(t, SL_PAPER_K) : NAN,
			     t != NULL ? (double)t->learners * t->count : NAN);
	}
}

static void part_d(struct sl_paper *r, const struct topology *six)
{
	char where[160] = "", values[96] = "";
	size_t used = 0, printed = 0;
	uint32_t same = 0, measured = 0, wrong = 0, right_at_ten = 0;
	for (uint32_t i = 0; i < SIX; i++) {
		const struct sl_trace *trace = six[i].trace;
		double lambda = six[i].eigen.lambda_2;
		same += fabs(lambda - six[i].paper) <= FOUR_DIGITS * 1.0001;
		printed += (size_t)snprintf(values + printed, sizeof values - printed, "%s%.4f",
					    i > 0 ? ", " : "", fabs(lambda) < 1e-9 ? 0 : lambda);
		if (trace == NULL)
			continue;
		measured++;
		right_at_ten += sl_trace_wrong(trace, SL_PAPER_K) == 0;
		if (sl_trace_wrong(trace, six[i].k_lambda) == 0)
			continue;
		wrong++;
		used += (size_t)snprintf(where + used, sizeof where - used,
					 "; %s: K = %" PRIu64 " from λ₂, %" PRIu64 " needed", six[i].name,
					 six[i].k_lambda, sl_trace_settled(trace));
	}
	write_eigenvalues(r, six);
	sl_paper_claim(r, 'd', sl_paper_verdict(same == SIX),
		       "second largest eigenvalues of the six topologies",
		       "0, 0.3259, 0.8181, 0.9555, 0.9900, 0.9997", "%s", values);
	sl_paper_claim(r, 'd', sl_paper_verdict(wrong == 0), "λ₂ tells how fast mixing converges", "λ₂ alone",
		       "K from λ₂ is wrong on %u of %u graphs%s", wrong, measured, where);
	sl_paper_claim(r, 'd', sl_paper_verdict(right_at_ten == measured),
		       "K = 10 decodes right on its six topologies", "K = 10", "on %u of %u measured",
		       right_at_ten, measured);
}

/* ---- both ---- */

int sl_paper_topologies(struct sl_paper *r, struct sl_error *error)
{
	struct topology six[SIX];
	int rc = SL_OK;
	memcpy(six, paper, sizeof six);
	for (uint32_t i = 0; rc == SL_OK && i < SIX; i++)
		rc = open_one(&six[i], error);
	for (uint32_t i = 0; rc == SL_OK && i < SIX; i++)
		if (!r->options.quick || six[i].k <= K_QUICK)
			rc = mix_one(r, &six[i], error);
	if (rc == SL_OK && sl_paper_wanted(r, 'c'))
		rc = part_c(r, six, error);
	if (rc == SL_OK && sl_paper_wanted(r, 'd'))
		part_d(r, six);
	for (uint32_t i = 0; i < SIX; i++) {
		sl_run_close(&six[i].run);
		sl_run_graph_close(&six[i].graph);
	}
	return rc;
}
