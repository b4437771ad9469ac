/* Part e: time against the number of shares, and against K. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lib/csv.h"
#include "tools/lib/fit.h"
#include "tools/paper/octave.h"
#include "tools/paper/run.h"
#include "tools/paper/document.h"
#include "tools/paper/step.h"

#define PAPER_SHARE_S 2.315e-6
#define PAPER_ITERATION_S 6.155e-6
#define POINTS_MOST 4u
#define STRAIGHT 0.1 /* how far from its line a point may be, as a part of itself */

/* Seconds of one learner and round. */
struct curve {
	const char *name;
	double x[POINTS_MOST], y[POINTS_MOST];
	uint32_t count;
};

struct times {
	struct sl_paper *r;
	uint32_t learners, neighbours;
	const uint32_t *hidden, *iterations; /* POINTS_MOST each */
	uint32_t points;
	struct sl_schedule schedule;
	struct curve shamir, additive, seeded, octave;	  /* over shares */
	struct curve mixing, octave_loop, octave_product; /* over K */
	bool octave_found;
	char octave_why[SL_OCTAVE_WHY_BYTES];
};

static uint32_t floats_of(uint32_t hidden)
{
	return 1569 * hidden + 784;
}

static void add_point(struct curve *c, double x, double y)
{
	if (c->count < POINTS_MOST && isfinite(y)) {
		c->x[c->count] = x;
		c->y[c->count++] = y;
	}
}

/* ---- this code ---- */

static int measure(struct times *w, const char *what, uint32_t floats, uint32_t k, const char *sharing,
		   struct sl_run *run, struct sl_error *error)
{
	char p[32], iterations[32];
	const char *const set[] = {"rounds=3",		 "decimals=3", "clipping_range=5",
				   "privacy_check=warn", sharing,      p,
				   iterations,		 NULL};
	snprintf(p, sizeof p, "modulus=%" PRIu64, SL_PAPER_P);
	snprintf(iterations, sizeof iterations, "iterations=%u", k);
	struct sl_run_plan plan = {.what = what,
				   .learners = w->learners,
				   .parameters = floats,
				   .schedule = &w->schedule,
				   .mixing = "metropolis",
				   .set = set};
	int rc = sl_run_open(run, &plan, error);
	if (rc == SL_OK)
		rc = sl_run_play(run, w->r, error);
	sl_run_close(run);
	return rc;
}

/* The paper's steps 4 to 14: from the shares to the decoded mean. */
static double aggregation_s(const struct sl_run *run)
{
	double sum = 0;
	for (enum sl_phase phase = SL_PHASE_SHARE; phase <= SL_PHASE_COMMIT; phase++)
		sum += run->seconds[phase];
	return sum;
}

static int measure_shares(struct times *w, struct curve *c, const char *sharing, struct sl_error *error)
{
	for (uint32_t i = 0; i < w->points; i++) {
		struct sl_run run;
		uint32_t floats = floats_of(w->hidden[i]);
		int rc = measure(w, c->name, floats, SL_PAPER_K, sharing, &run, error);
		if (rc != SL_OK)
			return rc;
		add_point(c, (w->neighbours + 1.0) * floats,
			  aggregation_s(&run) / w->learners / run.settings.rounds);
	}
	return SL_OK;
}

static int measure_mixing(struct times *w, struct sl_error *error)
{
	for (uint32_t i = 0; i < w->points; i++) {
		struct sl_run run;
		int rc = measure(w, "mixing", floats_of(w->hidden[0]), w->iterations[i], "sharing=additive",
				 &run, error);
		if (rc != SL_OK)
			return rc;
		add_point(&w->mixing, (double)run.k,
			  run.seconds[SL_PHASE_MIX] / w->learners / run.settings.rounds);
	}
	return SL_OK;
}

/* ---- Octave ---- */

/* Lines of one kind, told apart by their first word. of_one: the seconds are of one of x. */
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

#define SETTING_BYTES 48u
#define OCTAVE_SETTINGS 8u

/* `iterations`: of one round only, and then of more and more iterations. */
static int octave(struct times *w, const char *script, uint32_t floats, const char *way, bool iterations,
		  struct curve *c, struct sl_error *error)
{
	char text[OCTAVE_SETTINGS][SETTING_BYTES];
	const char *environment[OCTAVE_SETTINGS + 1] = {NULL};
	for (uint32_t i = 0; i < OCTAVE_SETTINGS; i++)
		environment[i] = text[i];
	snprintf(text[0], SETTING_BYTES, "PP_N=%u", w->learners);
	snprintf(text[1], SETTING_BYTES, "PP_DEG=%u", w->neighbours);
	snprintf(text[2], SETTING_BYTES, "PP_n=%u", floats);
	snprintf(text[3], SETTING_BYTES, "PP_K=%u", w->iterations[0]);
	snprintf(text[4], SETTING_BYTES, "PP_T=%u", iterations ? 1 : 3);
	snprintf(text[5], SETTING_BYTES, "PP_CONS=%s", way);
	snprintf(text[6], SETTING_BYTES, "PP_SHARE=gemm"); /* its best form */
	snprintf(text[7], SETTING_BYTES, "PP_KLIST=");
	for (uint32_t i = 1; iterations && i < w->points; i++) {
		size_t used = strlen(text[7]);
		snprintf(text[7] + used, SETTING_BYTES - used, i > 1 ? ",%u" : "%u", w->iterations[i]);
	}
	char *output = NULL;
	int rc = sl_octave_run(w->r, script, environment, &output, error);
	if (rc == SL_OK && iterations)
		take_lines(c, output, "consensus,", "K", "s_per_iter_per_learner", true);
	else if (rc == SL_OK)
		take_lines(c, output, "shares,", "shares_per_learner", "agg_s_per_learner", false);
	free(output);
	return rc;
}

static int measure_octave(struct times *w, struct sl_error *error)
{
	char script[PATH_MAX];
	int rc = sl_octave_find(w->r, script, &w->octave_found, w->octave_why, error);
	if (rc != SL_OK || !w->octave_found)
		return rc;
	for (uint32_t i = 0; rc == SL_OK && i < w->points; i++)
		rc = octave(w, script, floats_of(w->hidden[i]), "gemm", false, &w->octave, error);
	if (rc == SL_OK)
		rc = octave(w, script, floats_of(w->hidden[0]), "loop", true, &w->octave_loop, error);
	if (rc == SL_OK)
		rc = octave(w, script, floats_of(w->hidden[0]), "gemm", true, &w->octave_product, error);
	return rc;
}

/* ---- what it comes to ---- */

static double slope(const struct curve *c)
{
	return sl_fit_line(c->x, c->y, c->count).slope;
}

static void write_curve(struct sl_csv *csv, const struct curve *c, const char *over)
{
	for (uint32_t i = 0; i < c->count; i++) {
		sl_csv_text(csv, c->name);
		sl_csv_text(csv, over);
		sl_csv_real(csv, c->x[i]);
		sl_csv_real(csv, c->y[i]);
		sl_csv_end(csv);
	}
}

/* Points with a line through them; and a line of the paper's slope. */
static void draw(struct times *w, const char *title, const char *what, const char *over,
		 const struct curve *const *curves, uint32_t count, double paper)
{
	sl_document_panel(w->r, title, what, "seconds of a learner in a round", "xy");
	fprintf(w->r->plots.out, "plot %.9g * x dashtype 2 linecolor 'black' title 'slope in the paper'",
		paper);
	for (uint32_t i = 0; i < count; i++)
		if (curves[i]->count > 0)
			fprintf(w->r->plots.out,
				", \\\n  rows('e_time.csv', '%s,%s') using 3:4 with linespoints title '%s'",
				curves[i]->name, over, curves[i]->name);
	fputc('\n', w->r->plots.out);
}

static void say_octave(double value, const char *unit, char *text, size_t size)
{
	if (isfinite(value))
		snprintf(text, size, "%.3g %s", value, unit);
	else
		snprintf(text, size, "not measured");
}

/* A round has a part that does not grow: what is linear is the rest, and a power would take that part for a
 * bend. */
static void claim_linear(struct times *w, const struct curve *c, const char *claim, const char *paper)
{
	double off = sl_fit_off(c->x, c->y, c->count);
	sl_paper_claim(w->r, 'e', sl_paper_full_verdict(w->r, off <= STRAIGHT), claim, paper,
		       "no point is off a straight line by more than %.1f %%, over %.3g to %.3g", 100 * off,
		       c->x[0], c->x[c->count - 1]);
}

static void claims(struct times *w)
{
	char octave_share[48], octave_loop[48], octave_product[48], share[64], iteration[64];
	say_octave(1e9 * slope(&w->octave), "ns", octave_share, sizeof octave_share);
	say_octave(1e6 * slope(&w->octave_loop), "µs", octave_loop, sizeof octave_loop);
	say_octave(1e6 * slope(&w->octave_product), "µs", octave_product, sizeof octave_product);
	snprintf(share, sizeof share, "seconds for each share, %u neighbours, K = %u", w->neighbours,
		 SL_PAPER_K);
	snprintf(iteration, sizeof iteration, "seconds for each iteration, %u neighbours", w->neighbours);
	claim_linear(w, &w->shamir, "time of a round grows linearly with the number of shares", "linear");
	sl_paper_claim(
		w->r, 'e', SL_MEASURED, share, "2.315e-6 s (laptop, MATLAB)",
		"shamir %.3g ns, additive %.3g ns, seeded %.3g ns; the paper's simulation in Octave here: %s",
		1e9 * slope(&w->shamir), 1e9 * slope(&w->additive), 1e9 * slope(&w->seeded), octave_share);
	claim_linear(w, &w->mixing, "time of mixing grows linearly with K", "linear");
	sl_paper_claim(w->r, 'e', SL_MEASURED, iteration, "6.155e-6 s (n not said)",
		       "%.3g µs at n = %u; Octave here, a learner at a time: %s; all learners as one matrix "
		       "product: %s",
		       1e6 * slope(&w->mixing), floats_of(w->hidden[0]), octave_loop, octave_product);
}

static int write_table(struct times *w, struct sl_error *error)
{
	const struct curve *shares[] = {&w->shamir, &w->additive, &w->seeded, &w->octave};
	const struct curve *mixing[] = {&w->mixing, &w->octave_loop, &w->octave_product};
	struct sl_csv csv;
	FILE *out = sl_paper_folder_file(&w->r->folder, "e_time.csv", error);
	if (out == NULL)
		return error->code;
	sl_csv_open(&csv, out, "what,over,x,seconds");
	for (uint32_t i = 0; i < 4; i++)
		write_curve(&csv, shares[i], "shares");
	for (uint32_t i = 0; i < 3; i++)
		write_curve(&csv, mixing[i], "iterations");
	sl_document_heading(w->r, "e. Time");
	sl_document_text(w->r,
			 "%u learners with %u neighbours each, p = %" PRIu64
			 ". Of this code: processor time of one thread in which all learners "
			 "run, divided by their number; from the first share to the decoded mean (the "
			 "paper's steps 4 to 14), every result "
			 "checked. Of Octave (the paper's simulation, shares in its fastest form, one "
			 "thread): its own clock.%s%s",
			 w->learners, w->neighbours, SL_PAPER_P,
			 w->octave_found ? "" : " Not measured here: ", w->octave_found ? "" : w->octave_why);
	sl_document_figure(w->r, "e_time", 1, 2);
	draw(w, "Shares", "shares of a learner in a round", "shares", shares, 4, PAPER_SHARE_S);
	draw(w, "Mixing", "iterations K", "iterations", mixing, 3, PAPER_ITERATION_S);
	sl_document_caption(w->r,
			    "Both axes are logarithmic: lines of one slope differ by a factor. The paper "
			    "does not say for which n it "
			    "measured mixing, and its simulation multiplies the states of all learners by "
			    "one matrix; ours are one "
			    "learner's own work, at n = %u.",
			    floats_of(w->hidden[0]));
	return SL_OK;
}

static int measure_all(struct times *w, struct sl_error *error)
{
	char topology[32];
	snprintf(topology, sizeof topology, "regular:%u", w->neighbours);
	int rc = sl_step_add(&w->schedule, topology, 1, error);
	if (rc == SL_OK)
		rc = measure_shares(w, &w->shamir, "sharing=shamir", error);
	if (rc == SL_OK)
		rc = measure_shares(w, &w->additive, "sharing=additive", error);
	if (rc == SL_OK)
		rc = measure_shares(w, &w->seeded, "sharing=seeded", error);
	if (rc == SL_OK)
		rc = measure_mixing(w, error);
	if (rc == SL_OK)
		rc = measure_octave(w, error);
	return rc == SL_OK ? write_table(w, error) : rc;
}

int sl_paper_time(struct sl_paper *r, struct sl_error *error)
{
	static const uint32_t hidden[POINTS_MOST] = {1, 2, 4, 8},
			      iterations[POINTS_MOST] = {10, 30, 100, 300};
	bool quick = r->options.quick;
	struct times w = {.r = r,
			  .learners = quick ? 20 : SL_PAPER_LEARNERS,
			  .neighbours = quick ? 17 : SL_PAPER_NEIGHBOURS,
			  .hidden = hidden,
			  .iterations = iterations,
			  .points = quick ? SL_FIT_LEAST : POINTS_MOST,
			  .shamir = {.name = "shamir"},
			  .additive = {.name = "additive"},
			  .seeded = {.name = "seeded"},
			  .octave = {.name = "Octave"},
			  .mixing = {.name = "metropolis"},
			  .octave_loop = {.name = "Octave one by one"},
			  .octave_product = {.name = "Octave one product"}};
	sl_schedule_init(&w.schedule, w.learners);
	int rc = measure_all(&w, error);
	if (rc == SL_OK)
		claims(&w);
	sl_schedule_close(&w.schedule);
	return rc;
}
