/* Print the plan of each standard deviation that is named, for distance.py: coefficients and thresholds, a
 * line each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/dp/gaussian.h"

static void line(const uint64_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		printf("%" PRId64 "%c", (int64_t)v[i], i + 1 < n ? ' ' : '\n');
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct sl_gaussian plan;
		if (sl_gaussian_plan(strtod(argv[i], NULL), &plan) != SL_OK)
			return EXIT_FAILURE;
		printf("%a\n", plan.sigma);
		line(plan.coefficient, plan.terms);
		line(plan.common, plan.commons);
		line(plan.rare, plan.rares);
	}
	return EXIT_SUCCESS;
}
