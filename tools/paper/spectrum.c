#include "tools/paper/spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/blas.h"
#include "tools/paper/paper.h"

#define SQUARES 20u /* powers up to 2^20 */

static void fill(const struct sl_graph *g, double *a)
{
	size_t n = g->n;
	memset(a, 0, n * n * sizeof *a);
	for (uint32_t i = 0; i < g->n; i++) {
		a[i * n + i] = 1;
		for (uint32_t r = 0; r < sl_graph_degree(g, i); r++) {
			uint32_t j = sl_graph_neighbours(g, i)[r];
			a[i * n + j] = 1.0 / sl_graph_metropolis(g, i, j);
			a[i * n + i] -= a[i * n + j];
		}
	}
}

/* Write the n eigenvalues, ascending; destroys a. */
static void eigenvalues(double *a, uint32_t n, double *values)
{
	double *work = sl_command_memory(sl_blas_eigenvalues_work(n), sizeof *work);
	int rc = sl_blas_eigenvalues(a, n, values, work);
	assert(rc == SL_OK);
	free(work);
}

void sl_spectrum_eigen(const struct sl_graph *graph, struct sl_eigen *eigen)
{
	uint32_t n = graph->n;
	double *a = sl_command_memory((size_t)n * (n + 1), sizeof *a), *values = a + (size_t)n * n;
	fill(graph, a);
	eigenvalues(a, n, values);
	*eigen = (struct sl_eigen){values[n - 2], values[0], fmax(fabs(values[n - 2]), fabs(values[0]))};
	free(a);
}

static void multiply(const double *a, const double *b, uint32_t n, double *product)
{
	memset(product, 0, (size_t)n * n * sizeof *product);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++) {
			double factor = a[i * n + k];
			for (size_t j = 0; j < n; j++)
				product[i * n + j] += factor * b[k * n + j];
		}
}

/* The product of the squares that the bits of k name; `other` is scratch. Returns the one of the two it ended
 * in. */
static double *power(double *const *squares, uint64_t k, uint32_t n, double *one, double *other)
{
	bool begun = false;
	for (uint32_t bit = 0; bit < SQUARES; bit++) {
		if ((k >> bit & 1) == 0)
			continue;
		if (!begun) {
			memcpy(one, squares[bit], (size_t)n * n * sizeof *one);
		} else {
			multiply(one, squares[bit], n, other);
			double *kept = one;
			one = other;
			other = kept;
		}
		begun = true;
	}
	return one;
}

/* Since A keeps the mean, N A^k - 11' = N (A - 11'/N)^k, which loses nothing to the difference of two nearly
 * equal matrices. */
static void fill_squares(const struct sl_graph *graph, double *const *squares)
{
	uint32_t n = graph->n;
	fill(graph, squares[0]);
	for (size_t i = 0; i < (size_t)n * n; i++)
		squares[0][i] -= 1.0 / n;
	for (uint32_t bit = 1; bit < SQUARES; bit++)
		multiply(squares[bit - 1], squares[bit - 1], n, squares[bit]);
}

void sl_spectrum_power_norms(const struct sl_graph *graph, const double *k, uint32_t count, double *norm)
{
	uint32_t n = graph->n;
	size_t size = (size_t)n * n;
	double *memory = sl_command_memory((SQUARES + 2) * size + n, sizeof *memory), *squares[SQUARES];
	double *one = memory + SQUARES * size, *other = one + size, *values = other + size;
	for (uint32_t bit = 0; bit < SQUARES; bit++)
		squares[bit] = memory + bit * size;
	fill_squares(graph, squares);
	for (uint32_t i = 0; i < count; i++) {
		eigenvalues(power(squares, (uint64_t)k[i], n, one, other), n, values);
		norm[i] = n * fmax(fabs(values[0]), fabs(values[n - 1]));
	}
	free(memory);
}
