#include "tools/topology/augment.h"

#include <stdlib.h>

#include "common/graph/augment.h"
#include "tools/lib/schedule_graph.h"

struct work {
	const struct sl_schedule *from;
	uint32_t target; /* vertex connectivity */
	void *memory;
	size_t bytes;
	struct sl_edge *missing; /* in a step */
	size_t capacity;
};

static int open_work(struct work *w, const struct sl_schedule *schedule, uint32_t c)
{
	uint32_t n = schedule->learners, most = sl_schedule_graph_edges_most(schedule);
	*w = (struct work){.from = schedule, .target = c + 1, .capacity = (size_t)n * (n - 1) / 2};
	w->bytes = sl_schedule_graph_bytes(n, most) + sl_augment_scratch(n, most, w->target);
	w->memory = malloc(w->bytes);
	w->missing = reallocarray(NULL, w->capacity + 1, sizeof *w->missing);
	return w->memory == NULL || w->missing == NULL ? SL_ERR_NOMEM : SL_OK;
}

static int augment_step(struct work *w, uint32_t step, struct sl_schedule *added)
{
	struct sl_arena arena;
	struct sl_graph graph;
	size_t count = 0;
	sl_arena_init(&arena, w->memory, w->bytes);
	int rc = sl_schedule_graph(w->from, step, &graph, &arena);
	if (rc == SL_OK)
		rc = sl_augment(&graph, w->target, w->missing, w->capacity, &count, &arena);
	return rc == SL_OK ? sl_schedule_add(added, w->missing, count) : rc;
}

int sl_augment_schedule(const struct sl_schedule *schedule, uint32_t c, struct sl_schedule *added,
			struct sl_error *error)
{
	struct work w;
	sl_schedule_init(added, schedule->learners);
	if (schedule->learners < (uint64_t)c + 2)
		return sl_err_set(error, SL_ERR_INVALID,
				  "%u learners cannot tolerate %u that collude: at least %llu are needed",
				  schedule->learners, c, (unsigned long long)c + 2);
	int rc = open_work(&w, schedule, c);
	if (rc != SL_OK)
		sl_err_set(error, rc, "%s", sl_err_text(rc));
	for (uint32_t s = 0; rc == SL_OK && s < schedule->steps; s++) {
		rc = augment_step(&w, s, added);
		if (rc != SL_OK)
			sl_err_set(error, rc, "step %u: %s", s + 1, sl_err_text(rc));
	}
	free(w.memory);
	free(w.missing);
	return rc;
}
