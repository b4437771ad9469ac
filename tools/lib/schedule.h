/* schedule.h - a topology schedule: which learners are in range of each other, step by step.
 *
 * The text form, one step a line ('#' starts a comment):
 *
 *   learners 4
 *   step 1-2 2-3 3-4
 *   step                    (an empty step: no learner is in range of another)
 *
 * A file names learners by id 1..N; in memory they are vertices 0..N-1, as in graph.h. After the last step,
 * playback starts again at the first. A schedule owns its arrays.
 */
#pragma once

#include <stdio.h>

#include "common/graph/graph.h"

struct sl_schedule {
	uint32_t learners;
	uint32_t steps;
	size_t *start;	       /* steps+1; the edges of step s are edges[start[s]] .. edges[start[s+1]-1] */
	struct sl_edge *edges; /* of all steps; within a step sorted, distinct, a < b */
	size_t edge_room, step_room;
};

void sl_schedule_init(struct sl_schedule *schedule, uint32_t learners);
void sl_schedule_close(struct sl_schedule *schedule);

/* Append a step of edges in any order and direction; repeated edges count once. Vertices must be below
 * `learners`. SL_ERR_NOMEM. */
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

/* Read the text form. Errors give name and line; *schedule is closed after an error. */
int sl_schedule_parse(FILE *in, const char *name, struct sl_schedule *schedule, struct sl_error *error);
int sl_schedule_read(const char *path, struct sl_schedule *schedule, struct sl_error *error);

/* Write the text form. The caller looks for errors of the stream. */
void sl_schedule_write(const struct sl_schedule *schedule, FILE *out);

/* The connected parts of a step. */
struct sl_step_parts {
	uint32_t parts;	  /* their number; 1: connected */
	uint32_t largest; /* learners in the largest */
};
int sl_schedule_parts(const struct sl_schedule *schedule, uint32_t step, struct sl_step_parts *parts);

/* A callback for every step that is not connected. */
typedef void (*sl_schedule_warn)(void *context, uint32_t step, const struct sl_step_parts *parts);

/* Check that a round can commit: in at least one step, `quorum` learners are connected. SL_ERR_INVALID
 * otherwise. `warn` may be NULL; it is called only if the check passes. */
int sl_schedule_check(const struct sl_schedule *schedule, uint32_t quorum, sl_schedule_warn warn,
		      void *context, struct sl_error *error);
