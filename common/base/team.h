/* team.h - workers that share the parts of one job. The shell owns them; without a team, all parts run on the
 * caller, in order.
 */
#pragma once

#include "common/base/types.h"

#define SL_WORKERS_MAX 64u

/* Run part `index` of a job; `worker` is below the number of workers. */
typedef void (*sl_team_part)(void *context, uint32_t index, uint32_t worker);

struct sl_team {
	uint32_t workers; /* 1 .. SL_WORKERS_MAX, the caller among them */
	/* Call `part` once for each index below `parts`, in any order, and return when all calls have ended.
	 * Calls at the same time have different workers. */
	void (*run)(struct sl_team *team, uint32_t parts, sl_team_part part, void *context);
};
