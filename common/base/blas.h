/* blas.h - the two BLAS and LAPACK routines in use, from OpenBLAS, loaded on the first call.
 *
 * A program that never calls them does not load OpenBLAS: it is 30 MB, and starts a thread per processor that
 * spins while idle. Loaded here, it runs on the calling thread alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Load OpenBLAS. SL_ERR_NOTFOUND if the library is not installed, SL_ERR_NOMEM if its buffers of 256 MiB do
 * not fit the address space. Any thread may call it, at any time. */
int sl_blas_open(void);

/* Doubles of `work` that sl_blas_eigenvalues needs for an n x n matrix: LAPACK's optimum for blocks of 64. */
static inline size_t sl_blas_eigenvalues_work(uint32_t n)
{
	return (size_t)66 * n;
}

/* Write the n eigenvalues of the symmetric n x n matrix `a` to `values`, ascending. Destroys `a`.
 * SL_ERR_NOTFOUND and SL_ERR_NOMEM as sl_blas_open; SL_ERR_INVALID if the iteration does not converge. */
int sl_blas_eigenvalues(double *a, uint32_t n, double *values, double *work);

/* c = alpha op(a) op(b) + beta c, row-major single precision; op(a) is m x k, op(b) k x n, c m x n. `turn_a`
 * and `turn_b` transpose a and b; lda, ldb and ldc are the lengths of their rows. After sl_blas_open has
 * returned SL_OK. */
struct sl_blas_product {
	bool turn_a, turn_b;
	uint32_t m, n, k;
	float alpha, beta;
	const float *a, *b;
	uint32_t lda, ldb, ldc;
};
void sl_blas_multiply(const struct sl_blas_product *product, float *c);
