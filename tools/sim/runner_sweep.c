/* Workers take the turns of a sweep, each the next free one; the result does not depend on which worker took a turn.
 *
 * The caller's own thread takes turns too, and waits at the end only for workers that have begun: a worker that wakes up late
 * costs nothing. */
#include <stdlib.h>
#include <time.h>

#include "tools/sim/runner_internal.h"

void swarm_tick(struct swarm_worker *w, double *seconds)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	double clock = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
	*seconds += clock - w->clock;
	w->clock = clock;
}

void swarm_fail(struct swarm *swarm, uint32_t i, const struct sl_error *error)
{
	pthread_mutex_lock(&swarm->lock);
	if (swarm->error.code == SL_OK || i < swarm->error_of) {
		swarm->error = *error;
		swarm->error_of = i;
	}
	pthread_mutex_unlock(&swarm->lock);
}

static void take_turns(struct swarm_worker *w)
{
	struct swarm *swarm = w->swarm;
	swarm_tick(w, &w->elsewhere_s);
	for (;;) {
		uint32_t k = atomic_fetch_add_explicit(&swarm->next, 1, memory_order_relaxed);
		if (k >= swarm->todo_count)
			return;
		swarm_turn(w, swarm->todo[k]);
	}
}

static void *run(void *context)
{
	struct swarm_worker *w = context;
	struct swarm *swarm = w->swarm;
	pthread_mutex_lock(&swarm->gate);
	while (!swarm->closing) {
		if (!swarm->sweeping || atomic_load_explicit(&swarm->next, memory_order_relaxed) >= swarm->todo_count) {
			pthread_cond_wait(&swarm->open, &swarm->gate);
			continue;
		}
		swarm->busy++;
		pthread_mutex_unlock(&swarm->gate);
		take_turns(w);
		pthread_mutex_lock(&swarm->gate);
		if (--swarm->busy == 0)
			pthread_cond_signal(&swarm->done);
	}
	pthread_mutex_unlock(&swarm->gate);
	return NULL;
}

static void open_gate(struct swarm *swarm)
{
	pthread_mutex_lock(&swarm->gate);
	swarm->sweeping = true;
	pthread_cond_broadcast(&swarm->open);
	pthread_mutex_unlock(&swarm->gate);
}

static void shut_gate(struct swarm *swarm)
{
	pthread_mutex_lock(&swarm->gate);
	swarm->sweeping = false;
	while (swarm->busy > 0)
		pthread_cond_wait(&swarm->done, &swarm->gate);
	pthread_mutex_unlock(&swarm->gate);
}

void swarm_sweep(struct swarm *swarm)
{
	swarm->todo_count = 0;
	for (uint32_t i = 0; i < swarm->n; i++)
		if (swarm_has_to_do(&swarm->learners[i]))
			swarm->todo[swarm->todo_count++] = i;
	atomic_store_explicit(&swarm->next, 0, memory_order_relaxed);
	if (swarm->worker_count > 1)
		open_gate(swarm);
	take_turns(swarm->workers[0]);
	if (swarm->worker_count > 1)
		shut_gate(swarm);
}

/* --- their life --- */

static uint32_t wanted(const struct swarm *swarm)
{
	uint32_t most = swarm->n < SWARM_WORKERS_MAX ? swarm->n : SWARM_WORKERS_MAX;
	uint32_t count = swarm->options.workers > 1 ? swarm->options.workers : 1;
	return count < most ? count : most;
}

int swarm_workers_open(struct swarm *swarm)
{
	pthread_mutex_init(&swarm->gate, NULL);
	pthread_mutex_init(&swarm->lock, NULL);
	pthread_cond_init(&swarm->open, NULL);
	pthread_cond_init(&swarm->done, NULL);
	for (uint32_t k = 0; k < wanted(swarm); k++) {
		struct swarm_worker *w = calloc(1, sizeof *w);
		if (w == NULL)
			return SL_ERR_NOMEM;
		w->swarm = swarm;
		if (k > 0 && pthread_create(&w->thread, NULL, run, w) != 0) {
			free(w);
			return SL_ERR_NOMEM;
		}
		swarm->workers[swarm->worker_count++] = w;
	}
	return SL_OK;
}

void swarm_workers_close(struct swarm *swarm)
{
	pthread_mutex_lock(&swarm->gate);
	swarm->closing = true;
	pthread_cond_broadcast(&swarm->open);
	pthread_mutex_unlock(&swarm->gate);
	for (uint32_t k = 0; k < swarm->worker_count; k++) {
		struct swarm_worker *w = swarm->workers[k];
		if (k > 0)
			pthread_join(w->thread, NULL);
		while (w->spare != NULL) {
			struct sl_buffer *buffer = w->spare;
			w->spare = buffer->next;
			free(buffer);
		}
		free(w);
	}
}
