/* Part h: how time and memory grow with the size of what is averaged. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "tools/lib/csv.h"
#include "tools/lib/fit.h"
#include "tools/paper/memory.h"
#include "tools/paper/run.h"
#include "tools/paper/document.h"
#include "tools/paper/step.h"

#define LEARNERS 12u
#define POINTS_MOST 8u
#define REPEATS 3u
#define EXACT_POWER 0.05 /* how far from 1 the fitted power may be */

struct point {
	uint32_t floats, neighbours, k;
};

struct growth {
	const char *name, *what, *y; /* of the curve, of x, of y */
	const char *sharing;
	const struct point *points;
	uint32_t count;
	enum sl_phase phase;
	double x_of[POINTS_MOST], y_of[POINTS_MOST];
};

static const struct point share_points[] = {{10000, 4, 0},   {20000, 4, 0},   {50000, 4, 0},  {50000, 10, 0},
					    {100000, 10, 0}, {200000, 10, 0}, {400000, 10, 0}};
static const struct point mix_points[] = {{10000, 4, 40},  {20000, 4, 40},   {20000, 10, 40},
					  {50000, 10, 40}, {100000, 10, 40}, {100000, 10, 100}};
static const struct point quick_points[] = {{1000, 4, 20}, {2000, 4, 20}, {4000, 4, 20}};
static const uint32_t memory_floats[] = {30000, 100000, 300000, 1000000, 3000000};
static const uint32_t quick_floats[] = {30000, 60000, 100000};

static int run_once(struct sl_paper *r, const struct growth *g, const struct point *p, struct sl_run *run,
		    struct sl_error *error)
{
	char topology[32], k[32];
	const char *const set[] = {"rounds=2", "privacy_check=warn", "modulus=2147483647", g->sharing, k,
				   NULL};
	struct sl_schedule schedule;
	snprintf(topology, sizeof topology, "regular:%u", p->neighbours);
	snprintf(k, sizeof k, "iterations=%u", p->k);
	sl_schedule_init(&schedule, LEARNERS);
	int rc = sl_step_add(&schedule, topology, 1, error);
	struct sl_run_plan plan = {.what = g->name,
				   .learners = LEARNERS,
				   .parameters = p->floats,
				   .schedule = &schedule,
				   .mixing = "metropolis",
				   .set = set};
	if (rc == SL_OK)
		rc = sl_run_open(run, &plan, error);
	if (rc == SL_OK) {
		rc = sl_run_play(run, r, error);
		sl_run_close(run);
	}
	sl_schedule_close(&schedule);
	return rc;
}

/* The least of some runs: what others do to the machine only adds. */
static int measure_point(struct sl_paper *r, struct growth *g, uint32_t i, struct sl_error *error)
{
	const struct point *p = &g->points[i];
	g->y_of[i] = INFINITY;
	for (uint32_t repeat = 0; repeat < (r->options.quick ? 1 : REPEATS); repeat++) {
		struct sl_run run;
		int rc = run_once(r, g, p, &run, error);
		if (rc != SL_OK)
			return rc;
		g->x_of[i] =
			(double)p->floats * p->neighbours * (g->phase == SL_PHASE_MIX ? (double)run.k : 1);
		g->y_of[i] = fmin(g->y_of[i], run.seconds[g->phase] / LEARNERS / run.settings.rounds);
	}
	return SL_OK;
}

static int measure_memory(struct sl_paper *r, struct growth *g, struct sl_error *error)
{
	const uint32_t *floats = r->options.quick ? quick_floats : memory_floats;
	double none;
	int rc = sl_memory_of_learners(r, 100, &none, error);
	for (uint32_t i = 0; rc == SL_OK && i < g->count; i++) {
		rc = sl_memory_of_learners(r, floats[i], &g->y_of[i], error);
		g->x_of[i] = floats[i];
		g->y_of[i] -= none;
	}
	return rc;
}

static void draw(struct sl_paper *r, const struct growth *g)
{
	double power = sl_fit_exponent(g->x_of, g->y_of, g->count), middle = 0;
	for (uint32_t i = 0; i < g->count; i++)
		middle += log(g->y_of[i] / pow(g->x_of[i], power)) / g->count;
	sl_document_panel(r, g->name, g->what, g->y, "xy");
	fprintf(r->plots.out,
		"plot rows('h_growth.csv', '%s') using 3:4 with points pointtype 7 notitle, %.9g * x ** %.9g "
		"title 'power %.3f'\n",
		g->name, exp(middle), power, power);
}

static void claim(struct sl_paper *r, const struct growth *g, const char *claim)
{
	double power = sl_fit_exponent(g->x_of, g->y_of, g->count);
	sl_paper_claim(r, 'h', sl_paper_power_verdict(r, power, EXACT_POWER), claim, "linear",
		       "fitted power %.3f over %.3g to %.3g", power, g->x_of[0], g->x_of[g->count - 1]);
}

static int write_csv(struct sl_paper *r, const struct growth *growths, uint32_t count, struct sl_error *error)
{
	struct sl_csv csv;
	FILE *out = sl_paper_folder_file(&r->folder, "h_growth.csv", error);
	if (out == NULL)
		return error->code;
	sl_csv_open(&csv, out, "what,over,x,y,y_is");
	for (uint32_t g = 0; g < count; g++)
		for (uint32_t i = 0; i < growths[g].count; i++) {
			sl_csv_text(&csv, growths[g].name);
			sl_csv_text(&csv, growths[g].what);
			sl_csv_real(&csv, growths[g].x_of[i]);
			sl_csv_real(&csv, growths[g].y_of[i]);
			sl_csv_text(&csv, growths[g].y);
			sl_csv_end(&csv);
		}
	return SL_OK;
}

#define GROWTHS 4u

static int write_part(struct sl_paper *r, const struct growth *growths, struct sl_error *error)
{
	static const char *const claims[GROWTHS] = {
		"shares: time grows linearly with n and neighbours (additive)",
		"shares: time grows linearly with n (shamir)",
		"mixing: time grows linearly with n, neighbours and K",
		"memory of a learner grows linearly with n"};
	sl_document_heading(r, "h. Growth");
	sl_document_text(r,
			 "Processor time of a learner in a round of %u learners, the least of %u; memory at "
			 "most of a learner, three of "
			 "them in this process. Lines are powers fitted by least squares.",
			 LEARNERS, r->options.quick ? 1 : REPEATS);
	sl_document_figure(r, "h_growth", 2, 2);
	for (uint32_t g = 0; g < GROWTHS; g++)
		draw(r, &growths[g]);
	sl_document_caption(r, "A power of 1 is linear.");
	for (uint32_t g = 0; g < GROWTHS; g++)
		claim(r, &growths[g], claims[g]);
	return write_csv(r, growths, GROWTHS, error);
}

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

int sl_paper_growth(struct sl_paper *r, struct sl_error *error)
{
	bool quick = r->options.quick;
	const struct point *shares = quick ? quick_points : share_points,
			   *mixing = quick ? quick_points : mix_points;
	uint32_t share_count = quick ? COUNT(quick_points) : COUNT(share_points);
	struct growth growths[GROWTHS] = {{"shares (additive)",
					   "n · neighbours",
					   "seconds",
					   "sharing=additive",
					   shares,
					   share_count,
					   SL_PHASE_SHARE,
					   {0},
					   {0}},
					  {"shares (shamir) of 4 neighbours",
					   "n · neighbours",
					   "seconds",
					   "sharing=shamir",
					   shares,
					   3,
					   SL_PHASE_SHARE,
					   {0},
					   {0}},
					  {"mixing (metropolis)",
					   "n · neighbours · K",
					   "seconds",
					   "sharing=additive",
					   mixing,
					   quick ? COUNT(quick_points) : COUNT(mix_points),
					   SL_PHASE_MIX,
					   {0},
					   {0}},
					  {"memory",
					   "n",
					   "bytes",
					   NULL,
					   NULL,
					   quick ? COUNT(quick_floats) : COUNT(memory_floats),
					   SL_PHASE_DONE,
					   {0},
					   {0}}};
	int rc = SL_OK;
	for (uint32_t g = 0; rc == SL_OK && g < GROWTHS; g++)
		for (uint32_t i = 0; rc == SL_OK && growths[g].points != NULL && i < growths[g].count; i++)
			rc = measure_point(r, &growths[g], i, error);
	if (rc == SL_OK)
		rc = measure_memory(r, &growths[GROWTHS - 1], error);
	return rc == SL_OK ? write_part(r, growths, error) : rc;
}
