#include "tools/topology/repair.h"

#include <stdlib.h>
#include <string.h>

#include "common/graph/augment.h"
#include "tools/lib/schedule_graph.h"

struct repair {
	const struct sl_schedule *from;
	uint32_t target; /* vertex connectivity */
	void *memory;
	size_t bytes;
	struct sl_edge *edges; /* of a step, then those that it lacks */
	size_t capacity;
};

static int open_repair(struct repair *r, const struct sl_schedule *schedule, uint32_t c)
{
	uint32_t n = schedule->learners, most = sl_schedule_graph_edges_most(schedule);
	*r = (struct repair){.from = schedule, .target = c + 1, .capacity = (size_t)n * (n - 1) / 2};
	r->bytes = sl_schedule_graph_bytes(n, most) + sl_augment_scratch(n, most, r->target);
	r->memory = malloc(r->bytes);
	r->edges = reallocarray(NULL, r->capacity + 1, sizeof *r->edges);
	return r->memory == NULL || r->edges == NULL ? SL_ERR_NOMEM : SL_OK;
}

static int repair_step(struct repair *r, uint32_t step, struct sl_schedule *repaired,
		       struct sl_schedule *added)
{
	struct sl_arena arena;
	struct sl_graph graph;
	size_t had = sl_schedule_count(r->from, step), lacks = 0;
	sl_arena_init(&arena, r->memory, r->bytes);
	int rc = sl_schedule_graph(r->from, step, &graph, &arena);
	if (rc == SL_OK)
		rc = sl_augment(&graph, r->target, r->edges + had, r->capacity - had, &lacks, &arena);
	if (rc == SL_OK)
		rc = sl_schedule_add(added, r->edges + had, lacks);
	if (rc != SL_OK)
		return rc;
	memcpy(r->edges, sl_schedule_edges(r->from, step), had * sizeof *r->edges);
	return sl_schedule_add(repaired, r->edges, had + lacks);
}

int sl_repair(const struct sl_schedule *schedule, uint32_t c, struct sl_schedule *repaired,
	      struct sl_schedule *added, struct sl_error *error)
{
	struct repair r;
	sl_schedule_init(repaired, schedule->learners);
	sl_schedule_init(added, schedule->learners);
	if (schedule->learners < (uint64_t)c + 2)
		return sl_err_set(error, SL_ERR_INVALID,
				  "%u learners can never bear %u that collude; it takes %llu",
				  schedule->learners, c, (unsigned long long)c + 2);
	int rc = open_repair(&r, schedule, c);
	for (uint32_t s = 0; rc == SL_OK && s < schedule->steps; s++) {
		rc = repair_step(&r, s, repaired, added);
		if (rc != SL_OK)
			sl_err_set(error, rc, "step %u: %s", s + 1, sl_err_text(rc));
	}
	free(r.memory);
	free(r.edges);
	if (rc == SL_OK)
		return SL_OK;
	sl_schedule_close(repaired);
	sl_schedule_close(added);
	return error->code != SL_OK ? rc : sl_err_set(error, rc, "%s", sl_err_text(rc));
}
