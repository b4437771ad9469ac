#include "common/base/blas.h"

#include <assert.h>
#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "common/base/err.h"

#define LIBRARY "libopenblas.so.0" /* Debian's name; of any variant: pthread, openmp, serial */

typedef void eigenvalues_call(const char *jobz, const char *uplo, const int *n, double *a, const int *lda,
			      double *w, double *work, const int *lwork, int *info);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static eigenvalues_call *dsyev;
static __typeof__(cblas_sgemm) *sgemm;
static int loaded = SL_ERR_NOTFOUND;

/* OpenBLAS asks the system for a buffer of 128 MiB at its first call, and repeats that without end if it gets
 * none. One thread trains while another computes eigenvalues. */
#define BUFFERS_BYTES ((size_t)2 * (128u << 20))

/* Return true if the address space has room for the buffers. */
static bool has_room(void)
{
	void *probe =
		mmap(NULL, BUFFERS_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (probe == MAP_FAILED)
		return false;
	munmap(probe, BUFFERS_BYTES);
	return true;
}

static void load(void)
{
	static const float one = 1;
	float product = 0;
	setenv("OPENBLAS_NUM_THREADS", "1", 1); /* read while the library is loaded */
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return;
	*(void **)&dsyev = dlsym(library, "dsyev_");
	*(void **)&sgemm = dlsym(library, "cblas_sgemm");
	if (dsyev == NULL || sgemm == NULL)
		return;
	loaded = has_room() ? SL_OK : SL_ERR_NOMEM;
	if (loaded == SL_OK) /* takes the buffer now, while there is room */
		sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1, 1, 1, 1, &one, 1, &one, 1, 0, &product,
		      1);
}

int sl_blas_open(void)
{
	pthread_once(&once, load);
	return loaded;
}

int sl_blas_eigenvalues(double *a, uint32_t n, double *values, double *work)
{
	int order = (int)n, work_size = (int)sl_blas_eigenvalues_work(n), info = 0;
	int rc = sl_blas_open();
	if (rc != SL_OK)
		return rc;
	dsyev("N", "U", &order, a, &order, values, work, &work_size, &info);
	return info == 0 ? SL_OK : SL_ERR_INVALID;
}

void sl_blas_multiply(const struct sl_blas_product *p, float *c)
{
	assert(loaded == SL_OK);
	sgemm(CblasRowMajor, p->turn_a ? CblasTrans : CblasNoTrans, p->turn_b ? CblasTrans : CblasNoTrans,
	      (int)p->m, (int)p->n, (int)p->k, p->alpha, p->a, (int)p->lda, p->b, (int)p->ldb, p->beta, c,
	      (int)p->ldc);
}
