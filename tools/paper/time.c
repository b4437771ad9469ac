/* Part e: time against the number of shares, and against K. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lib/fit.h"
#include "tools/paper/csv.h"
#include "tools/paper/octave.h"
#include "tools/paper/run.h"

#define POINTS_MOST 4u
#define STRAIGHT 0.1 /* largest distance of a point from the line, as a part of its y */

enum { SHAMIR, ADDITIVE, SEEDED, OCTAVE, MIXING, OCTAVE_LOOP, OCTAVE_PRODUCT, CURVES };

/* Seconds of one learner and round, over shares or iterations. */
struct curve {
	const char *name, *sharing; /* sharing: of this code; NULL: Octave */
	double x[POINTS_MOST], y[POINTS_MOST];
	uint32_t count;
};

struct times {
	struct sl_paper *r;
	uint32_t learners, neighbours, points;
	struct curve curves[CURVES];
	const char *octave_why; /* it is not measured; NULL: it is */
};

static const uint32_t floats[POINTS_MOST] = {2353, 3922, 7060, 13336},
		      iterations[POINTS_MOST] = {10, 30, 100, 300};

static void add_point(struct curve *c, double x, double y)
{
	if (c->count < POINTS_MOST && isfinite(y)) {
		c->x[c->count] = x;
		c->y[c->count++] = y;
	}
}

/* ---- this code ---- */

/* A point for each number of floats, or for each K. */
static int measure(struct times *w, struct curve *c, bool of_k, struct sl_error *error)
{
	int rc = SL_OK;
	for (uint32_t i = 0; rc == SL_OK && i < w->points; i++) {
		char topology[32];
		struct sl_run run;
		struct sl_run_plan plan = {.what = c->name,
					   .learners = w->learners,
					   .parameters = floats[of_k ? 0 : i],
					   .topologies = {topology}};
		snprintf(topology, sizeof topology, "regular:%u", w->neighbours);
		snprintf(plan.set, sizeof plan.set,
			 "rounds=3 decimals=3 clipping_range=5 privacy_check=warn mixing=metropolis "
			 "sharing=%s "
			 "iterations=%u " SL_PAPER_MODULUS,
			 c->sharing, of_k ? iterations[i] : SL_PAPER_K);
		rc = sl_run_start(&run, &plan, w->r, error);
		if (rc == SL_OK && of_k)
			add_point(c, (double)run.k, sl_run_seconds(&run, SL_PHASE_MIX, SL_PHASE_MIX));
		else if (rc == SL_OK) /* the paper's steps 4 to 14 */
			add_point(c, (w->neighbours + 1.0) * floats[i],
				  sl_run_seconds(&run, SL_PHASE_SHARE, SL_PHASE_COMMIT));
		sl_run_close(&run);
	}
	return rc;
}

/* ---- Octave ---- */

/* Add a point for each line that begins with `kind`. of_one: the seconds are of one of x. */
static void take_lines(struct curve *c, const char *output, const char *kind, const char *x, const char *y,
		       bool of_one)
{
	for (const char *line = output; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
		line += *line == '\n';
		double at = sl_octave_number(line, x), seconds = sl_octave_number(line, y);
		if (strncmp(line, kind, strlen(kind)) == 0)
			add_point(c, at, of_one ? at * seconds : seconds);
	}
}

/* `of_k`: one round, and then more and more iterations. */
static int run_octave(struct times *w, struct curve *c, uint32_t n, bool of_k, struct sl_error *error)
{
	char of_learners[96], list[48] = "PP_KLIST=", *output = NULL, *rest = NULL;
	const char *environment[10] = {"PP_SHARE=gemm"}; /* its fastest form */
	size_t count = 1, used = strlen(list);
	snprintf(of_learners, sizeof of_learners, "PP_N=%u PP_DEG=%u PP_n=%u PP_K=%u PP_T=%u PP_CONS=%s",
		 w->learners, w->neighbours, n, iterations[0], of_k ? 1 : 3,
		 c == &w->curves[OCTAVE_LOOP] ? "loop" : "gemm");
	for (char *word = strtok_r(of_learners, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
		environment[count++] = word;
	for (uint32_t i = 1; of_k && i < w->points; i++)
		used += (size_t)snprintf(list + used, sizeof list - used, i > 1 ? ",%u" : "%u",
					 iterations[i]);
	environment[count] = list;
	int rc = sl_octave_run(w->r, environment, &output, error);
	if (rc == SL_OK && of_k)
		take_lines(c, output, "consensus,", "K", "s_per_iter_per_learner", true);
	else if (rc == SL_OK)
		take_lines(c, output, "shares,", "shares_per_learner", "agg_s_per_learner", false);
	free(output);
	return rc;
}

static int measure_octave(struct times *w, struct sl_error *error)
{
	int rc = SL_OK;
	if (w->r->options.octave == NULL) {
		w->octave_why = "no --octave paper_octave.m was given";
		return SL_OK;
	}
	for (uint32_t i = 0; rc == SL_OK && i < w->points; i++)
		rc = run_octave(w, &w->curves[OCTAVE], floats[i], false, error);
	for (uint32_t c = OCTAVE_LOOP; rc == SL_OK && c <= OCTAVE_PRODUCT; c++)
		rc = run_octave(w, &w->curves[c], floats[0], true, error);
	if (rc != SL_ERR_NOTFOUND)
		return rc;
	w->octave_why = "octave-cli is not installed";
	return SL_OK;
}

/* ---- the report ---- */

static double slope(const struct times *w, uint32_t curve)
{
	return sl_fit_line(w->curves[curve].x, w->curves[curve].y, w->curves[curve].count).slope;
}

/* A round has a part that does not grow: a fitted power would take it for a bend, a line does not. */
static void claim_linear(struct times *w, uint32_t curve, const char *claim)
{
	const struct curve *c = &w->curves[curve];
	double off = sl_fit_off(c->x, c->y, c->count);
	sl_paper_claim(w->r, 'e', sl_paper_full_verdict(w->r, off <= STRAIGHT), claim, "linear",
		       "no point is off a straight line by more than %.1f %%, over %.3g to %.3g", 100 * off,
		       c->x[0], c->x[c->count - 1]);
}

static void write_claims(struct times *w)
{
	char octave[CURVES][48], share[64], iteration[64];
	for (uint32_t c = 0; c < CURVES; c++) {
		double value = slope(w, c) * (c == OCTAVE ? 1e9 : 1e6);
		snprintf(octave[c], sizeof octave[c], isfinite(value) ? "%.3g %s" : "not measured", value,
			 c == OCTAVE ? "ns" : "µs");
	}
	snprintf(share, sizeof share, "seconds for each share, %u neighbours, K = %u", w->neighbours,
		 SL_PAPER_K);
	snprintf(iteration, sizeof iteration, "seconds for each iteration, %u neighbours", w->neighbours);
	claim_linear(w, SHAMIR, "time of a round grows linearly with the number of shares");
	sl_paper_claim(
		w->r, 'e', SL_MEASURED, share, "2.315e-6 s (laptop, MATLAB)",
		"shamir %.3g ns, additive %.3g ns, seeded %.3g ns; the paper's simulation in Octave here: %s",
		1e9 * slope(w, SHAMIR), 1e9 * slope(w, ADDITIVE), 1e9 * slope(w, SEEDED), octave[OCTAVE]);
	claim_linear(w, MIXING, "time of mixing grows linearly with K");
	sl_paper_claim(w->r, 'e', SL_MEASURED, iteration, "6.155e-6 s (n not said)",
		       "%.3g µs at n = %u; Octave here, a learner at a time: %s; all learners as one matrix "
		       "product: %s",
		       1e6 * slope(w, MIXING), floats[0], octave[OCTAVE_LOOP], octave[OCTAVE_PRODUCT]);
}

static void write_curves(struct times *w)
{
	FILE *csv = sl_paper_folder_file(&w->r->folder, "e_time.csv");
	uint32_t shares = 0, mixing = 0;
	sl_csv_print(csv, "what,over,x,seconds\n");
	for (uint32_t i = 0; i < CURVES; i++) {
		const struct curve *c = &w->curves[i];
		for (uint32_t p = 0; p < c->count; p++)
			sl_csv_print(csv, "%s,%s,%g,%g\n", c->name, i < MIXING ? "shares" : "iterations",
				     c->x[p], c->y[p]);
		if (c->count > 0) {
			sl_paper_value(w->r, i < MIXING ? "e_shares" : "e_iterations", "'%s'", c->name);
			*(i < MIXING ? &shares : &mixing) += 1;
		}
	}
	sl_paper_value(w->r, "e_shares_count", "%u", shares);
	sl_paper_value(w->r, "e_iterations_count", "%u", mixing);
	sl_paper_value(w->r, "e_learners", "%u", w->learners);
	sl_paper_value(w->r, "e_neighbours", "%u", w->neighbours);
	sl_paper_value(w->r, "e_octave", "%s%s", w->octave_why != NULL ? " Not measured here: " : "",
		       w->octave_why != NULL ? w->octave_why : "");
}

int sl_paper_time(struct sl_paper *r, struct sl_error *error)
{
	bool quick = r->options.quick;
	struct times w = {.r = r,
			  .learners = quick ? 20 : SL_PAPER_LEARNERS,
			  .neighbours = quick ? 17 : SL_PAPER_NEIGHBOURS,
			  .points = quick ? SL_FIT_LEAST : POINTS_MOST,
			  .curves = {[SHAMIR] = {.name = "shamir", .sharing = "shamir"},
				     [ADDITIVE] = {.name = "additive", .sharing = "additive"},
				     [SEEDED] = {.name = "seeded", .sharing = "seeded"},
				     [OCTAVE] = {.name = "Octave"},
				     [MIXING] = {.name = "metropolis", .sharing = "additive"},
				     [OCTAVE_LOOP] = {.name = "Octave one by one"},
				     [OCTAVE_PRODUCT] = {.name = "Octave one product"}}};
	int rc = SL_OK;
	for (uint32_t c = 0; rc == SL_OK && c < CURVES; c++)
		if (w.curves[c].sharing != NULL)
			rc = measure(&w, &w.curves[c], c == MIXING, error);
	if (rc == SL_OK)
		rc = measure_octave(&w, error);
	if (rc == SL_OK) {
		write_curves(&w);
		write_claims(&w);
	}
	return rc;
}
