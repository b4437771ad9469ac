/* Time to audit: rounds over random graphs, with unchanged models (the basis grows) and with changed ones. */
#include "common/mixing/leakage.h"
#include "common/graph/generate.h"
#include "test/graph/bench.h"

#define ROUNDS 200u
#define MEMBERS_MOST 2000u

struct course {
	uint32_t n, members;
	const char *topology;
	uint64_t p;
	bool unchanged;
};

static struct sl_graph graph_of(const struct course *course, uint32_t step, struct sl_arena *arena)
{
	struct sl_graph graph;
	struct sl_family topology;
	const char *error;
	size_t count, room = (size_t)course->n * 40;
	struct sl_edge *edges = SL_ARENA_TAKE(arena, room, struct sl_edge);
	if (sl_family_parse(course->topology, course->n, &topology, &error) != SL_OK ||
	    sl_generate(&topology, course->n, 1, step, edges, room, &count, arena) != SL_OK ||
	    sl_graph_init(&graph, course->n, edges, count, arena) != SL_OK)
		abort();
	return graph;
}

static void measure(const struct course *course)
{
	struct sl_arena arena;
	struct sl_field field;
	struct sl_leakage leakage;
	uint32_t members[MEMBERS_MOST], groups = 0;
	size_t bytes = sl_leakage_bytes(course->n) + ((size_t)16 << 20);
	void *memory = bench_memory(bytes, 1);
	sl_arena_init(&arena, memory, bytes);
	for (uint32_t k = 0; k < course->members; k++)
		members[k] = k * (course->n / course->members);
	if (sl_field_init(&field, course->p) != SL_OK ||
	    sl_leakage_init(&leakage, course->n, &field, &arena) != SL_OK ||
	    sl_leakage_coalition(&leakage, members, course->members) != SL_OK)
		abort();
	double spent = 0, worst = 0;
	for (uint32_t t = 0; t < ROUNDS; t++) {
		size_t mark = sl_arena_mark(&arena);
		struct sl_graph graph = graph_of(course, t, &arena);
		double start = now_ns();
		if (!course->unchanged)
			sl_leakage_forget(&leakage);
		groups += sl_leakage_round(&leakage, &graph, NULL, NULL);
		double took = now_ns() - start;
		spent += took;
		worst = took > worst ? took : worst;
		sl_arena_reset(&arena, mark);
	}
	double start = now_ns();
	size_t pairs = sl_leakage_pairs(&leakage, NULL, 0);
	double pairing = now_ns() - start;
	printf("%6u %6u %12s %20llu %10s %8.1f %6u %10.3f %10.3f %10.3f %8zu\n", course->n, course->members,
	       course->topology, (unsigned long long)course->p, course->unchanged ? "unchanged" : "changed",
	       groups / (double)ROUNDS, leakage.rank, spent / ROUNDS / 1e6, worst / 1e6, pairing / 1e6,
	       pairs);
	free(memory);
}

int main(void)
{
	static const uint64_t wide = (UINT64_C(1) << 61) - 1;
	static const struct course courses[] = {
		{100, 1, "regular:4", SL_P_MERSENNE31, false},
		{100, 30, "regular:4", SL_P_MERSENNE31, true},
		{2000, 1, "regular:16", SL_P_MERSENNE31, false},
		{2000, 1000, "regular:4", SL_P_MERSENNE31, false},
		{2000, 400, "regular:4", SL_P_MERSENNE31, true},
		{2000, 1000, "regular:4", SL_P_MERSENNE31, true},
		{2000, 500, "regular:4", wide, true},
	};
	printf("audit of %u rounds\n%6s %6s %12s %20s %10s %8s %6s %10s %10s %10s %8s\n", ROUNDS, "N", "|A|",
	       "graph", "p", "models", "groups", "rank", "ms/round", "worst ms", "pairs ms", "pairs");
	for (size_t i = 0; i < sizeof courses / sizeof *courses; i++)
		measure(&courses[i]);
	return 0;
}
