/* A job whose attempt is over is left out, or ends early; what changes the model runs to its end. */
#include "test/lib/test.h"

#include <sodium.h>
#include <stdlib.h>

#include "daemon/learner/daemon.h"
#include "daemon/learner/tasks.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

static struct sl_daemon *daemon_;
static uv_sem_t begun, go_on;
static uint32_t ran;
static bool ends[SL_JOB_KINDS]; /* the job was told that its attempt is over */

static enum sl_wait waits(enum sl_wait wait)
{
	uint64_t set[1];
	daemon_->observe.of.core = (void *)&wait;
	return sl_observe_awaits(&daemon_->observe, set);
}

enum sl_wait __wrap_sl_core_awaits(const struct sl_core *core, uint64_t *set)
{
	(void)set;
	return *(const enum sl_wait *)(const void *)core;
}

void __wrap_sl_job_run(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result)
{
	(void)result;
	ran++;
	uv_sem_post(&begun);
	uv_sem_wait(&go_on);
	ends[job->kind] = sl_workspace_over(workspace);
}

static void add(enum sl_job_kind kind)
{
	sl_tasks_compute(daemon_, &(struct sl_job){.kind = kind, .epoch = 7});
}

/* Return the results that the core is given, all of attempt 7. */
static uint32_t results(void)
{
	uint32_t count = 0;
	for (struct sl_queued_event *e = daemon_->event_queue.first; e != NULL; e = e->next, count++) {
		assert_int_equal(e->event.kind, SL_EVENT_COMPUTED);
		assert_int_equal(e->result.epoch, 7);
	}
	return count;
}

static int setup(void **state)
{
	static const struct sl_settings settings = {.state = "no such folder"};
	(void)state;
	assert_true(sodium_init() >= 0);
	daemon_ = calloc(1, sizeof *daemon_);
	daemon_->settings = &settings;
	ran = 0;
	memset(ends, 0, sizeof ends);
	uv_sem_init(&begun, 0);
	uv_sem_init(&go_on, 0);
	sl_event_queue_init(&daemon_->event_queue);
	uv_loop_init(&daemon_->loop);
	return sl_worker_open(&daemon_->compute, &daemon_->loop);
}

static void let_end(void)
{
	for (int jobs = 0; jobs < 4; jobs++)
		uv_sem_post(&go_on);
	sl_worker_close(&daemon_->compute);
	uv_run(&daemon_->loop, UV_RUN_DEFAULT);
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(uv_loop_close(&daemon_->loop), 0);
	sl_event_queue_close(&daemon_->event_queue);
	uv_sem_destroy(&begun);
	uv_sem_destroy(&go_on);
	free(daemon_);
	return 0;
}

/* The first job runs when the attempt ends, the second waits; the third is of the next attempt. */
TEST_WITH(jobs_of_an_attempt_that_is_over_end, setup, teardown)
{
	add(SL_JOB_CLOSE);
	uv_sem_wait(&begun);
	add(SL_JOB_CHECKSUM);
	sl_tasks_wipe(daemon_);
	add(SL_JOB_SHARE);
	let_end();
	assert_true(ends[SL_JOB_CLOSE]);
	assert_false(ends[SL_JOB_SHARE]);
	assert_int_equal(ran, 2);
	assert_int_equal(results(), 3);
}

TEST_WITH(jobs_that_change_the_model_do_not_end, setup, teardown)
{
	add(SL_JOB_CHECKSUM);
	uv_sem_wait(&begun);
	add(SL_JOB_ABSORB);
	add(SL_JOB_ADOPT);
	add(SL_JOB_ACCEPT);
	sl_tasks_wipe(daemon_);
	let_end();
	assert_true(ends[SL_JOB_CHECKSUM]);
	assert_false(ends[SL_JOB_ABSORB] || ends[SL_JOB_ADOPT] || ends[SL_JOB_ACCEPT]);
	assert_int_equal(ran, 4);
	assert_int_equal(results(), 4);
}

/* In READY the core waits for the record PREPARED, of which COMMITMENT is a part. */
TEST_WITH(a_job_is_no_wait_for_the_disk, setup, teardown)
{
	assert_int_equal(waits(SL_WAIT_DISK), SL_WAIT_DISK);
	add(SL_JOB_CHECKSUM);
	uv_sem_wait(&begun);
	assert_int_equal(waits(SL_WAIT_DISK), SL_WAIT_ARITHMETIC);
	assert_int_equal(waits(SL_WAIT_READYS), SL_WAIT_READYS);
	let_end();
	assert_int_equal(waits(SL_WAIT_DISK), SL_WAIT_DISK);
}
