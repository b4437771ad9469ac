/* A worker's tasks run in the order in which they were added, and each comes back to the loop once, in that
 * order. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/runtime/worker.h"
#include "test/lib/test.h"

#define TASKS 20000u

struct counted {
	struct sl_task base;
	uint32_t ran, back; /* its place among those that ran, and among those that came back */
};

static uv_loop_t loop;
static struct sl_worker worker;
static struct counted tasks[TASKS];
static uint32_t added, back;
static atomic_uint ran;

static void run(struct sl_task *base)
{
	((struct counted *)base)->ran = atomic_fetch_add(&ran, 1);
}

static void done(struct sl_task *base)
{
	((struct counted *)base)->back = back++;
	for (int more = 0; more < 2 && added < TASKS; more++) /* while others come back */
		sl_worker_add(&worker, &tasks[added++].base);
}

static int setup(void **state)
{
	(void)state;
	added = back = 0;
	ran = 0;
	for (uint32_t i = 0; i < TASKS; i++)
		tasks[i] = (struct counted){.base = {.run = run, .done = done}};
	assert_int_equal(uv_loop_init(&loop), 0);
	assert_int_equal(sl_worker_open(&worker, &loop), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	uv_run(&loop, UV_RUN_DEFAULT);
	return uv_loop_close(&loop);
}

static void expect_order(void)
{
	assert_int_equal(back, added);
	for (uint32_t i = 0; i < added; i++) {
		assert_int_equal(tasks[i].ran, i);
		assert_int_equal(tasks[i].back, i);
	}
}

/* Nothing else wakes the loop: a task that is not rung for hangs here. */
TEST_WITH(each_comes_back, setup, teardown)
{
	for (int i = 0; i < 3; i++)
		sl_worker_add(&worker, &tasks[added++].base);
	while (back < TASKS)
		uv_run(&loop, UV_RUN_ONCE);
	sl_worker_close(&worker);
	expect_order();
}

TEST_WITH(closing_gives_back_the_rest, setup, teardown)
{
	while (added < 1000)
		sl_worker_add(&worker, &tasks[added++].base);
	added = TASKS; /* `done` adds none */
	sl_worker_close(&worker);
	added = 1000;
	expect_order();
}

/* Several threads: each task runs once and comes back once, in some order. */
TEST_WITH(several_threads, setup, teardown)
{
	bool seen[TASKS] = {false};
	assert_int_equal(sl_worker_grow(&worker, 3), 0);
	for (int i = 0; i < 3; i++)
		sl_worker_add(&worker, &tasks[added++].base);
	while (back < TASKS)
		uv_run(&loop, UV_RUN_ONCE);
	sl_worker_close(&worker);
	assert_int_equal(atomic_load(&ran), TASKS);
	for (uint32_t i = 0; i < TASKS; i++) {
		assert_true(tasks[i].ran < TASKS && !seen[tasks[i].ran]);
		seen[tasks[i].ran] = true;
	}
}
