/* trainer.h - what a learner asks of a trainer, and the built-in ones: an autoencoder, and noise.
 *
 * All calls but trainer_open come from the training thread, one at a time, and may be slow. A trainer owns
 * its data and its working memory; models pass as arrays of n floats owned by the caller.
 */
#pragma once

#include <stdatomic.h>

#include "common/base/err.h"
#include "common/config/settings.h"

struct sl_trainer;

struct sl_training {
	double loss;	  /* of the last epoch, in the trainer's own unit */
	uint64_t samples; /* of this learner: its m_i under `weight: samples` */
	double seconds;
};

struct sl_trainer_ops {
	size_t (*parameters)(const struct sl_trainer *); /* n */
	/* The initial model, the same at all learners with equal settings.seed. */
	void (*initial)(const struct sl_trainer *, float *model);
	/* Trains `model` in place from the committed (or initial) model. `draw` makes this training's
	 * randomness fresh: another draw, another shuffle. Stops early with SL_PENDING when *stop becomes
	 * true. progress is 0..1000 (permille). */
	int (*train)(struct sl_trainer *, float *model, uint64_t draw, const atomic_bool *stop,
		     atomic_uint *progress, struct sl_training *result, struct sl_error *error);
	/* Held-out mean squared error of a model; NaN: this trainer knows none. */
	int (*evaluate)(struct sl_trainer *, const float *model, double *mse, struct sl_error *error);
	void (*close)(struct sl_trainer *);
};

struct sl_trainer {
	const struct sl_trainer_ops *ops;
};

/* The trainer that `settings` name, of learner number `rank` of `learners` (0-based, roster order). */
int sl_trainer_open(const struct sl_settings *settings, uint32_t rank, uint32_t learners,
		    struct sl_trainer **trainer, struct sl_error *error);

/* The autoencoder of `settings` on the slice of learner number `rank` of `learners` (0-based, roster order).
 * Reads only that slice and the held-out images. */
int sl_autoencoder_trainer_open(const struct sl_settings *settings, uint32_t rank, uint32_t learners,
				struct sl_trainer **trainer, struct sl_error *error);

/* `size` pseudo-random numbers within the clip, others for each rank and draw; no data, no time, no error to
 * tell. */
int sl_noise_open(const struct sl_settings *settings, uint32_t rank, struct sl_trainer **trainer,
		  struct sl_error *error);
