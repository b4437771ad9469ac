/* Time of the graph analysis that every learner does in a round: connectivity, spectrum, minimal polynomial,
 * forest. */
#include <stdlib.h>

#include "common/graph/connectivity.h"
#include "common/graph/generate.h"
#include "common/graph/forest.h"
#include "common/mixing/minimal_polynomial.h"
#include "common/mixing/spectrum.h"
#include "tools/dev/bench/bench.h"

#define TARGET 4u /* colluders + 1 */
#define MEMORY ((size_t)128 << 20)

static const struct {
	const char *topology;
	uint32_t learners;
} graphs[] = {{"regular:10", 100}, {"regular:10", 1000}, {"regular:4", 2000}, {"complete", 1000}};
#define GRAPHS (sizeof graphs / sizeof *graphs)

enum step { CONNECTIVITY, SPECTRUM, POLYNOMIAL, FOREST, STEPS };
static const char *const names[STEPS] = {"connectivity", "spectrum", "polynomial", "forest"};

static int make_graph(size_t g, struct sl_graph *graph, struct sl_arena *arena)
{
	struct sl_family topology;
	const char *why;
	uint32_t n = graphs[g].learners;
	size_t count, room = (size_t)n * (n - 1) / 2;
	struct sl_edge *edges = SL_ARENA_TAKE(arena, room, struct sl_edge);
	int rc = edges == NULL ? SL_ERR_NOMEM : sl_family_parse(graphs[g].topology, n, &topology, &why);
	if (rc == SL_OK)
		rc = sl_generate(&topology, n, 1, 0, edges, room, &count, arena);
	return rc == SL_OK ? sl_graph_init(graph, n, edges, count, arena) : rc;
}

static int run_step(enum step step, const struct sl_graph *graph, const struct sl_field *field,
		    struct sl_arena *arena)
{
	static const uint8_t seed[SL_HASH_BYTES] = {1};
	struct sl_forest forest;
	uint32_t number;
	uint64_t *r;
	double mu;
	switch (step) {
	case CONNECTIVITY:
		return sl_connectivity(graph, TARGET, &number, NULL, arena);
	case SPECTRUM:
		return sl_spectrum_mu(graph, arena, &mu);
	case POLYNOMIAL:
		r = SL_ARENA_TAKE(arena, graph->n, uint64_t);
		return r == NULL ? SL_ERR_NOMEM
				 : sl_minimal_polynomial(graph, field, seed, r, &number, arena);
	default:
		return sl_forest_init(&forest, graph, SL_FOREST_TREES_MAX, arena);
	}
}

static int measure(size_t g, struct sl_arena *arena)
{
	struct sl_graph graph;
	struct sl_field field;
	int rc = make_graph(g, &graph, arena);
	if (rc == SL_OK)
		rc = sl_field_init(&field, SL_P_MERSENNE31);
	for (enum step step = 0; rc == SL_OK && step < STEPS; step++) {
		size_t mark = sl_arena_mark(arena);
		double begun = sl_bench_thread_ns();
		rc = run_step(step, &graph, &field, arena);
		sl_bench_sample((sl_bench_thread_ns() - begun) / 1e6, "ms", "%s, N %u: %s",
				graphs[g].topology, graphs[g].learners, names[step]);
		sl_arena_reset(arena, mark);
	}
	return rc;
}

int sl_bench_analysis(const struct sl_bench *bench, struct sl_error *error)
{
	struct sl_arena arena;
	void *memory = malloc(MEMORY);
	int rc = memory != NULL ? SL_OK : SL_ERR_NOMEM;
	(void)error;
	for (uint32_t i = 0; i < bench->repeat; i++)
		for (size_t g = 0; rc == SL_OK && g < GRAPHS; g++) {
			sl_arena_init(&arena, memory, MEMORY);
			rc = measure(g, &arena);
		}
	free(memory);
	return rc;
}
