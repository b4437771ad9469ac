/* A pool runs each part of a job once, by any of its workers, and ends no job early. A helper that cannot be
 * started is left out. */
#include <stdatomic.h>
#include <string.h>

#include "daemon/runtime/pool.h"
#include "test/lib/test.h"

#define PARTS 1000u

static uint32_t startable; /* threads */

int __real_uv_thread_create(uv_thread_t *thread, uv_thread_cb entry, void *argument);
int __wrap_uv_thread_create(uv_thread_t *thread, uv_thread_cb entry, void *argument);

int __wrap_uv_thread_create(uv_thread_t *thread, uv_thread_cb entry, void *argument)
{
	if (startable == 0)
		return UV_EAGAIN;
	startable--;
	return __real_uv_thread_create(thread, entry, argument);
}

struct job {
	uint32_t workers;
	atomic_uint under_way[SL_WORKERS_MAX];
	uint8_t ran[PARTS];
};

static void part(void *context, uint32_t index, uint32_t worker)
{
	struct job *job = context;
	assert_true(worker < job->workers);
	assert_int_equal(atomic_fetch_add(&job->under_way[worker], 1), 0); /* its room is its own */
	job->ran[index]++;
	atomic_fetch_sub(&job->under_way[worker], 1);
}

/* Run jobs of 1 to PARTS parts. What a part writes is there when the job has ended: no lock protects it. */
static void run_jobs(struct sl_pool *pool)
{
	for (uint32_t parts = 1; parts <= PARTS; parts += 1 + parts / 8) {
		struct job job = {.workers = pool->team.workers};
		pool->team.run(&pool->team, parts, part, &job);
		for (uint32_t k = 0; k < PARTS; k++)
			assert_int_equal(job.ran[k], k < parts);
	}
}

TEST(each_part_once)
{
	static const uint32_t workers[] = {1, 2, 3, 8, SL_WORKERS_MAX};
	for (size_t i = 0; i < sizeof workers / sizeof *workers; i++) {
		struct sl_pool pool;
		startable = SL_WORKERS_MAX;
		assert_int_equal(sl_pool_open(&pool, workers[i]), 0);
		assert_int_equal(pool.team.workers, workers[i]);
		run_jobs(&pool);
		uv_sleep(1); /* helpers sleep */
		run_jobs(&pool);
		sl_pool_close(&pool);
	}
}

/* A helper is in the last part when the caller has none left. */
static void last_part(void *context, uint32_t index, uint32_t worker)
{
	struct job *job = context;
	while (worker == 0 && atomic_load(&job->under_way[1]) == 0)
		;
	atomic_fetch_add(&job->under_way[worker], 1);
	uv_sleep(worker == 0 ? 0 : 20);
	job->ran[index]++;
}

TEST(the_last_part_is_waited_for)
{
	struct sl_pool pool;
	startable = 1;
	assert_int_equal(sl_pool_open(&pool, 2), 0);
	for (uint32_t k = 0; k < 5; k++) {
		struct job job = {.workers = 2};
		pool.team.run(&pool.team, 2, last_part, &job);
		assert_true(job.ran[0] == 1 && job.ran[1] == 1);
	}
	sl_pool_close(&pool);
}

TEST(fewer_than_wanted)
{
	for (uint32_t more = 0; more < 3; more++) {
		struct sl_pool pool;
		startable = more;
		assert_int_equal(sl_pool_open(&pool, 8), UV_EAGAIN);
		assert_int_equal(pool.team.workers, 1 + more);
		run_jobs(&pool);
		sl_pool_close(&pool);
	}
}

TEST(never_opened)
{
	struct sl_pool pool = {.closing = false};
	sl_pool_close(&pool);
}
