/* pool.h - threads that help the compute worker: a team (team.h) of its caller and `workers` - 1 helpers.
 *
 * Each worker takes the parts of a range of its own, one by one, then those that are left of the others:
 * parts beside each other have memory beside each other. A helper that wakes up late finds none left, and is
 * not waited for. Jobs come close together: a helper that has none looks for the next one for a short time
 * before it sleeps, and so does the caller for the end of the last part.
 *
 *     caller    job = k .. takes parts .. job = 0 .. waits until inside = 0
 *     helper    inside + 1 .. job = k? takes parts .. inside - 1
 *
 * Each side writes one of the two before it reads the other: so a helper has left, or sees that the job has
 * ended, when the caller changes its fields.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <uv.h>

#include "common/base/team.h"

struct sl_pool {
	struct sl_team team; /* the first field: what the team is given is the pool */
	uv_thread_t threads[SL_WORKERS_MAX];
	sl_team_part part;
	void *context;
	uint32_t parts;
	atomic_uint next[SL_WORKERS_MAX]; /* part to take, by range */
	atomic_uint_fast64_t job;	  /* number of the one under way; 0: none */
	uint64_t jobs;			  /* begun since the start; caller */
	atomic_uint inside;		  /* helpers that may read the fields of the job */
	atomic_uint named;		  /* helpers that have taken their number */

	uv_mutex_t mutex; /* of those that sleep */
	uv_cond_t wake, idle;
	atomic_uint asleep; /* helpers */
	atomic_bool waits;  /* the caller */
	bool closing;
};

/* Return the processors that this process may use, at most SL_WORKERS_MAX: by its affinity, and by the quota
 * of its container (cgroup 2). */
uint32_t sl_pool_processors(void);
/* Start the helpers of `workers` workers, 1 to SL_WORKERS_MAX. Return a libuv error code if one cannot be
 * started: those before it work. */
int sl_pool_open(struct sl_pool *pool, uint32_t workers);
/* Join the helpers, between two jobs. A pool of zeros, never opened, has none. */
void sl_pool_close(struct sl_pool *pool);
