/* How costs grow: the exponent e of cost = c size^e, fitted to medians over two decades of size.
 *
 *   share time   in a round of learners in this process, with n deg
 *   mixing time  the same, with n deg K
 *   memory       of a daemon at most, less what one with a model of hardly any size has, with n; chunks under
 * way are a bounded part of it, so that it grows less than n does
 */
#include <stdio.h>

#include "tools/dev/bench/crowd.h"
#include "tools/dev/bench/daemons.h"
#include "tools/lib/fit.h"

#define LEARNERS 33u
#define POINTS_MOST 8u

struct point {
	uint32_t n, degree, k;
};

/* ---- time ---- */

static const struct point shares[] = {{3000, 16, 0},  {10000, 16, 0}, {30000, 16, 0}, {100000, 16, 0},
				      {10000, 32, 0}, {30000, 32, 0}, {150000, 32, 0}};
static const struct point mixing[] = {{2000, 16, 30},  {8000, 16, 30},	{2000, 32, 30},
				      {2000, 32, 120}, {20000, 16, 60}, {20000, 32, 150}};

static int round_of(const struct point *p, struct sl_crowd_costs *costs, struct sl_error *error)
{
	char topology[16], k[16];
	snprintf(topology, sizeof topology, "regular:%u", p->degree);
	snprintf(k, sizeof k, "k=%u", p->k);
	const struct sl_crowd crowd = {
		LEARNERS, p->n, topology, {"mixing=metropolis", "sharing=additive", k}};
	return sl_crowd_round(&crowd, costs, error);
}

static struct sl_figure *point_figure(struct sl_bench *bench, const struct point *p)
{
	if (p->k > 0)
		return sl_bench_figure(bench, "s", "  n %u, degree %u, K %u", p->n, p->degree, p->k);
	return sl_bench_figure(bench, "s", "  n %u, degree %u", p->n, p->degree);
}

/* One figure for the exponent, and one for each point. */
static int time_of(struct sl_bench *bench, const struct point *points, size_t count, const char *name,
		   bool mix, struct sl_error *error)
{
	struct sl_figure *fitted = sl_bench_figure(bench, "power", "%s", name), *figures[POINTS_MOST];
	struct sl_crowd_costs costs = {.exchanges = 0};
	double x[POINTS_MOST], y[POINTS_MOST];
	int rc = SL_OK;
	for (size_t i = 0; i < count; i++)
		figures[i] = point_figure(bench, &points[i]);
	for (uint32_t pass = 0; rc == SL_OK && pass < bench->options.repeat; pass++) {
		for (size_t i = 0; rc == SL_OK && i < count; i++) {
			rc = sl_bench_at(bench, name, pass, bench->options.repeat);
			if (rc == SL_OK)
				rc = round_of(&points[i], &costs, error);
			x[i] = (double)points[i].n * points[i].degree * (mix ? (double)costs.exchanges : 1);
			if (rc == SL_OK)
				sl_figure_add(figures[i], mix ? costs.mix_s : costs.share_s);
		}
	}
	for (size_t i = 0; i < count; i++)
		y[i] = sl_figure_spread(figures[i]).median;
	if (rc == SL_OK)
		sl_figure_add(fitted, sl_fit_exponent(x, y, count));
	return rc;
}

/* ---- memory ---- */

static const uint32_t sizes[] = {100000, 300000, 1000000, 3000000, 10000000};
#define SIZES (sizeof sizes / sizeof *sizes)

/* Of three learners, after two rounds. */
static int memory_of(struct sl_bench *bench, uint32_t n, double *bytes, struct sl_error *error)
{
	const struct sl_bench_daemons what = {.learners = 3, .size = n, .topology = "complete"};
	json_t *rows = NULL;
	int rc = sl_bench_launch(bench, &what, 2, bench->folder, &rows, error);
	if (rc == SL_OK)
		*bytes = json_number_value(json_object_get(json_array_get(rows, 1), "peak_bytes"));
	json_decref(rows);
	return rc;
}

static int memory(struct sl_bench *bench, struct sl_error *error)
{
	struct sl_figure *fitted = sl_bench_figure(bench, "power", "memory with n");
	double least = 0, x[SIZES], y[SIZES];
	int rc = memory_of(bench, 100, &least, error);
	for (size_t i = 0; rc == SL_OK && i < SIZES; i++) {
		rc = sl_bench_at(bench, "memory", (uint32_t)i, (uint32_t)SIZES);
		if (rc == SL_OK)
			rc = memory_of(bench, sizes[i], &y[i], error);
		if (rc != SL_OK)
			break;
		x[i] = sizes[i];
		y[i] -= least;
		sl_figure_add(sl_bench_figure(bench, "MB", "  n %u, less %.1f MB", sizes[i], least / 1e6),
			      y[i] / 1e6);
	}
	if (rc == SL_OK)
		sl_figure_add(fitted, sl_fit_exponent(x, y, SIZES));
	return rc;
}

int sl_bench_growth(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error)
{
	(void)self;
	int rc =
		time_of(bench, shares, sizeof shares / sizeof *shares, "share time with n deg", false, error);
	if (rc == SL_OK)
		rc = time_of(bench, mixing, sizeof mixing / sizeof *mixing, "mixing time with n deg K", true,
			     error);
	return rc == SL_OK ? memory(bench, error) : rc;
}
