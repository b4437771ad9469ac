/* worker.h - one thread that runs tasks in order and returns each to the loop when it is done.
 *
 * The daemon has two or three workers: one computes, one trains, and for large models one runs the TLS
 * offload. The last may have several threads, since its tasks are each of another link. The loop thread adds
 * tasks and receives their `done`; it never waits.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "common/base/team.h"

struct sl_task {
	struct sl_task *next;
	void (*run)(struct sl_task *);	/* on the worker thread */
	void (*done)(struct sl_task *); /* on the loop thread; owns the task from here on */
};

struct sl_worker {
	uv_thread_t threads[SL_WORKERS_MAX];
	uint32_t count;
	uv_mutex_t mutex;
	uv_sem_t wake;	/* a post for each task and, at the end, each thread. Not a condition: with several
			   waiters glibc loses a  signal (its bug 25847) */
	uv_poll_t back; /* of `bell`, an eventfd. Not uv_async: its receiver spins while the sender is off its
			   processor */
	int bell;
	struct sl_task *todo, **todo_end;
	struct sl_task *finished, **finished_end;
	atomic_uint_fast64_t since_ms; /* start of the task under way; 0: none */
};

/* Start the thread; return a libuv error code. */
int sl_worker_open(struct sl_worker *worker, uv_loop_t *loop);
/* Start threads until there are `threads`, so that as many tasks run at a time, and their order is open.
 * Return a libuv error code if one cannot be started: the others work. */
int sl_worker_grow(struct sl_worker *worker, uint32_t threads);
void sl_worker_add(struct sl_worker *worker, struct sl_task *task);
/* Have the loop call `done` of a task that need not run; from any thread. */
void sl_worker_give_back(struct sl_worker *worker, struct sl_task *task);
/* Return how long the task of a single thread has run, in ms; 0: none is. */
uint64_t sl_worker_busy_ms(const struct sl_worker *worker);
/* Run the queued tasks, join the threads, call the remaining `done` and close the handle. The loop must run
 * once more. */
void sl_worker_close(struct sl_worker *worker);
