/* noise.c - a trainer without data: random models within the clipping range. It takes no time, so that
 * measurements show the cost of a round without training. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/random.h"
#include "common/model/trainer.h"

#define RANGE 16.0 /* with values: update and no clipping range */

struct noise {
	struct sl_trainer base; /* first member: converted by pointer */
	struct sl_tensor tensor;
	size_t size;
	uint32_t rank;
	uint64_t seed;
	float bound; /* largest float within the clipping range */
};

static const struct noise *viewed(const struct sl_trainer *trainer)
{
	return (const struct noise *)trainer;
}

static size_t parameters(const struct sl_trainer *trainer)
{
	return viewed(trainer)->size;
}

static void draw(const struct noise *t, uint64_t random, float *values)
{
	for (size_t i = 0; i < t->size; i++)
		values[i] = (float)sl_random_in(&random, -(double)t->bound, (double)t->bound);
}

/* A model like that of a network before training: the same at all learners, and not zeros. */
static void initial(const struct sl_trainer *trainer, void *model)
{
	const struct noise *t = viewed(trainer);
	draw(t, sl_random_seed(t->seed, UINT32_MAX, 0), model);
}

static int train(struct sl_trainer *trainer, const struct sl_training_request *request, void *model,
		 struct sl_training *result, struct sl_error *error)
{
	const struct noise *t = viewed(trainer);
	(void)error;
	draw(t, sl_random_seed(t->seed, t->rank, request->draw), model);
	if (request->progress != NULL)
		atomic_store_explicit(request->progress, 1000, memory_order_relaxed);
	*result = (struct sl_training){.samples = 1};
	return SL_OK;
}

static void noise_close(struct sl_trainer *trainer)
{
	free(trainer);
}

static const struct sl_trainer_ops ops = {
	.parameters = parameters, .initial = initial, .train = train, .close = noise_close};

int sl_noise_open(const struct sl_settings *s, uint32_t rank, struct sl_trainer **trainer,
		  struct sl_error *error)
{
	struct noise *t = calloc(1, sizeof *t);
	*trainer = NULL;
	if (t == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "trainer: out of memory");
	t->base.ops = &ops;
	t->size = s->noise_parameters;
	t->tensor =
		(struct sl_tensor){.name = "model", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {t->size}};
	t->base.tensors = (struct sl_tensors){.items = &t->tensor, .count = 1};
	t->rank = rank;
	t->seed = s->seed;
	double range = s->clipping_range != SL_CLIPPING_RANGE_AUTO ? s->clipping_range / 2 : RANGE;
	if (s->values == SL_VALUES_MODEL)
		range = s->clipping_range;
	t->bound = (float)range; /* an update of two models is at most twice as large */
	if ((double)t->bound > range)
		t->bound = nextafterf(t->bound, 0);
	*trainer = &t->base;
	return SL_OK;
}
