/* Part c: how fast the powers of the six matrices approach the mean, and how many neighbours K = 10 takes. */
#include <inttypes.h>
#include <math.h>

#include "common/mixing/spectrum.h"
#include "tools/lib/csv.h"
#include "tools/paper/document.h"
#include "tools/paper/graphs.h"

#define POINTS 60u
#define NORM_LEAST 1e-9 /* of the picture: K is decided at 4.9e-8 */
#define AGREE 1e-6

#define DEGREE_LEAST 40u
#define DEGREE_MOST 98u
#define DEGREES (DEGREE_MOST - DEGREE_LEAST + 1)

struct curve {
	double k[POINTS], norm[POINTS];
	uint32_t count;
};

/* 1, 2, 3 .. up to where the norm is below anything that matters. */
static void choose_k(struct curve *c, double mu)
{
	double end = mu < 1e-6 ? 2 : log(NORM_LEAST / SL_PAPER_LEARNERS) / log(mu), next = 1;
	double ratio = pow(end, 1.0 / (POINTS - 1));
	for (c->count = 0; c->count < POINTS && next <= end; c->count++) {
		c->k[c->count] = floor(next);
		next = fmax(next * ratio, floor(next) + 1);
	}
}

/* The norm of A^k for symmetric A is N mu^k: what the bound on K is made of. */
static void check_curve(struct sl_paper *r, const struct sl_six *one, const struct curve *c)
{
	for (uint32_t i = 0; i < c->count && one->eigen.mu > 1e-6; i++) {
		double expected = SL_PAPER_LEARNERS * pow(one->eigen.mu, c->k[i]);
		if (fabs(c->norm[i] - expected) > AGREE * expected) {
			sl_paper_broken(r, "%s: the norm at k = %g is %g, N mu^k is %g", one->name, c->k[i],
					c->norm[i], expected);
			return;
		}
	}
}

/* The bound on K, from the matrix power itself. */
static int check_bound(struct sl_paper *r, const struct sl_six *one)
{
	double k = (double)one->k, norm;
	int rc = sl_spectrum_power_norms(&one->graph.graph, &k, 1, &norm);
	if (rc == SL_OK && !(2 * (double)SL_PAPER_P * sqrt(SL_PAPER_LEARNERS) * norm < 1))
		sl_paper_broken(r, "%s: K = %" PRIu64 " does not meet the bound: the norm is %g", one->name,
				one->k, norm);
	return rc;
}

static void draw_curves(struct sl_paper *r, const struct sl_six *six)
{
	sl_document_figure(r, "c_norms", 1, 1);
	sl_document_panel(r, "How fast the powers of A approach the mean", "iteration k", "‖N·Aᵏ − 11'‖",
			  "xy");
	sl_document_mark(r, 'y', 1 / (2 * (double)SL_PAPER_P * sqrt(SL_PAPER_LEARNERS)),
			 "1/(2p√N): K is reached below");
	sl_document_mark(r, 'x', SL_PAPER_K, "K = %u", SL_PAPER_K);
	fprintf(r->plots.out, "plot [] [%g:%u]", NORM_LEAST, SL_PAPER_LEARNERS);
	for (uint32_t i = 0; i < SL_SIX; i++)
		if (six[i].eigen.mu > 1e-6)
			fprintf(r->plots.out, " rows('c_norms.csv', '%s') using 2:3 with lines title '%s'%s",
				six[i].name, six[i].name, i + 1 < SL_SIX ? "," : "\n");
	sl_document_caption(r, "Computed from the powers of the matrices. For the complete graph the norm is "
			       "0 from k = 1 on, up to "
			       "rounding. A line straightens out at the rate of μ, the second largest "
			       "modulus of an eigenvalue.");
}

int sl_norms_graphs(struct sl_paper *r, struct sl_six *six, struct sl_error *error)
{
	struct curve c;
	struct sl_csv csv;
	FILE *out = sl_paper_folder_file(&r->folder, "c_norms.csv", error);
	if (out == NULL)
		return error->code;
	sl_csv_open(&csv, out, "graph,k,norm");
	for (uint32_t i = 0; i < SL_SIX; i++) {
		choose_k(&c, six[i].eigen.mu);
		int rc = sl_spectrum_power_norms(&six[i].graph.graph, c.k, c.count, c.norm);
		if (rc == SL_OK)
			rc = check_bound(r, &six[i]);
		if (rc != SL_OK)
			return sl_err_set(error, rc, "%s: %s", six[i].name, sl_err_text(rc));
		check_curve(r, &six[i], &c);
		for (uint32_t k = 0; k < c.count; k++) {
			sl_csv_text(&csv, six[i].name);
			sl_csv_real(&csv, c.k[k]);
			sl_csv_real(&csv, c.norm[k]);
			sl_csv_end(&csv);
		}
	}
	draw_curves(r, six);
	return SL_OK;
}

/* ---- K = 10 ---- */

struct degrees {
	double degree[DEGREES], k[DEGREES], mu[DEGREES];
};

static int look_at(struct degrees *d, uint32_t i, struct sl_error *error)
{
	char name[32];
	struct sl_step_graph graph;
	struct sl_eigen eigen;
	snprintf(name, sizeof name, "regular:%u", DEGREE_LEAST + i);
	int rc = sl_step_graph_named(&graph, name, SL_PAPER_LEARNERS, error);
	if (rc == SL_OK && (rc = sl_spectrum_eigen(&graph.graph, &eigen)) != SL_OK)
		sl_err_set(error, rc, "%s: %s", name, sl_err_text(rc));
	if (rc == SL_OK) {
		d->degree[i] = DEGREE_LEAST + i;
		d->mu[i] = eigen.mu;
		d->k[i] = (double)sl_spectrum_iterations(SL_PAPER_P, SL_PAPER_LEARNERS, eigen.mu);
	}
	sl_step_graph_close(&graph);
	return rc;
}

static void draw_degrees(struct sl_paper *r, uint32_t enough, double mu_most)
{
	sl_document_figure(r, "c_degrees", 1, 1);
	sl_document_panel(r, "Iterations that the bound asks for",
			  "neighbours of each of 100 learners, random graphs", "K", "");
	sl_document_mark(r, 'y', SL_PAPER_K, "K = %u", SL_PAPER_K);
	sl_document_mark(r, 'x', enough, "%u neighbours", enough);
	fputs("plot [] [0:25] 'c_degrees.csv' every ::1 using 1:3 with lines notitle\n", r->plots.out);
	sl_document_caption(r,
			    "K = %u meets the bound 2p√N·‖N·Aᴷ − 11'‖ < 1 only where μ ≤ %.4f. Random "
			    "regular graphs of 100 learners "
			    "get there at about %u neighbours.",
			    SL_PAPER_K, mu_most, enough);
}

int sl_norms_degrees(struct sl_paper *r, struct sl_error *error)
{
	struct degrees d;
	struct sl_csv csv;
	double mu_most = pow(2 * (double)SL_PAPER_P * pow(SL_PAPER_LEARNERS, 1.5), -1.0 / SL_PAPER_K);
	uint32_t enough = DEGREE_MOST + 1;
	FILE *out = sl_paper_folder_file(&r->folder, "c_degrees.csv", error);
	if (out == NULL)
		return error->code;
	sl_csv_open(&csv, out, "neighbours,mu,k");
	for (uint32_t i = 0; i < DEGREES; i++) {
		int rc = look_at(&d, i, error);
		if (rc != SL_OK)
			return rc;
		sl_csv_real(&csv, d.degree[i]);
		sl_csv_real(&csv, d.mu[i]);
		sl_csv_real(&csv, d.k[i]);
		sl_csv_end(&csv);
	}
	while (enough > DEGREE_LEAST && d.k[enough - 1 - DEGREE_LEAST] <= SL_PAPER_K)
		enough--;
	draw_degrees(r, enough, mu_most);
	sl_paper_claim(r, 'c', SL_HOLDS_NOT,
		       "K = 10 meets the bound on K (\"verified\" for arbitrary topologies)", "K = 10",
		       "only for μ ≤ %.4f: about %u neighbours of 100", mu_most, enough);
	return SL_OK;
}
