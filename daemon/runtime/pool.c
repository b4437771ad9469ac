#include "daemon/runtime/pool.h"

#include <stdio.h>

#define LOOK_NS 50000u /* for what comes soon; to wake a thread takes as long */
#define WAIT_NS 1000000000u

/* Return the first part of the range of `worker`. */
static uint32_t range_of(const struct sl_pool *pool, uint32_t worker)
{
	return (uint32_t)((uint64_t)pool->parts * worker / pool->team.workers);
}

/* Take the parts of the own range, then those that are left of the others. */
static void take_parts(struct sl_pool *pool, uint32_t worker)
{
	for (uint32_t i = 0, w = worker; i < pool->team.workers; i++, w = (w + 1) % pool->team.workers)
		for (uint32_t k, end = range_of(pool, w + 1);
		     (k = atomic_fetch_add(&pool->next[w], 1)) < end;)
			pool->part(pool->context, k, worker);
}

/* ---- helpers ---- */

/* Work on the job under way, if there is one. Return its number. */
static uint64_t join_job(struct sl_pool *pool, uint32_t worker)
{
	atomic_fetch_add(&pool->inside, 1);
	uint64_t job = atomic_load(&pool->job);
	if (job != 0)
		take_parts(pool, worker);
	if (atomic_fetch_sub(&pool->inside, 1) == 1 && atomic_load(&pool->waits)) {
		uv_mutex_lock(&pool->mutex);
		uv_cond_signal(&pool->idle);
		uv_mutex_unlock(&pool->mutex);
	}
	return job;
}

static bool is_new(struct sl_pool *pool, uint64_t seen)
{
	uint64_t job = atomic_load(&pool->job);
	return job != 0 && job != seen;
}

/* Wait for a job after the one that was seen last. Return false when the pool closes. */
static bool await_job(struct sl_pool *pool, uint64_t seen)
{
	uint64_t until = uv_hrtime() + LOOK_NS;
	while (!is_new(pool, seen) && uv_hrtime() < until)
		;
	if (is_new(pool, seen))
		return true;
	uv_mutex_lock(&pool->mutex);
	atomic_fetch_add(&pool->asleep, 1);
	while (!is_new(pool, seen) && !pool->closing)
		uv_cond_timedwait(&pool->wake, &pool->mutex, WAIT_NS); /* see worker.h */
	atomic_fetch_sub(&pool->asleep, 1);
	bool goes_on = !pool->closing;
	uv_mutex_unlock(&pool->mutex);
	return goes_on;
}

static void help(void *argument)
{
	struct sl_pool *pool = argument;
	uint32_t worker = atomic_fetch_add(&pool->named, 1) + 1;
	uint64_t seen = 0;
	while (await_job(pool, seen)) {
		uint64_t job = join_job(pool, worker);
		seen = job != 0 ? job : seen;
	}
}

/* ---- the caller ---- */

static void wake_helpers(struct sl_pool *pool)
{
	if (atomic_load(&pool->asleep) == 0)
		return;
	uv_mutex_lock(&pool->mutex);
	for (uint32_t k = 1; k < pool->parts && k < pool->team.workers; k++)
		uv_cond_signal(&pool->wake);
	uv_mutex_unlock(&pool->mutex);
}

/* Wait until no helper works on the job, which has ended. */
static void await_helpers(struct sl_pool *pool)
{
	uint64_t until = uv_hrtime() + LOOK_NS;
	while (atomic_load(&pool->inside) > 0 && uv_hrtime() < until)
		;
	if (atomic_load(&pool->inside) == 0)
		return;
	uv_mutex_lock(&pool->mutex);
	atomic_store(&pool->waits, true);
	while (atomic_load(&pool->inside) > 0)
		uv_cond_wait(&pool->idle, &pool->mutex);
	atomic_store(&pool->waits, false);
	uv_mutex_unlock(&pool->mutex);
}

static void run(struct sl_team *team, uint32_t parts, sl_team_part part, void *context)
{
	struct sl_pool *pool = (struct sl_pool *)team;
	pool->part = part;
	pool->context = context;
	pool->parts = parts;
	for (uint32_t w = 0; w < team->workers; w++)
		atomic_store(&pool->next[w], range_of(pool, w));
	atomic_store(&pool->job, ++pool->jobs);
	wake_helpers(pool);
	take_parts(pool, 0);
	atomic_store(&pool->job, 0);
	await_helpers(pool);
}

/* ---- how many ---- */

/* Return the processors that the quota of the container stands for, rounded up: "MICROSECONDS PERIOD" or
 * "max PERIOD". */
static uint32_t quota(void)
{
	unsigned long long most, period;
	FILE *in = fopen("/sys/fs/cgroup/cpu.max", "re");
	bool has = in != NULL && fscanf(in, "%llu %llu", &most, &period) == 2 && period > 0;
	if (in != NULL)
		fclose(in);
	return has && most / period < SL_WORKERS_MAX ? (uint32_t)((most + period - 1) / period)
						     : SL_WORKERS_MAX;
}

uint32_t sl_pool_processors(void)
{
	uint32_t processors = uv_available_parallelism(), most = quota();
	return processors < most ? processors : most;
}

int sl_pool_open(struct sl_pool *pool, uint32_t workers)
{
	*pool = (struct sl_pool){.team = {.workers = 1, .run = run}};
	int rc = uv_mutex_init(&pool->mutex);
	if (rc == 0)
		rc = uv_cond_init(&pool->wake);
	if (rc == 0)
		rc = uv_cond_init(&pool->idle);
	while (rc == 0 && pool->team.workers < workers) {
		rc = uv_thread_create(&pool->threads[pool->team.workers], help, pool);
		pool->team.workers += rc == 0;
	}
	return rc;
}

void sl_pool_close(struct sl_pool *pool)
{
	if (pool->team.workers <= 1)
		return;
	uv_mutex_lock(&pool->mutex);
	pool->closing = true;
	uv_cond_broadcast(&pool->wake);
	uv_mutex_unlock(&pool->mutex);
	for (uint32_t k = 1; k < pool->team.workers; k++)
		uv_thread_join(&pool->threads[k]);
	uv_mutex_destroy(&pool->mutex);
	uv_cond_destroy(&pool->wake);
	uv_cond_destroy(&pool->idle);
}
