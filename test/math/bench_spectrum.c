/* Time to know K: the spectrum of a random 20-regular graph, values only. */
#include "common/math/generate.h"
#include "common/math/spectrum.h"
#include "test/math/bench.h"

static void measure(uint32_t n)
{
	struct sl_arena arena;
	struct sl_graph graph;
	struct sl_topology topology;
	const char *error;
	size_t bytes = ((size_t)64 << 20), count, room = (size_t)n * (n - 1) / 2;
	void *memory = bench_memory(bytes, 1);
	double mu, best;
	sl_arena_init(&arena, memory, bytes);
	struct sl_edge *edges = SL_TAKE(&arena, room, struct sl_edge);
	if (sl_topology_parse("regular:20", n, &topology, &error) != SL_OK ||
	    sl_generate(&topology, n, 1, 0, edges, room, &count, &arena) != SL_OK ||
	    sl_graph_init(&graph, n, edges, count, &arena) != SL_OK)
		abort();
	BENCH(best, if (sl_mu(&graph, &arena, &mu) != SL_OK) abort());
	printf("%8u %12.3f %12.6f %8llu\n", n, best / 1e6, mu,
	       (unsigned long long)sl_iterations(2147483647, n, mu));
	free(memory);
}

int main(void)
{
	printf("spectrum of a random 20-regular graph\n%8s %12s %12s %8s\n", "N", "ms", "mu", "K");
	measure(100);
	measure(1000);
	return 0;
}
