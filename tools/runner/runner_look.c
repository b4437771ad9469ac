/* Values that only a simulation can see: the sum of the secret encodings, and states during mixing. */
#include <stdlib.h>
#include <string.h>

#include "common/compute/job_model.h"
#include "common/compute/state.h"
#include "tools/runner/runner_internal.h"

#define BLOCK 1024u /* elements on the stack */

/* --- the plain sum --- */

static struct sl_runner_sum *find_sum(const struct sl_runner *runner, const uint8_t *h)
{
	struct sl_runner_sum *sum = runner->sums;
	while (sum != NULL && memcmp(sum->h, h, SL_HASH_BYTES) != 0)
		sum = sum->next;
	return sum;
}

/* Add the encoding of the block that begins at element `first`. */
static void add_block(uint64_t *z, const struct sl_hosted *host, size_t first)
{
	const struct sl_view *view = host->view;
	uint64_t x[BLOCK];
	size_t left = (size_t)view->elements - first, count = left < BLOCK ? left : BLOCK;
	sl_job_model_encode(&host->workspace, view, first, count, x);
	for (size_t l = 0; l < count; l++)
		z[l] = sl_field_add(&view->field, z[l], x[l]);
}

void sl_runner_sum_add(struct sl_runner *runner, uint32_t i)
{
	const struct sl_runner_learner *l = &runner->learners[i];
	const struct sl_view *view = l->host.view;
	pthread_mutex_lock(&runner->lock);
	struct sl_runner_sum *sum = find_sum(runner, view->h);
	if (sum == NULL) {
		sum = calloc(1, sizeof *sum + view->elements * sizeof *sum->z);
		if (sum == NULL)
			abort();
		memcpy(sum->h, view->h, SL_HASH_BYTES);
		sum->t = view->t;
		sum->next = runner->sums;
		runner->sums = sum;
	}
	sum->count++;
	for (size_t at = 0; at < view->elements; at += BLOCK)
		add_block(sum->z + at, &l->host, at);
	pthread_mutex_unlock(&runner->lock);
}

bool sl_runner_sum_check(struct sl_runner *runner, uint32_t i)
{
	const struct sl_runner_learner *l = &runner->learners[i];
	pthread_mutex_lock(&runner->lock);
	const struct sl_runner_sum *sum = find_sum(runner, l->host.view->h);
	pthread_mutex_unlock(&runner->lock); /* it is complete */
	bool same = sum != NULL && sum->count == l->host.view->n;
	for (size_t at = 0; same && at < l->host.view->elements; at += BLOCK) {
		uint64_t z[BLOCK];
		size_t left = (size_t)l->host.view->elements - at, count = left < BLOCK ? left : BLOCK;
		sl_state_take(&l->host.workspace, l->host.view, at, count, z);
		same = memcmp(sum->z + at, z, count * sizeof *z) == 0;
	}
	return same;
}

void sl_runner_sums_forget(struct sl_runner *runner, sl_round t)
{
	struct sl_runner_sum **p = &runner->sums;
	while (*p != NULL) {
		struct sl_runner_sum *sum = *p;
		if (sum->t > t) {
			p = &sum->next;
			continue;
		}
		*p = sum->next;
		free(sum);
	}
}

/* --- states --- */

/* Of the coordinates in [low, high). */
static void sample(struct sl_runner *runner, uint32_t i, uint64_t k, size_t low, size_t high)
{
	const struct sl_runner_options *o = &runner->options;
	const struct sl_runner_learner *l = &runner->learners[i];
	uint64_t raw[SL_RUNNER_COORDINATES_MAX];
	uint32_t first = 0, count = 0;
	while (first < o->coordinate_count && o->coordinates[first] < low)
		first++;
	uint32_t shift = k == 0 && sl_engine_rows[l->host.view->engine].rounds
				 ? l->host.view->fraction
				 : 0; /* the first MIX does it */
	for (; first + count < o->coordinate_count && o->coordinates[first + count] < high; count++)
		raw[count] = sl_hosted_state(&l->host, k, o->coordinates[first + count]) << shift;
	struct sl_runner_sample sample = {i, k, l->host.view, o->coordinates + first, count, raw};
	if (count == 0)
		return;
	pthread_mutex_lock(&runner->lock);
	o->sampled(o->context, &sample);
	pthread_mutex_unlock(&runner->lock);
}

void sl_runner_look(struct sl_runner *runner, uint32_t i, uint32_t chunk, uint64_t k)
{
	size_t low = (size_t)chunk * SL_CHUNK_ELEMENTS;
	if (runner->options.sampled != NULL)
		sample(runner, i, k, low, low + SL_CHUNK_ELEMENTS);
}

void sl_runner_look_closing(struct sl_runner *runner, uint32_t i)
{
	const struct sl_view *view = runner->learners[i].host.view;
	if (runner->options.sampled != NULL)
		sample(runner, i, view->steps, 0, view->elements);
}
