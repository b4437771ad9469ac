/* The autoencoder: its gradient against finite differences of a loss written down anew in doubles, and the
 * trainer. */
#include "test/lib/folder.h"
#include "test/lib/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/model/autoencoder.h"
#include "common/model/digits.h"
#include "common/model/trainer.h"

#define IMAGES 3u

/* ---- the gradient ---- */

/* The loss of one image, straight from the definition in autoencoder.h. */
static double reference_loss(const double *m, uint32_t h, const double *x)
{
	const double *w1 = m, *b1 = w1 + SL_PIXELS * h, *w2 = b1 + h, *b2 = w2 + SL_PIXELS * h;
	double a[8], loss = 0;
	for (uint32_t j = 0; j < h; j++) {
		a[j] = b1[j];
		for (size_t i = 0; i < SL_PIXELS; i++)
			a[j] += w1[j * SL_PIXELS + i] * x[i];
		a[j] = h == 1 ? tanh(a[j]) : fmax(a[j], 0);
	}
	for (size_t i = 0; i < SL_PIXELS; i++) {
		double z = b2[i];
		for (uint32_t j = 0; j < h; j++)
			z += w2[i * h + j] * a[j];
		loss += h == 1 ? (z - x[i]) * (z - x[i]) / 2 : log1p(exp(z)) - x[i] * z;
	}
	return loss;
}

static double reference_mean(const double *m, uint32_t h, double (*x)[SL_PIXELS])
{
	double sum = 0;
	for (uint32_t k = 0; k < IMAGES; k++)
		sum += reference_loss(m, h, x[k]);
	return sum / IMAGES;
}

/* A model with biases of its own, so that their gradients are tried away from zero. */
static void model_any(uint32_t h, float *model, double *doubled)
{
	size_t n = sl_autoencoder_parameters(h);
	sl_autoencoder_initial(h, 7, model);
	for (size_t i = 0; i < n; i++) {
		if (model[i] == 0.0f)
			model[i] = (float)(i % 7) * 0.05f - 0.1f;
		doubled[i] = (double)model[i];
	}
}

static void place_images(struct sl_autoencoder *net, double (*x)[SL_PIXELS])
{
	for (uint32_t k = 0; k < IMAGES; k++) {
		uint8_t image[SL_PIXELS];
		sl_digits_draw(k, image);
		sl_autoencoder_place(net, k, image);
		for (size_t i = 0; i < SL_PIXELS; i++)
			x[k][i] = image[i] / 255.0;
	}
}

static void expect_near(double got, double expected, double tolerance)
{
	if (!(fabs(got - expected) <= tolerance))
		fail_msg("%.9g is not near %.9g", got, expected);
}

static void expect_gradient(uint32_t h)
{
	size_t n = sl_autoencoder_parameters(h);
	float *model = calloc(n, sizeof *model), *gradient = calloc(n, sizeof *gradient);
	double *doubled = calloc(n, sizeof *doubled);
	static double x[IMAGES][SL_PIXELS];
	struct sl_autoencoder net;
	assert_int_equal(sl_autoencoder_init(&net, h, IMAGES + 2),
			 SL_OK); /* room to spare: count is not rows */
	model_any(h, model, doubled);
	place_images(&net, x);
	sl_autoencoder_forward(&net, model, IMAGES);
	expect_near(sl_autoencoder_loss(&net, IMAGES), reference_mean(doubled, h, x), 1e-2);
	sl_autoencoder_backward(&net, model, IMAGES, 1.0f, gradient);
	for (size_t i = 0;
	     i<n; i += i + 11> SL_PIXELS * h && i < (SL_PIXELS + 1) * h ? 1 : 11) { /* all of b1 */
		double kept = doubled[i], step = 1e-6;
		doubled[i] = kept + step;
		double above = reference_mean(doubled, h, x);
		doubled[i] = kept - step;
		double slope = (above - reference_mean(doubled, h, x)) / (2 * step);
		doubled[i] = kept;
		expect_near((double)gradient[i], slope, 1e-4 + 1e-3 * fabs(slope));
	}
	sl_autoencoder_free(&net);
	free(model);
	free(gradient);
	free(doubled);
}

TEST(gradient_of_relu_and_cross_entropy)
{
	expect_gradient(5);
}

TEST(gradient_of_tanh_and_squared_error)
{
	expect_gradient(1);
}

/* ---- the trainer ---- */

static struct sl_settings settings_small(const char *data)
{
	struct sl_settings s = {.hidden_units = 4,
				.learning_rate = 0.02,
				.batch = 10,
				.epochs = 1,
				.seed = 3,
				.partition = SL_PARTITION_IID};
	strcpy(s.data, data);
	return s;
}

static struct sl_trainer *open_trainer(const struct sl_settings *s, uint32_t rank, uint32_t learners)
{
	struct sl_trainer *trainer;
	struct sl_error error = {0};
	int rc = sl_autoencoder_trainer_open(s, rank, learners, &trainer, &error);
	assert_ok(rc, error);
	return trainer;
}

/* A new array with the initial model. */
static float *initial(const struct sl_trainer *trainer)
{
	float *model = calloc(trainer->ops->parameters(trainer), sizeof *model);
	assert_non_null(model);
	trainer->ops->initial(trainer, model);
	return model;
}

static struct sl_training train(struct sl_trainer *trainer, float *model, uint64_t draw)
{
	struct sl_error error = {0};
	struct sl_training result;
	atomic_bool stop = false;
	atomic_uint progress = 0;
	int rc = trainer->ops->train(
		trainer,
		&(struct sl_training_request){.round = 1, .draw = draw, .stop = &stop, .progress = &progress},
		model, &result, &error);
	assert_ok(rc, error);
	assert_int_equal(atomic_load(&progress), 1000);
	return result;
}

static double evaluate(struct sl_trainer *trainer, const float *model)
{
	struct sl_error error = {0};
	double mse;
	assert_int_equal(trainer->ops->evaluate(trainer, model, &mse, &error), SL_OK);
	return mse;
}

TEST(one_seed_one_initial_model)
{
	struct sl_settings s = settings_small("digits"), other = s;
	other.seed = 4;
	struct sl_trainer *a = open_trainer(&s, 0, 90), *b = open_trainer(&s, 89, 90);
	struct sl_trainer *c = open_trainer(&other, 0, 90);
	float *ma = initial(a), *mb = initial(b), *mc = initial(c);
	size_t n = a->ops->parameters(a);
	assert_int_equal(n, 1569 * 4 + 784);
	assert_memory_equal(ma, mb, n * sizeof *ma);
	assert_memory_not_equal(ma, mc, n * sizeof *ma);
	free(ma);
	free(mb);
	free(mc);
	a->ops->close(a);
	b->ops->close(b);
	c->ops->close(c);
}

TEST(another_draw_another_model)
{
	struct sl_settings s = settings_small("digits");
	struct sl_trainer *t = open_trainer(&s, 5, 90);
	size_t bytes = t->ops->parameters(t) * sizeof(float);
	float *first = initial(t), *other = initial(t), *again = initial(t);
	assert_int_equal(train(t, first, 1).samples, 100);
	train(t, other, 2);
	train(t, again, 1);
	assert_memory_not_equal(first, other, bytes);
	assert_memory_equal(first, again, bytes);
	free(first);
	free(other);
	free(again);
	t->ops->close(t);
}

/* A folder of one's own is trained on as a whole, however many learners the roster has. */
TEST(own_data_is_not_dealt_out)
{
	struct sl_settings s = settings_small("digits");
	s.partition = SL_PARTITION_NONE;
	s.batch = 1000;
	struct sl_trainer *t = open_trainer(&s, 5, 90);
	float *model = initial(t);
	assert_int_equal(train(t, model, 1).samples, 9000);
	free(model);
	t->ops->close(t);
}

/* Both recipes lower the loss and the held-out error; a last batch that is not full is trained on too. */
TEST(training_learns)
{
	for (uint32_t h = 1; h <= 8; h += 7) {
		struct sl_settings s = settings_small("digits");
		s.hidden_units = h;
		s.batch = 7;
		struct sl_trainer *t = open_trainer(&s, 0, 18);
		float *model = initial(t);
		double before = evaluate(t, model), loss = train(t, model, 1).loss;
		assert_true(loss < 1); /* per pixel, as the held-out error */
		assert_true(train(t, model, 2).loss < loss);
		assert_true(evaluate(t, model) < 0.7 * before);
		free(model);
		t->ops->close(t);
	}
}

TEST(stops_when_told)
{
	struct sl_settings s = settings_small("digits");
	struct sl_trainer *t = open_trainer(&s, 0, 90);
	float *model = initial(t);
	struct sl_training result;
	struct sl_error error = {0};
	atomic_bool stop = true;
	atomic_uint progress = 0;
	assert_int_equal(t->ops->train(t,
				       &(struct sl_training_request){
					       .round = 1, .draw = 1, .stop = &stop, .progress = &progress},
				       model, &result, &error),
			 SL_PENDING);
	assert_int_equal(atomic_load(&progress), 0);
	free(model);
	t->ops->close(t);
}

TEST(divergence_is_an_error)
{
	struct sl_settings s = settings_small("digits");
	s.hidden_units = 1;
	s.learning_rate = 1000;
	struct sl_trainer *t = open_trainer(&s, 0, 90);
	float *model = initial(t);
	struct sl_training result;
	struct sl_error error = {0};
	assert_int_equal(t->ops->train(t,
				       &(struct sl_training_request){
					       .round = 1, .draw = 1, .stop = NULL, .progress = NULL},
				       model, &result, &error),
			 SL_ERR_RANGE);
	assert_non_null(strstr(error.text, "diverged"));
	free(model);
	t->ops->close(t);
}

TEST_WITH(a_folder_without_images_is_refused, folder_setup, folder_teardown)
{
	struct sl_settings s = settings_small(*state);
	struct sl_trainer *t;
	struct sl_error error = {0};
	assert_int_equal(sl_autoencoder_trainer_open(&s, 0, 2, &t, &error), SL_ERR_NOTFOUND);
	assert_null(t);
}
