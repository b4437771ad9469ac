/* weak.h - search for the smallest coalitions that learn more than the mean in a step. */
#pragma once

#include "tools/lib/schedule.h"

#define SL_WEAK_MOST 4u		      /* learners in a coalition, at most */
#define SL_WEAK_POINTS_MOST 2000000u  /* coalitions times the steps in which they are weak */
#define SL_WEAK_WORK_MOST 10000000000 /* edges visited: about ten seconds */

/* A coalition in a step; larger coalitions that contain it are left out. */
struct sl_weak_point {
	uint32_t size;
	uint32_t member[SL_WEAK_MOST]; /* ascending */
	uint32_t step;
};

struct sl_weak {
	struct sl_weak_point *point; /* by size, members, step */
	size_t count, room;
	uint32_t rounds; /* steps with a quorum */
};

/* Find the weak coalitions of 1..c learners, c <= SL_WEAK_MOST. SL_ERR_RANGE: too many to try. */
int sl_weak_find(struct sl_weak *weak, const struct sl_schedule *schedule, uint32_t quorum, uint32_t c,
		 struct sl_error *error);
void sl_weak_close(struct sl_weak *weak);

/* Return the index at which the points of the next coalition begin. */
size_t sl_weak_next(const struct sl_weak *weak, size_t at);
