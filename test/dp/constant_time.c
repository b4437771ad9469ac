/* Draw under memcheck with a key that counts as undefined: a branch or an index that depends on it is an
 * error (ctgrind, A. Langley). Exit status 77 without valgrind. Valgrind knows no AVX-512, whose loop is the
 * same source. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/dp/gaussian.h"
#include "common/field/kernels.h"

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else /* then this test is skipped */
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_COUNT_ERRORS 0
#define VALGRIND_MAKE_MEM_UNDEFINED(at, bytes) 0
#define VALGRIND_CHECK_VALUE_IS_DEFINED(value) 0
#endif

#define COUNT 333u

/* Return the number of errors that drawing makes. */
static unsigned draw(double sigma, int64_t *out)
{
	struct sl_gaussian plan;
	uint8_t key[SL_KEY_BYTES] = {7};
	unsigned before = VALGRIND_COUNT_ERRORS;
	if (sl_gaussian_plan(sigma, &plan) != SL_OK)
		abort();
	(void)VALGRIND_MAKE_MEM_UNDEFINED(key, sizeof key);
	sl_gaussian_draw(&plan, key, 5, out, COUNT);
	return VALGRIND_COUNT_ERRORS - before;
}

int main(void)
{
	static const char *const sets[] = {"portable", "avx2"};
	static const double sigmas[] = {0.5, 4, 100, 6700};
	int64_t out[COUNT];
	if (!RUNNING_ON_VALGRIND || sodium_init() < 0)
		return 77;
	for (size_t s = 0; s < sizeof sets / sizeof *sets; s++)
		for (size_t i = 0; sl_kernels_choose(sets[s]) == SL_OK && i < sizeof sigmas / sizeof *sigmas;
		     i++)
			if (draw(sigmas[i], out) != 0) {
				fprintf(stderr, "%s, sigma %g: depends on the key\n", sets[s], sigmas[i]);
				return EXIT_FAILURE;
			}
	/* That the elements count as undefined shows that this test sees anything. */
	for (size_t i = 0; i < COUNT; i++)
		if (VALGRIND_CHECK_VALUE_IS_DEFINED(out[i]) == 0)
			return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
