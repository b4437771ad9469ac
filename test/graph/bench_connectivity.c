/* Time to know how many colluders a view bears, c <= 3, and to say which edges it lacks. */
#include "common/graph/connectivity.h"
#include "common/graph/augment.h"
#include "test/graph/bench.h"
#include "test/graph/graphs.h"

#define TARGET_MOST 4u

/* Every second edge of a ring, as a path that was cut everywhere. */
static struct sl_graph pairs(void)
{
	struct sl_edge edges[SL_LEARNERS_MAX / 2];
	for (uint32_t i = 0; i < SL_LEARNERS_MAX / 2; i++)
		edges[i] = (struct sl_edge){2 * i, 2 * i + 1};
	return graph_of_edges(SL_LEARNERS_MAX, edges, SL_LEARNERS_MAX / 2);
}

static void measure(const char *name, struct sl_graph graph)
{
	static struct sl_edge missing[1 << 16];
	static uint32_t cuts[SL_LEARNERS_MAX];
	uint32_t kappa, count;
	size_t lacking;
	double best;
	printf("%-16s %6u %8u", name, graph.n, graph.edges);
	BENCH(best, if (sl_connectivity_articulation(&graph, cuts, &count, &arena) != SL_OK) abort());
	printf(" %8.3f", best / 1e6);
	BENCH(best, if (sl_connectivity(&graph, TARGET_MOST, &kappa, NULL, &arena) != SL_OK) abort());
	printf(" %8.3f %5u", best / 1e6, kappa);
	for (uint32_t target = 2; target <= TARGET_MOST; target++) {
		double start = now_ns();
		if (sl_augment(&graph, target, missing, 1 << 16, &lacking, &arena) != SL_OK)
			abort();
		printf(" %9.1f %5zu", (now_ns() - start) / 1e6, lacking);
	}
	printf("\n");
}

int main(void)
{
	open_arena(NULL);
	printf("kappa up to 4, then edges to reach 2, 3, 4; ms\n");
	printf("%-16s %6s %8s %8s %8s %5s %9s %5s %9s %5s %9s %5s\n", "graph", "N", "edges", "cut v.",
	       "kappa", "", "to 2", "", "to 3", "", "to 4", "");
	const struct {
		const char *topology;
		uint32_t n;
	} cases[] = {
		{"regular:10", 1000},	  {"geometric:0.056", 1000},
		{"geometric:0.05", 300},  {"regular:4", 2000},
		{"geometric:0.02", 2000}, {"geometric:0.04", 2000},
		{"line", 2000},		  {"star", 2000},
		{"ring", 2000},		  {"grid", 2000},
		{"nearest:6", 2000},	  {"complete", 2000},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		measure(cases[i].topology, graph_of(cases[i].topology, cases[i].n));
	measure("pairs", pairs());
	return close_arena(NULL);
}
