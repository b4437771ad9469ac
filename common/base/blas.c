#include "common/base/blas.h"

#include <assert.h>
#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/base/err.h"

#define LIBRARY "libopenblas.so.0" /* Debian's name; of any variant: pthread, openmp, serial */

typedef void eigenvalues_call(const char *jobz, const char *uplo, const int *n, double *a, const int *lda,
			      double *w, double *work, const int *lwork, int *info);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static eigenvalues_call *dsyev;
static __typeof__(cblas_sgemm) *sgemm;

static void load(void)
{
	setenv("OPENBLAS_NUM_THREADS", "1", 1); /* read while the library is loaded */
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return;
	*(void **)&dsyev = dlsym(library, "dsyev_");
	*(void **)&sgemm = dlsym(library, "cblas_sgemm");
}

int sl_blas_open(void)
{
	pthread_once(&once, load);
	return dsyev != NULL && sgemm != NULL ? SL_OK : SL_ERR_NOTFOUND;
}

int sl_blas_eigenvalues(double *a, uint32_t n, double *values, double *work)
{
	int order = (int)n, work_size = (int)sl_blas_eigenvalues_work(n), info = 0;
	if (sl_blas_open() != SL_OK)
		return SL_ERR_NOTFOUND;
	dsyev("N", "U", &order, a, &order, values, work, &work_size, &info);
	return info == 0 ? SL_OK : SL_ERR_INVALID;
}

void sl_blas_multiply(const struct sl_blas_product *p, float *c)
{
	assert(sgemm != NULL);
	sgemm(CblasRowMajor, p->turn_a ? CblasTrans : CblasNoTrans, p->turn_b ? CblasTrans : CblasNoTrans,
	      (int)p->m, (int)p->n, (int)p->k, p->alpha, p->a, (int)p->lda, p->b, (int)p->ldb, p->beta, c,
	      (int)p->ldc);
}
