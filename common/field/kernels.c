#include "common/field/kernels.h"

#include <stdatomic.h>
#include <string.h>

#include "common/field/kernels/table.h"

static _Atomic(const struct sl_kernels *) chosen; /* NULL until the first use */

#ifdef __x86_64__
static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}

/* Return true on Ice Lake and later, which have 52-bit products and byte permutations. */
static bool has_avx512(void)
{
	return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("avx512vbmi");
}
#endif

static bool always(void)
{
	return true;
}

/* In order, the best first. */
static const struct {
	const struct sl_kernels *kernels;
	bool (*supported)(void);
} sets[] = {
#ifdef __x86_64__
	{&sl_kernels_avx512, has_avx512},
	{&sl_kernels_avx2, has_avx2},
#endif
	{&sl_kernels_portable, always},
};

int sl_kernels_choose(const char *name)
{
	int rc = SL_ERR_NOTFOUND;
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		if (name != NULL && strcmp(name, sets[i].kernels->name) != 0)
			continue;
		rc = SL_ERR_REFUSED;
		if (!sets[i].supported())
			continue;
		atomic_store_explicit(&chosen, sets[i].kernels, memory_order_relaxed);
		return SL_OK;
	}
	return rc;
}

/* Threads that call this first at the same time choose the same set. */
const struct sl_kernels *sl_kernels(void)
{
	const struct sl_kernels *kernels = atomic_load_explicit(&chosen, memory_order_relaxed);
	if (kernels != NULL)
		return kernels;
	sl_kernels_choose(NULL);
	return atomic_load_explicit(&chosen, memory_order_relaxed);
}
