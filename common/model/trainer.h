/* trainer.h - the interface of trainers, and the built-in ones: an autoencoder, and noise.
 *
 * All functions but sl_trainer_open and `notice` are called by the training thread, one at a time, and may be
 * slow. A trainer owns its data and its working memory; models are the n elements of
 * its tensors, as base/tensors.h lays them out, owned by the caller.
 */
#pragma once

#include <math.h>
#include <string.h>

#include <stdatomic.h>

#include "common/base/err.h"
#include "common/base/tensors.h"
#include "common/config/settings.h"
#include "common/protocol/message.h"
#include "common/protocol/parameters.h"

struct json_t;
struct sl_trainer;

struct sl_training {
	double loss; /* mean loss of the last epoch, in the trainer's unit, per element of an output as the
			held-out error is; NaN: not known */
	uint64_t samples;	/* number of samples of this learner: its weight with `weighting: samples` */
	double seconds;		/* duration */
	struct json_t *metrics; /* object of numbers, owned by the caller; NULL: none */
};

struct sl_training_request {
	sl_round round;
	uint64_t draw;		 /* nonce of this training: the order of the samples depends on it */
	const atomic_bool *stop; /* NULL: is not stopped */
	atomic_uint *progress;	 /* goes from 0 to 1000; NULL: not wanted */
	bool again;		 /* a model of this round may have been released */
};

/* A committed round. */
struct sl_trainer_commit {
	sl_round round;
	uint32_t learners;
	uint64_t total_weight;
	uint64_t cut; /* values of the own update that the log tells are cut */
	/* As agreed for it; SL_DECIMALS_AUTO and SL_CLIPPING_RANGE_AUTO: not known since the start. */
	uint32_t decimals;
	double clipping_range;
	/* With differential privacy: standard deviation of the noise in each coordinate of the mean, and the
	 * epsilon that this learner has spent so far; NAN: not known since the start. Without, 0 and NAN. */
	double noise, spent;
};

/* Return the decimals of a round that averaged `values`, by the parameters `own`; SL_DECIMALS_AUTO: none. */
static inline uint32_t sl_trainer_decimals(const struct sl_parameters *own, uint64_t values)
{
	return values != SL_VALUES_MODEL ? SL_DECIMALS_AUTO : (uint32_t)own->decimals;
}

/* Return its clipping range; SL_CLIPPING_RANGE_AUTO: there is none. */
static inline double sl_trainer_range(const struct sl_parameters *own, uint64_t values)
{
	double range;
	memcpy(&range, &own->clipping_range, sizeof range);
	return values != SL_VALUES_MODEL ? SL_CLIPPING_RANGE_AUTO : range;
}

struct sl_trainer_ops {
	/* Return n, the number of elements of a model. */
	size_t (*parameters)(const struct sl_trainer *);
	/* Set `model` to the initial model, the same at all learners with the same seed. */
	void (*initial)(const struct sl_trainer *, void *model);
	/* Train `model`, the committed or initial one, in place. SL_PENDING if *stop became true. */
	int (*train)(struct sl_trainer *, const struct sl_training_request *request, void *model,
		     struct sl_training *result, struct sl_error *error);
	/* Compute the mean squared error of `model` on held-out data. NULL: the trainer has none. */
	int (*evaluate)(struct sl_trainer *, const void *model, double *mse, struct sl_error *error);
	/* Take notice of a committed model. NULL: not needed. */
	void (*show)(struct sl_trainer *, const struct sl_trainer_commit *commit, const void *model);
	/* Take notice of why the round waits; called by the loop thread at any time. NULL: not needed. */
	void (*notice)(struct sl_trainer *, const char *text);
	/* Forget the trained model: it cannot be encoded. Called by the loop thread while nothing is trained.
	 * NULL: not needed. */
	void (*forget)(struct sl_trainer *);
	void (*close)(struct sl_trainer *);
};

struct sl_trainer {
	const struct sl_trainer_ops *ops;
	struct sl_tensors tensors; /* of a model; together n elements */
};

/* Evaluate `model`; NaN without held-out data. */
static inline int sl_trainer_evaluate(struct sl_trainer *trainer, const void *model, double *mse,
				      struct sl_error *error)
{
	*mse = NAN;
	return trainer->ops->evaluate == NULL ? SL_OK : trainer->ops->evaluate(trainer, model, mse, error);
}

/* Open the trainer that `settings` name for learner `rank` of `learners` (0-based, roster order). */
int sl_trainer_open(const struct sl_settings *settings, uint32_t rank, uint32_t learners,
		    struct sl_trainer **trainer, struct sl_error *error);

/* Open an autoencoder on the slice of learner `rank` of `learners` (0-based, roster order). It keeps only
 * that slice and the held-out images. */
int sl_autoencoder_trainer_open(const struct sl_settings *settings, uint32_t rank, uint32_t learners,
				struct sl_trainer **trainer, struct sl_error *error);

/* Open a trainer that draws models at random within the clipping range, different for each rank and nonce,
 * without data. */
int sl_noise_open(const struct sl_settings *settings, uint32_t rank, struct sl_trainer **trainer,
		  struct sl_error *error);
