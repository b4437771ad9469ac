/* Time to know the polynomial of the exact engine. */
#include "common/math/generate.h"
#include "common/math/recurrence.h"
#include "test/math/bench.h"

static void measure(const char *text, uint32_t n, uint64_t p)
{
	struct sl_arena arena;
	struct sl_graph graph;
	struct sl_field field;
	struct sl_topology topology;
	const char *error;
	const uint8_t seed[SL_HASH_BYTES] = {1};
	size_t bytes = (size_t)160 << 20, count, room = (size_t)n * (n - 1) / 2;
	void *memory = bench_memory(bytes, 1);
	sl_arena_init(&arena, memory, bytes);
	struct sl_edge *edges = SL_TAKE(&arena, room, struct sl_edge);
	if (sl_field_init(&field, p) != SL_OK || sl_topology_parse(text, n, &topology, &error) != SL_OK ||
	    sl_generate(&topology, n, 1, 0, edges, room, &count, &arena) != SL_OK ||
	    sl_graph_init(&graph, n, edges, count, &arena) != SL_OK)
		abort();
	uint64_t *r = SL_TAKE(&arena, n, uint64_t);
	uint32_t degree;
	double start = now_ns();
	if (sl_recurrence(&graph, &field, seed, r, &degree, &arena) != SL_OK)
		abort();
	printf("%14s %6u %20llu %8u %10.1f\n", text, n, (unsigned long long)p, degree,
	       (now_ns() - start) / 1e6);
	free(memory);
}

int main(void)
{
	static const uint64_t primes[] = {SL_P_MERSENNE31, (UINT64_C(1) << 40) - 87, (UINT64_C(1) << 61) - 1};
	printf("recurrence\n%14s %6s %20s %8s %10s\n", "graph", "N", "p", "degree", "ms");
	for (size_t i = 0; i < 3; i++) {
		measure("regular:10", 100, primes[i]);
		measure("regular:10", 1000, primes[i]);
		measure("complete", 1000, primes[i]);
	}
	measure("line", 2000, SL_P_MERSENNE31);
	measure("regular:16", 2000, SL_P_MERSENNE31);
	measure("complete", 2000, SL_P_MERSENNE31);
	return 0;
}
