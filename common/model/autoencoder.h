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
 * x)/images, which is why the code below knows only two differences. Owns its work memory, asked for once;
 * runs BLAS on one thread.
 */
#pragma once

#include "common/base/types.h"
#include "common/model/images.h"

struct sl_autoencoder {
	uint32_t hidden_units, rows; /* h; images of a batch at most */
	float *input;		     /* rows x 784: x */
	float *active;		     /* rows x h: a */
	float *output;		     /* rows x 784: y, then its delta */
	float *delta;		     /* rows x h */
	float *memory;		     /* all of the above */
};

static inline size_t sl_autoencoder_parameters(uint32_t hidden_units)
{
	return (2 * (size_t)SL_PIXELS + 1) * hidden_units + SL_PIXELS;
}

/* SL_ERR_NOMEM. */
int sl_autoencoder_init(struct sl_autoencoder *net, uint32_t hidden_units, uint32_t rows);

/* Xavier uniform weights (within sqrt(6/(784+h))) and zero biases; the same floats on every machine. */
void sl_autoencoder_initial(uint32_t hidden_units, uint64_t seed, float *model);

/* Puts an image into a row of the batch. */
void sl_autoencoder_place(struct sl_autoencoder *net, uint32_t row, const uint8_t pixels[static SL_PIXELS]);

/* y of the first `count` rows. */
void sl_autoencoder_forward(struct sl_autoencoder *net, const float *model, uint32_t count);

/* After forward: the loss, mean over the images; the squared error, summed over pixels and images. */
double sl_autoencoder_loss(const struct sl_autoencoder *net, uint32_t count);
double sl_autoencoder_squared_error(const struct sl_autoencoder *net, uint32_t count);

/* After forward: adds scale * gradient at `model` to `into`, which may be the model itself (scale = -learning
 * rate). Uses up the output. */
void sl_autoencoder_backward(struct sl_autoencoder *net, const float *model, uint32_t count, float scale,
			     float *into);

void sl_autoencoder_free(struct sl_autoencoder *net);
