/* Time to find the centre and the tree of the tree engine. */
#include "common/math/generate.h"
#include "common/math/tree.h"
#include "test/math/bench.h"

static void measure(const char *text, uint32_t n)
{
	struct sl_arena arena;
	struct sl_graph graph;
	struct sl_topology topology;
	struct sl_tree tree;
	const char *error;
	size_t bytes = (size_t)80 << 20, count, room = (size_t)n * (n - 1) / 2;
	void *memory = bench_memory(bytes, 1);
	double best;
	sl_arena_init(&arena, memory, bytes);
	struct sl_edge *edges = SL_TAKE(&arena, room, struct sl_edge);
	if (sl_topology_parse(text, n, &topology, &error) != SL_OK ||
	    sl_generate(&topology, n, 1, 0, edges, room, &count, &arena) != SL_OK ||
	    sl_graph_init(&graph, n, edges, count, &arena) != SL_OK)
		abort();
	size_t mark = sl_arena_mark(&arena);
	BENCH(best, sl_arena_reset(&arena, mark); if (sl_tree_init(&tree, &graph, &arena) != SL_OK) abort());
	printf("%12s %6u %8u %10.3f\n", text, n, tree.depth, best / 1e6);
	free(memory);
}

int main(void)
{
	printf("tree\n%12s %6s %8s %10s\n", "graph", "N", "depth", "ms");
	measure("regular:20", 100);
	measure("regular:20", 2000);
	measure("regular:1000", 2000);
	measure("line", 2000);
	measure("ring", 2000);
	measure("complete", 2000);
	return 0;
}
