#include "common/mixing/spectrum.h"

#include <math.h>

#include "common/base/blas.h"

#define ROUND_UP 1e-12 /* above the error of dsyev for n <= SL_LEARNERS_MAX; K may only grow by it */

size_t sl_spectrum_scratch(uint32_t n)
{
	return ((size_t)n * n + n + sl_blas_eigenvalues_work(n)) * sizeof(double) + 3 * SL_ARENA_ALIGNMENT;
}

/* Fill `w`, which arrives zeroed, with the dense Metropolis-Hastings matrix (paper eq. Metropolis-Hastings).
 */
static void metropolis_matrix(const struct sl_graph *graph, double *w)
{
	size_t n = graph->n;
	for (uint32_t i = 0; i < graph->n; i++) {
		double rest = 1;
		const uint32_t *neighbours = sl_graph_neighbours(graph, i);
		for (uint32_t k = 0; k < sl_graph_degree(graph, i); k++) {
			double weight = 1.0 / sl_graph_metropolis(graph, i, neighbours[k]);
			w[i * n + neighbours[k]] = weight;
			rest -= weight;
		}
		w[i * n + i] = rest;
	}
}

static int eigenvalues(const struct sl_graph *graph, struct sl_arena *scratch, double **values)
{
	double *matrix = SL_ARENA_TAKE(scratch, (size_t)graph->n * graph->n, double);
	double *work = SL_ARENA_TAKE(scratch, sl_blas_eigenvalues_work(graph->n), double);
	*values = SL_ARENA_TAKE(scratch, graph->n, double);
	if (matrix == NULL || work == NULL || *values == NULL)
		return SL_ERR_NOMEM;
	metropolis_matrix(graph, matrix);
	return sl_blas_eigenvalues(matrix, graph->n, *values, work);
}

int sl_spectrum_mu(const struct sl_graph *graph, struct sl_arena *scratch, double *mu)
{
	uint32_t n = graph->n;
	if (n == 0 || n > SL_LEARNERS_MAX)
		return SL_ERR_RANGE;
	*mu = 0;
	if (n == 1)
		return SL_OK;
	uint32_t components = sl_graph_components(graph, NULL, scratch);
	if (components == 0)
		return SL_ERR_NOMEM;
	*mu = 1;
	if (components > 1)
		return SL_OK;
	size_t mark = sl_arena_mark(scratch);
	double *values;
	int err = eigenvalues(graph, scratch, &values);
	if (err == SL_OK)
		*mu = fmin(1, fmax(fabs(values[0]), fabs(values[n - 2])) + ROUND_UP);
	sl_arena_reset(scratch, mark);
	return err;
}

uint64_t sl_spectrum_iterations(uint64_t p, uint32_t n, double mu)
{
	if (!(mu < 1))
		return UINT64_MAX;
	if (mu <= 0)
		return 1;
	double least = log(2 * (double)p * n * sqrt(n)) / -log(mu);
	if (least >= 0x1p63)
		return UINT64_MAX;
	/* strictly less than 1: a whole quotient needs one more */
	return least < 0 ? 1 : (uint64_t)floor(least) + 1;
}

double sl_spectrum_width_need_of(double n, double degree_max, double edges, double mu)
{
	return mu < 1 ? 8 * n * sqrt(2 * degree_max * edges) / (1 - mu) : INFINITY;
}

double sl_spectrum_width_need(const struct sl_graph *graph, double mu)
{
	return sl_spectrum_width_need_of(graph->n, sl_graph_degree_max(graph), graph->edges, mu);
}

double sl_spectrum_spread_bound(const struct sl_graph *graph, double mu, uint64_t p, uint32_t f, uint64_t k)
{
	double n = graph->n;
	return 2 * (double)p * n * sqrt(n) * pow(mu, (double)k) +
	       ldexp(sl_spectrum_width_need(graph, mu) / 4, -(int)f);
}

double sl_spectrum_two_digits(double value)
{
	if (!(value > 1e-300)) /* 10^300 is a double */
		return 0;
	double digits = pow(10, 1 - floor(log10(value)));
	return round(value * digits) / digits;
}

uint32_t sl_spectrum_p_bits(double need)
{
	int exponent;
	if (!(need < 0x1p62))
		return 0;
	if (need <= 1)
		return 62;
	double fraction = frexp(need, &exponent); /* need = fraction 2^exponent, fraction in [1/2, 1) */
	int log2_up = fraction > 0.5 ? exponent : exponent - 1;
	return (uint32_t)(62 - log2_up);
}
