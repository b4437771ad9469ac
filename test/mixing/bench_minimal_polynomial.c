/* Time to know the polynomial of the exact engine. */
#include "common/mixing/minimal_polynomial.h"
#include "test/graph/bench.h"
#include "test/graph/graphs.h"

static void measure(const char *text, uint32_t n, uint64_t p)
{
	struct sl_graph graph = graph_of(text, n);
	struct sl_field field = field_of(p);
	const uint8_t seed[SL_HASH_BYTES] = {1};
	uint64_t *r = SL_ARENA_TAKE(&arena, n, uint64_t);
	uint32_t degree;
	double start = now_ns();
	if (sl_minimal_polynomial(&graph, &field, seed, r, &degree, &arena) != SL_OK)
		abort();
	printf("%14s %6u %20llu %8u %10.1f\n", text, n, (unsigned long long)p, degree,
	       (now_ns() - start) / 1e6);
}

int main(void)
{
	static const uint64_t primes[] = {SL_P_MERSENNE31, (UINT64_C(1) << 40) - 87, (UINT64_C(1) << 61) - 1};
	open_arena(NULL);
	printf("recurrence\n%14s %6s %20s %8s %10s\n", "graph", "N", "p", "degree", "ms");
	for (size_t i = 0; i < 3; i++) {
		measure("regular:10", 100, primes[i]);
		measure("regular:10", 1000, primes[i]);
		measure("complete", 1000, primes[i]);
	}
	measure("line", 2000, SL_P_MERSENNE31);
	measure("regular:16", 2000, SL_P_MERSENNE31);
	measure("complete", 2000, SL_P_MERSENNE31);
	return close_arena(NULL);
}
