/* Part h: how time and memory grow with the number of floats that are averaged. */
#include <malloc.h>
#include <math.h>
#include <string.h>

#include "common/base/random.h"
#include "tools/lib/fit.h"
#include "tools/paper/csv.h"
#include "tools/paper/run.h"

#define LEARNERS 12u
#define REPEATS 3u
#define EXACT_POWER 0.05 /* how far from 1 the fitted power may be */

#define POINTS_MOST 8u
struct point {
	uint32_t floats, neighbours, k; /* k: least number of iterations */
};

static const struct growth {
	const char *name, *over, *unit; /* of the curve, of x, of y */
	const char *sharing;		/* NULL: memory is measured, else time */
	enum sl_phase phase;
	const char *claim;
	struct point points[POINTS_MOST], quick[POINTS_MOST]; /* ended by zeros */
} growths[] = {
	{"shares (additive)",
	 "n · neighbours",
	 "seconds",
	 "additive",
	 SL_PHASE_SHARE,
	 "shares: time grows linearly with n and neighbours (additive)",
	 {{10000, 4, 0},
	  {20000, 4, 0},
	  {50000, 4, 0},
	  {50000, 10, 0},
	  {100000, 10, 0},
	  {200000, 10, 0},
	  {400000, 10, 0}},
	 {{1000, 4, 20}, {2000, 4, 20}, {4000, 4, 20}}},
	{"shares (shamir) of 4 neighbours",
	 "n · neighbours",
	 "seconds",
	 "shamir",
	 SL_PHASE_SHARE,
	 "shares: time grows linearly with n (shamir)",
	 {{10000, 4, 0}, {20000, 4, 0}, {50000, 4, 0}},
	 {{1000, 4, 20}, {2000, 4, 20}, {4000, 4, 20}}},
	{"mixing (metropolis)",
	 "n · neighbours · K",
	 "seconds",
	 "additive",
	 SL_PHASE_MIX,
	 "mixing: time grows linearly with n, neighbours and K",
	 {{10000, 4, 40},
	  {20000, 4, 40},
	  {20000, 10, 40},
	  {50000, 10, 40},
	  {100000, 10, 40},
	  {100000, 10, 100}},
	 {{1000, 4, 20}, {2000, 4, 20}, {4000, 4, 20}}},
	{"memory",
	 "n",
	 "bytes",
	 NULL,
	 SL_PHASE_DONE,
	 "memory of a learner grows linearly with n",
	 {{30000, 0, 0}, {100000, 0, 0}, {300000, 0, 0}, {1000000, 0, 0}, {3000000, 0, 0}},
	 {{30000, 0, 0}, {60000, 0, 0}, {100000, 0, 0}}},
};
#define GROWTHS (sizeof growths / sizeof *growths)

/* ---- time ---- */

/* Measure the least of several runs: other programs only add time. */
static int measure_time(struct sl_paper *r, const struct growth *g, const struct point *p, double *x,
			double *y, struct sl_error *error)
{
	char topology[32];
	struct sl_run_plan plan = {
		.what = g->name, .learners = LEARNERS, .parameters = p->floats, .topologies = {topology}};
	int rc = SL_OK;
	*y = INFINITY;
	snprintf(topology, sizeof topology, "regular:%u", p->neighbours);
	snprintf(plan.set, sizeof plan.set,
		 "rounds=2 privacy_check=warn modulus=2147483647 mixing=metropolis sharing=%s iterations=%u",
		 g->sharing, p->k);
	for (uint32_t repeat = 0; rc == SL_OK && repeat < (r->options.quick ? 1 : REPEATS); repeat++) {
		struct sl_run run;
		rc = sl_run_start(&run, &plan, r, error);
		*x = (double)p->floats * p->neighbours * (g->phase == SL_PHASE_MIX ? (double)run.k : 1);
		if (rc == SL_OK)
			*y = fmin(*y, sl_run_seconds(&run, g->phase, g->phase));
		sl_run_close(&run);
	}
	return rc;
}

/* ---- memory ---- */

#define MEMORY_LEARNERS 3u

/* Return a size of this process, such as "VmHWM", in bytes; negative: unknown. */
static double status_of(const char *key)
{
	char line[256];
	double kilobytes = -1;
	FILE *in = fopen("/proc/self/status", "r");
	if (in == NULL)
		return -1;
	while (fgets(line, sizeof line, in) != NULL)
		if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ':')
			sscanf(line + strlen(key) + 1, "%lf", &kilobytes);
	fclose(in);
	return kilobytes * 1024;
}

/* Let the peak count from now on. */
static bool reset_peak(void)
{
	malloc_trim(0);
	FILE *out = fopen("/proc/self/clear_refs", "w");
	bool written = out != NULL && fputs("5", out) >= 0;
	return out != NULL && fclose(out) == 0 && written;
}

static int train(void *context, struct sl_runner_training *training, struct sl_error *error)
{
	uint64_t random = sl_random_seed(1, training->learner, training->t);
	(void)error;
	for (uint32_t l = 0; l < *(const uint32_t *)context; l++)
		training->model[l] = (float)sl_random_in(&random, -1, 1);
	return SL_OK;
}

static int play(struct sl_paper *r, uint32_t floats, struct sl_error *error)
{
	static const char *const set[] = {"rounds=1", "sharing=additive"};
	struct sl_settings settings;
	struct sl_runner *runner;
	struct sl_runner_options options = {.learners = MEMORY_LEARNERS,
					    .settings = &settings,
					    .parameters = floats,
					    .seed = 1,
					    .train = train,
					    .context = &floats};
	int rc = sl_runner_settings(set, 2, NULL, &settings, error);
	if (rc == SL_OK)
		rc = sl_runner_open(&options, &runner, error);
	if (rc != SL_OK)
		return rc;
	do
		rc = sl_runner_step(runner, error);
	while (rc == SL_PENDING && sl_paper_progress(r, "memory", 0) == SL_OK);
	sl_runner_close(runner);
	return rc;
}

/* Measure the most bytes of one of three learners in a round, above what the process had before. */
static int measure_memory(struct sl_paper *r, uint32_t floats, double *bytes, struct sl_error *error)
{
	bool reset = reset_peak();
	double before = status_of("VmRSS");
	int rc = play(r, floats, error);
	double peak = status_of("VmHWM");
	if (rc != SL_OK)
		return rc;
	if (!reset || before < 0 || peak < before)
		return sl_err_set(error, SL_ERR_IO,
				  "this system does not tell how much memory a process takes");
	*bytes = (peak - before) / MEMORY_LEARNERS;
	return SL_OK;
}

/* ---- curves ---- */

struct curve {
	double x[POINTS_MOST], y[POINTS_MOST];
	uint32_t count;
};

static int measure(struct sl_paper *r, const struct growth *g, struct curve *c, struct sl_error *error)
{
	const struct point *points = r->options.quick ? g->quick : g->points;
	double none = 0;
	int rc = g->sharing == NULL ? measure_memory(r, 100, &none, error) : SL_OK;
	for (c->count = 0; rc == SL_OK && c->count < POINTS_MOST && points[c->count].floats > 0; c->count++) {
		const struct point *p = &points[c->count];
		double *x = &c->x[c->count], *y = &c->y[c->count];
		*x = p->floats;
		rc = g->sharing == NULL ? measure_memory(r, p->floats, y, error)
					: measure_time(r, g, p, x, y, error);
		*y -= none;
	}
	return rc;
}

static void write_curve(struct sl_paper *r, FILE *csv, const struct growth *g, const struct curve *c)
{
	double power = sl_fit_exponent(c->x, c->y, c->count), middle = 0;
	for (uint32_t i = 0; i < c->count; i++) {
		middle += log(c->y[i] / pow(c->x[i], power)) / c->count;
		sl_csv_print(csv, "%s,%s,%g,%g,%s\n", g->name, g->over, c->x[i], c->y[i], g->unit);
	}
	sl_paper_value(r, "h_curve", "'%s'", g->name);
	sl_paper_value(r, "h_x", "'%s'", g->over);
	sl_paper_value(r, "h_y", "'%s'", g->unit);
	sl_paper_value(r, "h_factor", "%.9g", exp(middle));
	sl_paper_value(r, "h_power", "%.9g", power);
	sl_paper_claim(r, 'h', sl_paper_full_verdict(r, fabs(power - 1) <= EXACT_POWER), g->claim, "linear",
		       "fitted power %.3f over %.3g to %.3g", power, c->x[0], c->x[c->count - 1]);
}

int sl_paper_growth(struct sl_paper *r, struct sl_error *error)
{
	struct curve curves[GROWTHS];
	int rc = SL_OK;
	for (size_t g = 0; rc == SL_OK && g < GROWTHS; g++)
		rc = measure(r, &growths[g], &curves[g], error);
	if (rc != SL_OK)
		return rc;
	FILE *csv = sl_paper_folder_file(&r->folder, "h_growth.csv");
	sl_csv_print(csv, "what,over,x,y,y_is\n");
	for (size_t g = 0; g < GROWTHS; g++)
		write_curve(r, csv, &growths[g], &curves[g]);
	sl_paper_value(r, "h_repeats", "%u", r->options.quick ? 1 : REPEATS);
	return SL_OK;
}
