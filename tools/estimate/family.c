/* The formulas of graph.h. */
#include <math.h>

#include "common/base/limits.h"
#include "tools/estimate/graph.h"

static void set_degree(struct sl_estimate_figures *f, double mean, double most)
{
	f->degree_mean = mean;
	f->degree_most = most;
	f->edges = mean * (double)f->learners / 2;
}

/* In spanning trees of n vertices, the mean degree. */
static double mean_load(double n)
{
	return 2 * (n - 1) / n;
}

/* `busiest`: vectors that the busiest learner sends, without its deposit. */
static void set_forest(struct sl_estimate_figures *f, double depth, double trees, double busiest)
{
	f->depth = (uint64_t)depth;
	f->trees = (uint32_t)fmin(trees, SL_TREES_MAX);
	f->load = ceil(busiest * f->trees - 1e-6);
	f->bound = trees == 1 ? busiest : mean_load((double)f->learners);
}

static void complete(struct sl_estimate_figures *f, double k)
{
	double n = (double)f->learners;
	(void)k;
	set_degree(f, n - 1, n - 1);
	f->mu = 0;
	f->degree_r = 1;
	set_forest(f, 1, n > 2 ? n : 1, mean_load(n));
}

static void ring(struct sl_estimate_figures *f, double k)
{
	double n = (double)f->learners;
	(void)k;
	set_degree(f, 2, 2);
	f->mu = fmax(1 - 2 * (1 - cos(2 * M_PI / n)) / 3,
		     f->learners % 2 == 0 ? 1.0 / 3 : -(1 + 2 * cos(M_PI * (n - 1) / n)) / 3);
	f->degree_r = f->learners / 2;
	set_forest(f, floor(n / 2), n, n > 3 ? 2 : mean_load(n)); /* or a little less */
}

static void line(struct sl_estimate_figures *f, double k)
{
	double n = (double)f->learners;
	(void)k;
	set_degree(f, 2 * (n - 1) / n, n > 2 ? 2 : 1);
	f->mu = n > 2 ? 1 - 2 * (1 - cos(M_PI / n)) / 3 : 0;
	f->degree_r = f->learners - 1;
	set_forest(f, floor(n / 2), 1, n > 2 ? 2 : 1);
}

static void star(struct sl_estimate_figures *f, double k)
{
	double n = (double)f->learners;
	(void)k;
	set_degree(f, 2 * (n - 1) / n, n - 1);
	f->mu = n > 2 ? 1 - 1 / n : 0;
	f->degree_r = n > 2 ? 2 : 1;
	set_forest(f, 1, 1, n - 1);
}

/* Circulant: lambda_j = sin((k+1) pi j/N) / ((k+1) sin(pi j/N)). */
static void nearest(struct sl_estimate_figures *f, double k)
{
	double n = (double)f->learners, most = 0;
	for (uint64_t j = 1; j <= f->learners / 2; j++)
		most = fmax(most, fabs(sin((k + 1) * M_PI * (double)j / n) / sin(M_PI * (double)j / n)));
	set_degree(f, k, k);
	f->mu = most / (k + 1);
	f->degree_r = f->learners / 2;
	f->degree_r_is = SL_AT_MOST;
	set_forest(f, ceil(floor(n / 2) / (k / 2)), n, 1.1 * mean_load(n));
	f->depth_is = SL_ABOUT;
}

/* A ring of s classes of k/2 learners, each linked to both classes beside its own and not to its own. */
static void neighbours(struct sl_estimate_figures *f, double k)
{
	uint64_t s = (uint64_t)llround(2 * (double)f->learners / k);
	double most = 1; /* vectors that sum to 0 in every class: lambda = 1 / (k + 1) */
	for (uint64_t j = 1; j <= s / 2; j++)
		most = fmax(most, fabs(1 + k * cos(2 * M_PI * (double)j / (double)s)));
	set_degree(f, k, k);
	f->mu = most / (k + 1);
	f->degree_r = s / 2 + (k > 2 && s % 4 != 0 ? 1 : 0);
	set_forest(f, fmax(2, floor((double)s / 2)), (double)f->learners,
		   1.1 * mean_load((double)f->learners));
	f->depth_is = SL_ABOUT;
}

static void grid(struct sl_estimate_figures *f, double k)
{
	double n = (double)f->learners, columns = ceil(sqrt(n)), rows = ceil(n / columns);
	(void)k;
	set_degree(f, 2 * (2 * n - columns - rows) / n, n > 8 ? 4 : n > 5 ? 3 : 2);
	f->mu = fmax(1 - 2 * (1 - cos(M_PI / fmax(columns, rows))) / 5, 0.6);
	f->mu_is = columns * rows > n ? SL_ABOUT : SL_AT_MOST;
	f->degree_r = f->learners - 1;
	f->degree_r_is = SL_AT_MOST;
	set_forest(f, ceil(1.9 * (floor(columns / 2) + floor(rows / 2))), n, 1.1 * mean_load(n));
	f->depth_is = SL_ABOUT;
}

/* Return the depth of the tree in a random regular graph: of N learners, about N exp(-d (d-1)^(t-1) / N) are
 * more than t steps from one; the centre is the luckiest of N, so that this has to come down to ln N. */
static double spreading(double n, double d)
{
	double wanted = n * log(fmax(M_E, n / log(n)));
	return fmax(1, ceil(1 + log(wanted / d) / log(d - 1)));
}

static void regular(struct sl_estimate_figures *f, double d)
{
	double n = (double)f->learners;
	if (f->learners == (uint64_t)d + 1) {
		complete(f, d);
		return;
	}
	if (d <= 2) {
		ring(f, d);
		return;
	}
	set_degree(f, d, d);
	f->mu = fmin(1, (2 * sqrt(d - 1) + 1) / (d + 1));
	f->mu_is = SL_ABOUT;
	f->degree_r = f->learners - 1;
	f->degree_r_is = SL_AT_MOST;
	set_forest(f, ceil(1.8 * spreading(n, d)), n, 1.1 * mean_load(n));
	f->depth_is = SL_ABOUT;
}

/* The mean degree accounts for the borders of the square; the largest degree, for the spread of n draws. */
static void geometric(struct sl_estimate_figures *f, double r)
{
	double n = (double)f->learners,
	       near = r < 1 ? M_PI * r * r - 8 * r * r * r / 3 + r * r * r * r / 2 : 1;
	double mean = fmin(n - 1, (n - 1) * fmin(near, 1)), inside = fmin(n - 1, (n - 1) * M_PI * r * r);
	set_degree(f, mean, fmin(n - 1, inside + sqrt(2 * inside * log(n))));
	f->mu = fmax(0, 1 - M_PI * M_PI * r * r / 8);
	f->mu_is = SL_ABOUT;
	f->degree_r = f->learners - 1;
	f->degree_r_is = SL_AT_MOST;
	set_forest(f, ceil(3 / (r * M_SQRT2)), n, 1.1 * mean_load(n));
	f->depth_is = SL_ABOUT;
}

/* Return the radius below which a geometric graph of n learners is most likely not connected. */
static double radius_least(double n)
{
	return sqrt(log(n) / (M_PI * n));
}

int sl_estimate_family_figures(const struct sl_family *topology, uint64_t learners,
			       struct sl_estimate_figures *figures, struct sl_error *error)
{
	double least = radius_least((double)learners);
	static void (*const families[])(struct sl_estimate_figures *, double) = {
		[SL_FAMILY_COMPLETE] = complete,
		[SL_FAMILY_RING] = ring,
		[SL_FAMILY_LINE] = line,
		[SL_FAMILY_STAR] = star,
		[SL_FAMILY_GRID] = grid,
		[SL_FAMILY_NEAREST] = nearest,
		[SL_FAMILY_NEIGHBOURS] = neighbours,
		[SL_FAMILY_REGULAR] = regular,
		[SL_FAMILY_GEOMETRIC] = geometric,
	};
	if (topology->kind == SL_FAMILY_GEOMETRIC && topology->parameter < least)
		return sl_err_set(
			error, SL_ERR_INVALID,
			"%llu learners with a radius of %g are not connected: at least %.5f is needed",
			(unsigned long long)learners, topology->parameter, ceil(1e5 * least) / 1e5);
	*figures = (struct sl_estimate_figures){.learners = learners};
	families[topology->kind](figures, topology->parameter);
	return SL_OK;
}
