/* schedule.h - a topology schedule: who is in range of whom, step by step.
 *
 * The text form, one step a line ('#' starts a comment):
 *
 *	learners 4
 *	step 1-2 2-3 3-4
 *	step                    (an empty step: nobody is in range)
 *
 * A file names learners by id 1..N; in memory they are vertices 0..N-1, as in graph.h. After the last step a
 * schedule is played again from the first. A schedule owns its arrays.
 */
#pragma once

#include <stdio.h>

#include "common/graph/graph.h"

struct sl_schedule {
	uint32_t learners;
	uint32_t steps;
	size_t *start;	       /* steps+1; the edges of step s are edges[start[s]] .. edges[start[s+1]-1] */
	struct sl_edge *edges; /* of all steps; within a step sorted, a < b, each once */
	size_t edge_room, step_room;
};

void sl_schedule_init(struct sl_schedule *schedule, uint32_t learners);
void sl_schedule_close(struct sl_schedule *schedule);

/* Appends a step; takes the edges in any order and either direction, counts a repeated one once. The vertices
 * must be below `learners`. SL_ERR_NOMEM is the only error. */
int sl_schedule_add(struct sl_schedule *schedule, const struct sl_edge *edges, size_t count);

static inline size_t sl_schedule_count(const struct sl_schedule *s, uint32_t step)
{
	return s->start[step + 1] - s->start[step];
}
static inline const struct sl_edge *sl_schedule_edges(const struct sl_schedule *s, uint32_t step)
{
	return s->edges + s->start[step];
}

/* The setting max_degree with which it is played as it is, and not thinned by an overlay. */
uint32_t sl_schedule_degree_max(const struct sl_schedule *schedule);

/* Reads the text form. An error reads name:line: what; *schedule is closed after one. */
int sl_schedule_parse(FILE *in, const char *name, struct sl_schedule *schedule, struct sl_error *error);
int sl_schedule_read(const char *path, struct sl_schedule *schedule, struct sl_error *error);

/* Writes the text form; SL_ERR_IO when `out` does not take it. */
int sl_schedule_write(const struct sl_schedule *schedule, FILE *out);

/* The parts that one step falls into. */
struct sl_step_parts {
	uint32_t parts;	  /* connected components; 1: connected */
	uint32_t largest; /* learners in the largest one */
};
int sl_schedule_parts(const struct sl_schedule *schedule, uint32_t step, struct sl_step_parts *parts);

/* Called for every step that is not connected. */
typedef void (*sl_schedule_warn)(void *context, uint32_t step, const struct sl_step_parts *parts);

/* Whether a round can commit at all: in at least one step `quorum` learners or more hang together.
 * SL_ERR_INVALID otherwise. warn may be NULL; it is called only if the schedule is good. */
int sl_schedule_check(const struct sl_schedule *schedule, uint32_t quorum, sl_schedule_warn warn,
		      void *context, struct sl_error *error);
