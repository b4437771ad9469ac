/* Time to find the centre and the tree of the tree engine. */
#include "common/graph/tree.h"
#include "test/graph/bench.h"
#include "test/graph/graphs.h"

static void measure(const char *text, uint32_t n)
{
	struct sl_graph graph = graph_of(text, n);
	struct sl_tree tree;
	double best;
	size_t mark = sl_arena_mark(&arena);
	BENCH(best, sl_arena_reset(&arena, mark); if (sl_tree_init(&tree, &graph, &arena) != SL_OK) abort());
	printf("%12s %6u %8u %10.3f\n", text, n, tree.depth, best / 1e6);
}

int main(void)
{
	open_arena(NULL);
	printf("tree\n%12s %6s %8s %10s\n", "graph", "N", "depth", "ms");
	measure("regular:20", 100);
	measure("regular:20", 2000);
	measure("regular:1000", 2000);
	measure("line", 2000);
	measure("ring", 2000);
	measure("complete", 2000);
	return close_arena(NULL);
}
