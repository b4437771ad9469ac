/* spectrum.h - the Metropolis-Hastings matrix A of a graph, dense: its eigenvalues, and how its powers
 * approach the mean. The paper's quantities, computed from the matrix itself and not by the code that
 * learners use (spectrum.h).
 */
#pragma once

#include "common/graph/graph.h"

struct sl_eigen {
	double lambda_2;   /* the second largest, signed: what the paper quotes */
	double lambda_min; /* the least */
	double mu;	   /* the second largest modulus */
};

void sl_spectrum_eigen(const struct sl_graph *graph, struct sl_eigen *eigen);

/* Set norm[i] = || N A^k[i] - 11' ||, the spectral norm, from the powers themselves (k[i] >= 1, whole). */
void sl_spectrum_power_norms(const struct sl_graph *graph, const double *k, uint32_t count, double *norm);
