/* An iteration of the exact engine: ns for each element and edge, all weights alike or each its own. */
#include "common/field/vector.h"
#include "test/field/bench_kernels.h"

#define COUNT 8192u
#define DEGREE_MOST 87u

struct load {
	uint64_t p;
	uint32_t degree;
	bool alike;
};

static double step_ns(const void *what)
{
	static uint64_t x[COUNT], sum[COUNT];
	const struct load *load = what;
	uint64_t weights[DEGREE_MOST + 1];
	const uint8_t *states[DEGREE_MOST];
	uint8_t *wire = bench_memory(DEGREE_MOST, 8 * COUNT);
	struct sl_field field;
	double best;
	if (sl_field_init(&field, load->p) != SL_OK)
		abort();
	for (uint32_t r = 0; r <= load->degree; r++)
		weights[r] = load->p / (load->alike ? 2 : r + 2);
	for (uint32_t r = 0; r < load->degree; r++)
		states[r] = wire + r * (size_t)field.bytes * COUNT;
	BENCH(best, sl_vector_update(&field, x, sum, weights[0], COUNT, states, weights, load->degree));
	free(wire);
	return best / ((double)COUNT * load->degree);
}

int main(void)
{
	static const uint64_t primes[] = {SL_P_MERSENNE31, (UINT64_C(1) << 36) - 5, (UINT64_C(1) << 44) - 17,
					  (UINT64_C(1) << 61) - 1};
	static const uint32_t degrees[] = {4, 10, 87};
	printf("the exact engine, ns per element and edge\n%20s %8s %8s", "p", "degree", "weights");
	bench_columns(NULL, NULL);
	for (size_t i = 0; i < sizeof primes / sizeof *primes; i++)
		for (size_t d = 0; d < 3; d++)
			for (int alike = 1; alike >= 0; alike--) {
				struct load load = {primes[i], degrees[d], alike};
				printf("%20llu %8u %8s", (unsigned long long)load.p, load.degree,
				       alike ? "alike" : "each");
				bench_columns(step_ns, &load);
			}
	return 0;
}
