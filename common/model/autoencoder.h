/* autoencoder.h - the arithmetic of the paper's autoencoder, 784-h-784: one batch forward, one batch back.
 *
 * A model is n = 1569 h + 784 floats:  W1 (h x 784) | b1 (h) | W2 (784 x h) | b2 (784), rows in a row.
 * It maps x in [0,1]^784 to y = out(W2 a + b2), a = act(W1 x + b1), by one of two recipes:
 *
 *              act     out       loss of an image
 *      h > 1   ReLU    sigmoid   cross-entropy, summed over the pixels
 *      h = 1   tanh    identity  squared error, summed over the pixels, halved
 *
 * The loss of a batch is the mean over its images. In both recipes its gradient before `out` is (y -
 * x)/images, so that the code has only two differences. It owns its working memory, allocated once, and
 * runs BLAS on one thread.
 */
#pragma once

#include "common/base/types.h"
#include "common/model/images.h"

struct sl_autoencoder {
	uint32_t hidden_units, rows; /* h; largest number of images in a batch */
	float *input;		     /* rows x 784: x */
	float *active;		     /* rows x h: a */
	float *output;		     /* rows x 784: y, then its delta */
	float *delta;		     /* rows x h */
	float *memory;		     /* all of the above */
};

/* Return n, the number of floats of a model. */
static inline size_t sl_autoencoder_parameters(uint32_t hidden_units)
{
	return (2 * (size_t)SL_PIXELS + 1) * hidden_units + SL_PIXELS;
}

/* Allocate the memory of `net`. SL_ERR_NOMEM. */
int sl_autoencoder_init(struct sl_autoencoder *net, uint32_t hidden_units, uint32_t rows);

/* Set `model` to Xavier uniform weights (within sqrt(6/(784+h))) and zero biases; the same floats on every
 * machine. */
void sl_autoencoder_initial(uint32_t hidden_units, uint64_t seed, float *model);

/* Copy an image into row `row` of the batch. */
void sl_autoencoder_place(struct sl_autoencoder *net, uint32_t row, const uint8_t pixels[static SL_PIXELS]);

/* Compute y of the first `count` rows. */
void sl_autoencoder_forward(struct sl_autoencoder *net, const float *model, uint32_t count);

/* After forward: return the mean loss of the images; the squared error, summed over pixels and images. */
double sl_autoencoder_loss(const struct sl_autoencoder *net, uint32_t count);
double sl_autoencoder_squared_error(const struct sl_autoencoder *net, uint32_t count);

/* After forward: add scale * gradient at `model` to `into`, which may be `model` itself (scale = -learning
 * rate). The output is overwritten. */
void sl_autoencoder_backward(struct sl_autoencoder *net, const float *model, uint32_t count, float scale,
			     float *into);

void sl_autoencoder_free(struct sl_autoencoder *net);
