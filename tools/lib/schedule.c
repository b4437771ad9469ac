#include "tools/lib/schedule.h"

#include <stdlib.h>
#include <string.h>

#define DEGREE_USUAL 16u /* of the setting max_degree */

void sl_schedule_init(struct sl_schedule *schedule, uint32_t learners)
{
	*schedule = (struct sl_schedule){.learners = learners};
}

void sl_schedule_close(struct sl_schedule *schedule)
{
	free(schedule->start);
	free(schedule->edges);
	*schedule = (struct sl_schedule){0};
}

/* Make room for `count` more edges and one more step. */
static int grow(struct sl_schedule *s, size_t count)
{
	size_t used = s->steps > 0 ? s->start[s->steps] : 0;
	if (s->steps + 2 > s->step_room) {
		size_t room = (s->step_room + 8) * 2;
		size_t *start = reallocarray(s->start, room, sizeof *start);
		if (start == NULL)
			return SL_ERR_NOMEM;
		s->start = start;
		s->step_room = room;
	}
	if (s->edges == NULL || used + count > s->edge_room) {
		size_t room = used + used / 2 + count + 16;
		struct sl_edge *edges = reallocarray(s->edges, room, sizeof *edges);
		if (edges == NULL)
			return SL_ERR_NOMEM;
		s->edges = edges;
		s->edge_room = room;
	}
	if (s->steps == 0)
		s->start[0] = 0;
	return SL_OK;
}

static int by_ends(const void *left, const void *right)
{
	const struct sl_edge *x = left, *y = right;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return (x->b > y->b) - (x->b < y->b);
}

int sl_schedule_add(struct sl_schedule *schedule, const struct sl_edge *edges, size_t count)
{
	if (grow(schedule, count) != SL_OK)
		return SL_ERR_NOMEM;
	size_t used = schedule->start[schedule->steps], kept = 0;
	struct sl_edge *step = schedule->edges + used;
	for (size_t i = 0; i < count; i++) {
		uint32_t a = edges[i].a, b = edges[i].b;
		step[i] = a < b ? (struct sl_edge){a, b} : (struct sl_edge){b, a};
	}
	qsort(step, count, sizeof *step, by_ends);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || by_ends(&step[kept - 1], &step[i]) != 0)
			step[kept++] = step[i];
	schedule->start[++schedule->steps] = used + kept;
	return SL_OK;
}

void sl_schedule_write(const struct sl_schedule *schedule, FILE *out)
{
	fprintf(out, "learners %u\n", schedule->learners);
	for (uint32_t s = 0; s < schedule->steps; s++) {
		const struct sl_edge *edges = sl_schedule_edges(schedule, s);
		size_t count = sl_schedule_count(schedule, s);
		fputs("step", out);
		for (size_t i = 0; i < count; i++)
			fprintf(out, " %u-%u", edges[i].a + 1, edges[i].b + 1);
		fputc('\n', out);
	}
}

static uint32_t largest_part(const uint32_t *part, uint32_t n, uint32_t *size)
{
	uint32_t largest = 0;
	for (uint32_t v = 0; v < n; v++)
		if (++size[part[v]] > largest)
			largest = size[part[v]];
	return largest;
}

int sl_schedule_parts(const struct sl_schedule *schedule, uint32_t step, struct sl_step_parts *parts)
{
	uint32_t n = schedule->learners;
	size_t count = sl_schedule_count(schedule, step);
	size_t bytes = 8192 + 32 * (size_t)n + 24 * count; /* the graph, labels and scratch, with alignment */
	struct sl_arena arena;
	struct sl_graph graph;
	void *memory = malloc(bytes);
	if (memory == NULL)
		return SL_ERR_NOMEM;
	sl_arena_init(&arena, memory, bytes);
	uint32_t *part = SL_ARENA_TAKE(&arena, n, uint32_t);
	uint32_t *size = SL_ARENA_TAKE(&arena, n, uint32_t);
	int rc = part == NULL || size == NULL ? SL_ERR_NOMEM : SL_OK;
	if (rc == SL_OK)
		rc = sl_graph_init(&graph, n, sl_schedule_edges(schedule, step), count, &arena);
	if (rc == SL_OK) {
		parts->parts = sl_graph_components(&graph, part, &arena);
		rc = parts->parts == 0 ? SL_ERR_NOMEM : SL_OK;
	}
	if (rc == SL_OK)
		parts->largest = largest_part(part, n, size);
	free(memory);
	return rc;
}

int sl_schedule_check(const struct sl_schedule *schedule, uint32_t quorum, sl_schedule_warn warn,
		      void *context, struct sl_error *error)
{
	struct sl_step_parts parts;
	uint32_t best = 0;
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t s = 0; s < schedule->steps; s++) {
			int rc = sl_schedule_parts(schedule, s, &parts);
			if (rc != SL_OK)
				return sl_err_set(error, rc, "step %u: %s", s + 1, sl_err_text(rc));
			if (parts.largest > best)
				best = parts.largest;
			if (pass == 1 && parts.parts > 1 && warn != NULL)
				warn(context, s, &parts);
		}
		if (best < quorum)
			return sl_err_set(error, SL_ERR_INVALID,
					  "no step can commit: at most %u learners are connected in a step, "
					  "and the quorum is %u",
					  best, quorum);
	}
	return SL_OK;
}

uint32_t sl_schedule_degree_max(const struct sl_schedule *schedule)
{
	uint32_t most = DEGREE_USUAL, *degree = calloc(schedule->learners, sizeof *degree);
	for (uint32_t step = 0; degree != NULL && step < schedule->steps; step++) {
		const struct sl_edge *edges = sl_schedule_edges(schedule, step);
		memset(degree, 0, schedule->learners * sizeof *degree);
		for (size_t e = 0; e < sl_schedule_count(schedule, step); e++) {
			most = ++degree[edges[e].a] > most ? degree[edges[e].a] : most;
			most = ++degree[edges[e].b] > most ? degree[edges[e].b] : most;
		}
	}
	free(degree);
	return most;
}
