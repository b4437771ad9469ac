/* Values that only a simulation can see: the sum of the secret encodings, and states during mixing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/runner_internal.h"

/* --- the plain sum --- */

static struct swarm_sum *find_sum(const struct swarm *swarm, const uint8_t *h)
{
	struct swarm_sum *sum = swarm->sums;
	while (sum != NULL && memcmp(sum->h, h, SL_HASH_BYTES) != 0)
		sum = sum->next;
	return sum;
}

void swarm_sum_add(struct swarm *swarm, uint32_t i)
{
	const struct swarm_learner *l = &swarm->learners[i];
	const struct sl_view *view = l->view;
	pthread_mutex_lock(&swarm->lock);
	struct swarm_sum *sum = find_sum(swarm, view->h);
	if (sum == NULL) {
		sum = calloc(1, sizeof *sum + view->elements * sizeof *sum->z);
		if (sum == NULL)
			abort();
		memcpy(sum->h, view->h, SL_HASH_BYTES);
		sum->t = view->t;
		sum->next = swarm->sums;
		swarm->sums = sum;
	}
	sum->count++;
	for (uint64_t e = 0; e < view->elements; e++)
		sum->z[e] = sl_add(&view->field, sum->z[e], l->vault.x[e]);
	pthread_mutex_unlock(&swarm->lock);
}

bool swarm_sum_check(struct swarm *swarm, uint32_t i)
{
	const struct swarm_learner *l = &swarm->learners[i];
	pthread_mutex_lock(&swarm->lock);
	const struct swarm_sum *sum = find_sum(swarm, l->view->h);
	pthread_mutex_unlock(&swarm->lock); /* it is complete */
	return sum != NULL && sum->count == l->view->n && memcmp(sum->z, l->vault.s, l->view->elements * sizeof *sum->z) == 0;
}

void swarm_sums_forget(struct swarm *swarm, sl_round t)
{
	struct swarm_sum **p = &swarm->sums;
	while (*p != NULL) {
		struct swarm_sum *sum = *p;
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
static void sample(struct swarm *swarm, uint32_t i, uint64_t k, size_t low, size_t high)
{
	const struct swarm_options *o = &swarm->options;
	const struct swarm_learner *l = &swarm->learners[i];
	uint64_t raw[SWARM_COORDINATES_MAX];
	uint32_t first = 0, count = 0;
	while (first < o->coordinate_count && o->coordinates[first] < low)
		first++;
	uint32_t shift = k == 0 && l->view->engine == SL_ENGINE_METROPOLIS ? l->view->fraction : 0; /* the first MIX does it */
	for (; first + count < o->coordinate_count && o->coordinates[first + count] < high; count++)
		raw[count] = l->vault.s[o->coordinates[first + count]] << shift;
	struct swarm_sample sample = {i, k, l->view, o->coordinates + first, count, raw};
	if (count == 0)
		return;
	pthread_mutex_lock(&swarm->lock);
	o->sampled(o->context, &sample);
	pthread_mutex_unlock(&swarm->lock);
}

void swarm_look(struct swarm *swarm, uint32_t i, uint32_t chunk, uint64_t k)
{
	size_t low = (size_t)chunk * SL_CHUNK_ELEMENTS;
	if (swarm->options.sampled != NULL)
		sample(swarm, i, k, low, low + SL_CHUNK_ELEMENTS);
}

void swarm_look_closing(struct swarm *swarm, uint32_t i)
{
	const struct sl_view *view = swarm->learners[i].view;
	if (swarm->options.sampled != NULL)
		sample(swarm, i, view->steps, 0, view->elements);
}

double swarm_estimate(const struct swarm_sample *sample, uint32_t c)
{
	const struct sl_view *view = sample->view;
	double p = (double)view->field.p, sum = ldexp((double)(int64_t)sample->raw[c], -(int)view->fraction) * view->n;
	double scale = view->encoding.kind == SL_ENCODING_WEIGHTED ? view->n : 1;
	for (uint32_t d = 0; d < view->encoding.sigma; d++)
		scale *= 10;
	sum = fmod(sum, p);
	sum = sum > p / 2 ? sum - p : sum < -p / 2 ? sum + p : sum;
	return sum / scale;
}
