/* Workers take the turns of a sweep, each the next free one; the result does not depend on which worker took
 * a turn.
 *
 * The caller's own thread takes turns too, and waits at the end only for workers that have begun: a worker
 * that wakes up late costs nothing. */
#include <stdlib.h>
#include <time.h>

#include "tools/runner/runner_internal.h"

void sl_runner_tick(struct sl_runner_worker *w, double *seconds)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	double clock = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
	*seconds += clock - w->clock;
	w->clock = clock;
}

void sl_runner_fail(struct sl_runner *runner, uint32_t i, const struct sl_error *error)
{
	pthread_mutex_lock(&runner->lock);
	if (runner->error.code == SL_OK || i < runner->error_of) {
		runner->error = *error;
		runner->error_of = i;
	}
	pthread_mutex_unlock(&runner->lock);
}

static void take_turns(struct sl_runner_worker *w)
{
	struct sl_runner *runner = w->runner;
	sl_runner_tick(w, &w->elsewhere_s);
	for (;;) {
		uint32_t k = atomic_fetch_add_explicit(&runner->next, 1, memory_order_relaxed);
		if (k >= runner->todo_count)
			return;
		sl_runner_turn(w, runner->todo[k]);
	}
}

static void *run(void *context)
{
	struct sl_runner_worker *w = context;
	struct sl_runner *runner = w->runner;
	pthread_mutex_lock(&runner->gate);
	while (!runner->closing) {
		if (!runner->sweeping ||
		    atomic_load_explicit(&runner->next, memory_order_relaxed) >= runner->todo_count) {
			pthread_cond_wait(&runner->open, &runner->gate);
			continue;
		}
		runner->busy++;
		pthread_mutex_unlock(&runner->gate);
		take_turns(w);
		pthread_mutex_lock(&runner->gate);
		if (--runner->busy == 0)
			pthread_cond_signal(&runner->done);
	}
	pthread_mutex_unlock(&runner->gate);
	return NULL;
}

static void open_gate(struct sl_runner *runner)
{
	pthread_mutex_lock(&runner->gate);
	runner->sweeping = true;
	pthread_cond_broadcast(&runner->open);
	pthread_mutex_unlock(&runner->gate);
}

static void shut_gate(struct sl_runner *runner)
{
	pthread_mutex_lock(&runner->gate);
	runner->sweeping = false;
	while (runner->busy > 0)
		pthread_cond_wait(&runner->done, &runner->gate);
	pthread_mutex_unlock(&runner->gate);
}

void sl_runner_sweep(struct sl_runner *runner)
{
	runner->todo_count = 0;
	for (uint32_t i = 0; i < runner->n; i++)
		if (sl_runner_has_to_do(&runner->learners[i]))
			runner->todo[runner->todo_count++] = i;
	atomic_store_explicit(&runner->next, 0, memory_order_relaxed);
	if (runner->worker_count > 1)
		open_gate(runner);
	take_turns(&runner->workers[0]);
	if (runner->worker_count > 1)
		shut_gate(runner);
}

/* --- open and close --- */

int sl_runner_workers_open(struct sl_runner *runner)
{
	uint32_t asked = runner->options.workers > 1 ? runner->options.workers : 1;
	uint32_t most = runner->n < SL_RUNNER_WORKERS_MAX ? runner->n : SL_RUNNER_WORKERS_MAX;
	uint32_t count = asked < most ? asked : most;
	pthread_mutex_init(&runner->gate, NULL);
	pthread_mutex_init(&runner->lock, NULL);
	pthread_cond_init(&runner->open, NULL);
	pthread_cond_init(&runner->done, NULL);
	runner->workers = calloc(count, sizeof *runner->workers);
	if (runner->workers == NULL)
		return SL_ERR_NOMEM;
	for (uint32_t k = 0; k < count; k++) {
		struct sl_runner_worker *w = &runner->workers[k];
		w->runner = runner;
		if (k > 0 && pthread_create(&w->thread, NULL, run, w) != 0)
			return SL_ERR_NOMEM;
		runner->worker_count++;
	}
	return SL_OK;
}

void sl_runner_workers_close(struct sl_runner *runner)
{
	pthread_mutex_lock(&runner->gate);
	runner->closing = true;
	pthread_cond_broadcast(&runner->open);
	pthread_mutex_unlock(&runner->gate);
	for (uint32_t k = 1; k < runner->worker_count; k++)
		pthread_join(runner->workers[k].thread, NULL);
	free(runner->workers);
}
