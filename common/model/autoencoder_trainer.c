/* autoencoder_trainer.c - a trainer: an autoencoder, plain stochastic gradient descent, this learner's
 * images. */
#include "common/model/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/model/autoencoder.h"
#include "common/model/images.h"
#include "common/base/random.h"

#define EVALUATE_ROWS 50u

struct builtin {
	struct sl_trainer base; /* first member: converted by pointer */
	struct sl_tensor tensors[4];
	struct sl_dataset set;
	struct sl_autoencoder net;
	uint32_t *order; /* order of the images in an epoch */
	uint32_t hidden_units, batch, epochs, rank;
	float learning_rate;
	uint64_t seed;
};

static const struct builtin *viewed(const struct sl_trainer *trainer)
{
	return (const struct builtin *)trainer;
}

static struct builtin *owned(struct sl_trainer *trainer)
{
	return (struct builtin *)trainer;
}

static size_t parameters(const struct sl_trainer *trainer)
{
	return sl_autoencoder_parameters(viewed(trainer)->hidden_units);
}

static void initial(const struct sl_trainer *trainer, void *model)
{
	sl_autoencoder_initial(viewed(trainer)->hidden_units, viewed(trainer)->seed, model);
}

/* Shuffle `order` (Fisher-Yates). */
static void shuffle(uint32_t *order, uint32_t count, uint64_t *random)
{
	for (uint32_t i = count; i > 1; i--) {
		uint32_t j = sl_random_below(random, i), kept = order[i - 1];
		order[i - 1] = order[j];
		order[j] = kept;
	}
}

/* Take one step on the images order[first..first+count-1]. Return the sum of their losses, or 0 unless
 * `want_loss`. */
static double batch_train(struct builtin *t, float *model, uint32_t first, uint32_t count, bool want_loss)
{
	for (uint32_t r = 0; r < count; r++)
		sl_autoencoder_place(&t->net, r,
				     t->set.mine.pixels + (size_t)t->order[first + r] * SL_PIXELS);
	sl_autoencoder_forward(&t->net, model, count);
	double loss = want_loss ? sl_autoencoder_loss(&t->net, count) * count : 0;
	sl_autoencoder_backward(&t->net, model, count, -t->learning_rate, model);
	return loss;
}

/* Train one pass over the slice; in the last epoch *loss becomes the mean over the images. SL_PENDING if
 * *stop is true. */
static int epoch_train(struct builtin *t, const struct sl_training_request *request, float *model,
		       uint32_t epoch, double *loss)
{
	uint32_t images = t->set.mine.count;
	bool last = epoch + 1 == t->epochs;
	double sum = 0;
	for (uint32_t first = 0; first < images; first += t->batch) {
		if (request->stop != NULL && atomic_load_explicit(request->stop, memory_order_relaxed))
			return SL_PENDING;
		uint32_t count = images - first < t->batch ? images - first : t->batch;
		sum += batch_train(t, model, first, count, last);
		uint64_t done = (uint64_t)epoch * images + first + count;
		if (request->progress != NULL)
			atomic_store_explicit(request->progress,
					      (unsigned)(done * 1000 / ((uint64_t)t->epochs * images)),
					      memory_order_relaxed);
	}
	*loss = sum / images;
	return SL_OK;
}

static double seconds_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int train(struct sl_trainer *trainer, const struct sl_training_request *request, void *model,
		 struct sl_training *result, struct sl_error *error)
{
	struct builtin *t = owned(trainer);
	double begun = seconds_now(), loss = 0;
	uint64_t random = sl_random_seed(t->seed, t->rank, request->draw);
	/* Each training starts from the same order, so that it depends on its nonce and not on earlier
	 * trainings. */
	for (uint32_t i = 0; i < t->set.mine.count; i++)
		t->order[i] = i;
	for (uint32_t epoch = 0; epoch < t->epochs; epoch++) {
		shuffle(t->order, t->set.mine.count, &random);
		int rc = epoch_train(t, request, model, epoch, &loss);
		if (rc != SL_OK)
			return rc;
	}
	if (!isfinite(loss))
		return sl_err_set(error, SL_ERR_RANGE,
				  "training diverged: the loss is not finite at learning_rate: %g; lower it",
				  (double)t->learning_rate);
	*result = (struct sl_training){
		.loss = loss / SL_PIXELS, .samples = t->set.mine.count, .seconds = seconds_now() - begun};
	return SL_OK;
}

static int evaluate(struct sl_trainer *trainer, const void *model, double *mse, struct sl_error *error)
{
	struct builtin *t = owned(trainer);
	uint32_t images = t->set.held.count;
	double sum = 0;
	for (uint32_t first = 0; first < images; first += t->net.rows) {
		uint32_t count = images - first < t->net.rows ? images - first : t->net.rows;
		for (uint32_t r = 0; r < count; r++)
			sl_autoencoder_place(&t->net, r,
					     t->set.held.pixels + (size_t)(first + r) * SL_PIXELS);
		sl_autoencoder_forward(&t->net, model, count);
		sum += sl_autoencoder_squared_error(&t->net, count);
	}
	*mse = sum / ((double)images * SL_PIXELS);
	if (!isfinite(*mse))
		return sl_err_set(error, SL_ERR_RANGE,
				  "the held-out error of the model is not finite: training diverged; lower "
				  "learning_rate");
	return SL_OK;
}

static void trainer_close(struct sl_trainer *trainer)
{
	if (trainer == NULL)
		return;
	struct builtin *t = owned(trainer);
	sl_images_dataset_free(&t->set);
	sl_autoencoder_free(&t->net);
	free(t->order);
	free(t);
}

static const struct sl_trainer_ops ops = {.parameters = parameters,
					  .initial = initial,
					  .train = train,
					  .evaluate = evaluate,
					  .close = trainer_close};

/* Allocate the memory that depends on the number of images. */
static int memory_take(struct builtin *t, struct sl_error *error)
{
	if (t->batch >= t->set.mine.count)
		return sl_err_set(
			error, SL_ERR_RANGE,
			"batch: %u must be less than the %u images of this learner: otherwise training "
			"again would give the same model",
			t->batch, t->set.mine.count);
	t->order = calloc(t->set.mine.count, sizeof *t->order);
	uint32_t rows = t->batch > EVALUATE_ROWS ? t->batch : EVALUATE_ROWS;
	int rc = t->order == NULL ? SL_ERR_NOMEM : sl_autoencoder_init(&t->net, t->hidden_units, rows);
	if (rc == SL_ERR_NOTFOUND)
		return sl_err_set(error, rc,
				  "trainer: autoencoder needs OpenBLAS; install the package libopenblas0");
	if (rc == SL_ERR_NOMEM)
		return sl_err_set(error, rc,
				  "trainer: out of memory: OpenBLAS alone takes 256 MiB of address space; "
				  "raise its limit "
				  "(ulimit -v)");
	return rc;
}

/* Name the parts of a model (autoencoder.h). */
static void name_tensors(struct builtin *t)
{
	const struct sl_tensor tensors[] = {
		{.name = "encoder.weight",
		 .dtype = SL_FLOAT32,
		 .dimensions = 2,
		 .shape = {t->hidden_units, SL_PIXELS}},
		{.name = "encoder.bias", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {t->hidden_units}},
		{.name = "decoder.weight",
		 .dtype = SL_FLOAT32,
		 .dimensions = 2,
		 .shape = {SL_PIXELS, t->hidden_units}},
		{.name = "decoder.bias", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {SL_PIXELS}}};
	memcpy(t->tensors, tensors, sizeof tensors);
	t->base.tensors = (struct sl_tensors){.items = t->tensors, .count = 4};
}

int sl_autoencoder_trainer_open(const struct sl_settings *s, uint32_t rank, uint32_t learners,
				struct sl_trainer **trainer, struct sl_error *error)
{
	struct sl_deal all = {SL_PARTITION_NONE, 0, 1}, part = {s->partition, rank, learners};
	*trainer = NULL;
	struct builtin *t = calloc(1, sizeof *t);
	if (t == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "trainer: out of memory");
	t->base.ops = &ops;
	t->hidden_units = s->hidden_units;
	name_tensors(t);
	t->batch = s->batch;
	t->epochs = s->epochs;
	t->rank = rank;
	t->learning_rate = (float)s->learning_rate;
	t->seed = s->seed;
	int rc = sl_images_dataset_load(s->data, s->partition == SL_PARTITION_NONE ? &all : &part, &t->set,
					error);
	if (rc == SL_OK)
		rc = memory_take(t, error);
	if (rc != SL_OK) {
		trainer_close(&t->base);
		return rc;
	}
	*trainer = &t->base;
	return SL_OK;
}
