#include "daemon/runtime/worker.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/runtime/clock.h"

static struct sl_task *take(struct sl_worker *worker)
{
	uv_sem_wait(&worker->wake);
	uv_mutex_lock(&worker->mutex);
	struct sl_task *task = worker->todo;
	if (task != NULL) {
		worker->todo = task->next;
		if (worker->todo == NULL)
			worker->todo_end = &worker->todo;
	}
	uv_mutex_unlock(&worker->mutex);
	return task;
}

/* Only the first waiting task wakes the loop, which collects all of them. */
void sl_worker_give_back(struct sl_worker *worker, struct sl_task *task)
{
	task->next = NULL;
	uv_mutex_lock(&worker->mutex);
	bool first = worker->finished == NULL;
	*worker->finished_end = task;
	worker->finished_end = &task->next;
	uv_mutex_unlock(&worker->mutex);
	int rc = first ? eventfd_write(worker->bell, 1) : 0;
	assert(rc == 0);
	(void)rc;
}

static void work(void *argument)
{
	struct sl_worker *worker = argument;
	for (struct sl_task *task = take(worker); task != NULL; task = take(worker)) {
		atomic_store(&worker->since_ms, sl_clock_ms());
		task->run(task);
		atomic_store(&worker->since_ms, 0);
		sl_worker_give_back(worker, task);
	}
}

uint64_t sl_worker_busy_ms(const struct sl_worker *worker)
{
	uint64_t since = atomic_load(&worker->since_ms), now = sl_clock_ms();
	return since != 0 && now > since ? now - since : 0;
}

static void deliver(struct sl_worker *worker)
{
	uv_mutex_lock(&worker->mutex);
	struct sl_task *task = worker->finished;
	worker->finished = NULL;
	worker->finished_end = &worker->finished;
	uv_mutex_unlock(&worker->mutex);
	while (task != NULL) {
		struct sl_task *next = task->next;
		task->done(task);
		task = next;
	}
}

static void on_back(uv_poll_t *poll, int status, int events)
{
	struct sl_worker *worker = poll->data;
	eventfd_t rings;
	(void)status;
	(void)events;
	eventfd_read(worker->bell,
		     &rings); /* first: a task that finishes from here on wakes the loop again */
	deliver(worker);
}

static int open_bell(struct sl_worker *worker, uv_loop_t *loop)
{
	worker->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (worker->bell < 0)
		return uv_translate_sys_error(errno);
	int rc = uv_poll_init(loop, &worker->back, worker->bell);
	worker->back.data = worker;
	return rc == 0 ? uv_poll_start(&worker->back, UV_READABLE, on_back) : rc;
}

int sl_worker_open(struct sl_worker *worker, uv_loop_t *loop)
{
	*worker = (struct sl_worker){.count = 0};
	worker->todo_end = &worker->todo;
	worker->finished_end = &worker->finished;
	int rc = uv_mutex_init(&worker->mutex);
	if (rc == 0)
		rc = uv_sem_init(&worker->wake, 0);
	if (rc == 0)
		rc = open_bell(worker, loop);
	if (rc == 0)
		rc = sl_worker_grow(worker, 1);
	return rc;
}

int sl_worker_grow(struct sl_worker *worker, uint32_t threads)
{
	int rc = 0;
	while (rc == 0 && worker->count < threads) {
		rc = uv_thread_create(&worker->threads[worker->count], work, worker);
		worker->count += rc == 0;
	}
	return rc;
}

void sl_worker_add(struct sl_worker *worker, struct sl_task *task)
{
	task->next = NULL;
	uv_mutex_lock(&worker->mutex);
	*worker->todo_end = task;
	worker->todo_end = &task->next;
	uv_mutex_unlock(&worker->mutex);
	uv_sem_post(&worker->wake);
}

void sl_worker_close(struct sl_worker *worker)
{
	for (uint32_t k = 0; k < worker->count; k++)
		uv_sem_post(&worker->wake);
	for (uint32_t k = 0; k < worker->count; k++)
		uv_thread_join(&worker->threads[k]);
	deliver(worker);
	uv_close((uv_handle_t *)&worker->back, NULL);
	close(worker->bell);
	uv_mutex_destroy(&worker->mutex);
	uv_sem_destroy(&worker->wake);
}
