#include "common/model/autoencoder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/blas.h"
#include "common/base/err.h"
#include "common/base/random.h"

/* The four parts of a model; of a const one too, which is then only read. */
struct parts {
	const float *w1, *b1, *w2, *b2;
};

static struct parts parts_of(const float *model, uint32_t hidden_units)
{
	struct parts p;
	p.w1 = model;
	p.b1 = p.w1 + (size_t)hidden_units * SL_PIXELS;
	p.w2 = p.b1 + hidden_units;
	p.b2 = p.w2 + (size_t)hidden_units * SL_PIXELS;
	return p;
}

/* Where a part of `model` lies in another array of the same layout. */
static float *same_place(float *into, const float *model, const float *part)
{
	return into + (part - model);
}

int sl_autoencoder_init(struct sl_autoencoder *net, uint32_t hidden_units, uint32_t rows)
{
	*net = (struct sl_autoencoder){.hidden_units = hidden_units, .rows = rows};
	size_t wide = (size_t)rows * SL_PIXELS, narrow = (size_t)rows * hidden_units;
	int rc = sl_blas_open();
	if (rc != SL_OK)
		return rc;
	net->memory = calloc(2 * (wide + narrow), sizeof *net->memory);
	if (net->memory == NULL)
		return SL_ERR_NOMEM;
	net->input = net->memory;
	net->output = net->input + wide;
	net->active = net->output + wide;
	net->delta = net->active + narrow;
	return SL_OK;
}

void sl_autoencoder_free(struct sl_autoencoder *net)
{
	free(net->memory);
	*net = (struct sl_autoencoder){0};
}

void sl_autoencoder_initial(uint32_t hidden_units, uint64_t seed, float *model)
{
	struct parts p = parts_of(model, hidden_units);
	size_t weights = (size_t)hidden_units * SL_PIXELS;
	double bound =
		sqrt(6.0 / (SL_PIXELS +
			    (double)hidden_units)); /* sqrt is exact everywhere, unlike exp and friends */
	uint64_t random = sl_random_seed(seed, hidden_units, 0);
	memset(model, 0, sl_autoencoder_parameters(hidden_units) * sizeof *model);
	for (size_t i = 0; i < weights; i++)
		model[i] = (float)sl_random_in(&random, -bound, bound);
	float *w2 = same_place(model, model, p.w2);
	for (size_t i = 0; i < weights; i++)
		w2[i] = (float)sl_random_in(&random, -bound, bound);
}

void sl_autoencoder_place(struct sl_autoencoder *net, uint32_t row, const uint8_t pixels[static SL_PIXELS])
{
	float *x = net->input + (size_t)row * SL_PIXELS;
	for (size_t i = 0; i < SL_PIXELS; i++)
		x[i] = (float)pixels[i] * (1.0f / 255.0f);
}

/* out = in W^T + b for `count` rows, W being outs x ins. */
static void affine(const float *in, const float *w, const float *b, float *out, uint32_t count, uint32_t ins,
		   uint32_t outs)
{
	for (uint32_t r = 0; r < count; r++)
		memcpy(out + (size_t)r * outs, b, outs * sizeof *b);
	sl_blas_multiply(&(struct sl_blas_product){.turn_b = true,
						   .m = count,
						   .n = outs,
						   .k = ins,
						   .alpha = 1.0f,
						   .beta = 1.0f,
						   .a = in,
						   .lda = ins,
						   .b = w,
						   .ldb = ins,
						   .ldc = outs},
			 out);
}

void sl_autoencoder_forward(struct sl_autoencoder *net, const float *model, uint32_t count)
{
	struct parts p = parts_of(model, net->hidden_units);
	size_t narrow = (size_t)count * net->hidden_units, wide = (size_t)count * SL_PIXELS;
	affine(net->input, p.w1, p.b1, net->active, count, SL_PIXELS, net->hidden_units);
	for (size_t i = 0; i < narrow; i++)
		net->active[i] = net->hidden_units == 1 ? tanhf(net->active[i]) : fmaxf(net->active[i], 0.0f);
	affine(net->active, p.w2, p.b2, net->output, count, net->hidden_units, SL_PIXELS);
	if (net->hidden_units == 1)
		return;
	for (size_t i = 0; i < wide; i++)
		net->output[i] = 1.0f / (1.0f + expf(-net->output[i]));
}

double sl_autoencoder_squared_error(const struct sl_autoencoder *net, uint32_t count)
{
	double sum = 0;
	for (size_t i = 0; i < (size_t)count * SL_PIXELS; i++) {
		double e = (double)net->output[i] - (double)net->input[i];
		sum += e * e;
	}
	return sum;
}

/* A sigmoid that rounds to 0 or 1 has lost its logarithm: there the loss is cut, the gradient is not. */
static double cross_entropy(const struct sl_autoencoder *net, uint32_t count)
{
	double sum = 0;
	for (size_t i = 0; i < (size_t)count * SL_PIXELS; i++) {
		float x = net->input[i], y = net->output[i];
		sum -= (double)(x * logf(y + 1e-12f) + (1.0f - x) * logf(1.0f - y + 1e-12f));
	}
	return sum;
}

double sl_autoencoder_loss(const struct sl_autoencoder *net, uint32_t count)
{
	double sum = net->hidden_units == 1 ? sl_autoencoder_squared_error(net, count) / 2
					    : cross_entropy(net, count);
	return sum / count;
}

/* delta of the hidden layer = (delta of the output) W2 * act'. */
static void hidden_delta(struct sl_autoencoder *net, const float *w2, uint32_t count)
{
	size_t narrow = (size_t)count * net->hidden_units;
	sl_blas_multiply(&(struct sl_blas_product){.m = count,
						   .n = net->hidden_units,
						   .k = SL_PIXELS,
						   .alpha = 1.0f,
						   .a = net->output,
						   .lda = SL_PIXELS,
						   .b = w2,
						   .ldb = net->hidden_units,
						   .ldc = net->hidden_units},
			 net->delta);
	for (size_t i = 0; i < narrow; i++) {
		float a = net->active[i];
		net->delta[i] *= net->hidden_units == 1 ? 1.0f - a * a : (a > 0.0f ? 1.0f : 0.0f);
	}
}

/* w += scale delta^T in, b += scale (sum of delta over the rows). */
static void descend(const float *delta, const float *in, uint32_t count, uint32_t outs, uint32_t ins,
		    float scale, float *w, float *b)
{
	sl_blas_multiply(&(struct sl_blas_product){.turn_a = true,
						   .m = outs,
						   .n = ins,
						   .k = count,
						   .alpha = scale,
						   .beta = 1.0f,
						   .a = delta,
						   .lda = outs,
						   .b = in,
						   .ldb = ins,
						   .ldc = ins},
			 w);
	for (uint32_t r = 0; r < count; r++)
		for (uint32_t i = 0; i < outs; i++)
			b[i] += scale * delta[(size_t)r * outs + i];
}

void sl_autoencoder_backward(struct sl_autoencoder *net, const float *model, uint32_t count, float scale,
			     float *into)
{
	struct parts p = parts_of(model, net->hidden_units);
	float mean = scale / (float)count;
	for (size_t i = 0; i < (size_t)count * SL_PIXELS; i++)
		net->output[i] -= net->input[i];
	hidden_delta(net, p.w2, count); /* before `into`, which may be the model, changes */
	descend(net->delta, net->input, count, net->hidden_units, SL_PIXELS, mean,
		same_place(into, model, p.w1), same_place(into, model, p.b1));
	descend(net->output, net->active, count, SL_PIXELS, net->hidden_units, mean,
		same_place(into, model, p.w2), same_place(into, model, p.b2));
}
