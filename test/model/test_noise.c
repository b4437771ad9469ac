/* The trainer without data: as many numbers as asked for, within the clipping range, and others for each
 * rank, draw and seed. */
#include "test/lib/folder.h"
#include "test/lib/test.h"

#include <math.h>
#include <stdlib.h>

#include "common/model/trainer.h"

#define SIZE 5000u

static float *trained(double clipping_range, uint64_t seed, uint32_t rank, uint64_t draw)
{
	struct sl_settings s = {.trainer = SL_TRAINER_NOISE,
				.noise_parameters = SIZE,
				.clipping_range = clipping_range,
				.seed = seed};
	struct sl_trainer *t;
	struct sl_training result = {0};
	atomic_uint progress = 0;
	assert_int_equal(sl_trainer_open(&s, rank, 3, &t, NULL), SL_OK);
	assert_int_equal(t->ops->parameters(t), SIZE);
	float *model = calloc(SIZE, sizeof *model);
	assert_non_null(model);
	assert_int_equal(t->ops->train(t,
				       &(struct sl_training_request){
					       .round = 1, .draw = draw, .stop = NULL, .progress = &progress},
				       model, &result, NULL),
			 SL_OK);
	assert_int_equal(progress, 1000);
	assert_int_equal(result.samples, 1);
	t->ops->close(t);
	return model;
}

static size_t equal(float *a, float *b)
{
	size_t count = 0;
	for (size_t i = 0; i < SIZE; i++)
		count += a[i] == b[i];
	free(a);
	free(b);
	return count;
}

TEST(each_draw_is_another)
{
	assert_int_equal(equal(trained(16, 1, 0, 1), trained(16, 1, 0, 1)), SIZE);
	assert_true(equal(trained(16, 1, 0, 1), trained(16, 1, 0, 2)) < SIZE / 100);
	assert_true(equal(trained(16, 1, 0, 1), trained(16, 1, 1, 1)) < SIZE / 100);
	assert_true(equal(trained(16, 1, 0, 1), trained(16, 2, 0, 1)) < SIZE / 100);
}

TEST(stays_within_the_clipping_range)
{
	static const double clips[] = {16, 0.1, 1e-9, 123456.7};
	for (size_t c = 0; c < sizeof clips / sizeof *clips; c++) {
		float *model = trained(clips[c], 1, 0, 1);
		double most = 0;
		for (size_t i = 0; i < SIZE; i++)
			most = fmax(most, fabs((double)model[i]));
		assert_true(most <= clips[c]);
		assert_true(most > 0.99 * clips[c]);
		free(model);
	}
}

/* The range is a double, and the nearest float may lie above: here it is the least there is, 1.4e-45. */
TEST(the_bound_is_not_rounded_up)
{
	float *model = trained(1e-45, 1, 0, 1);
	for (size_t i = 0; i < SIZE; i++)
		assert_true(model[i] == 0);
	free(model);
}

TEST(knows_no_error)
{
	struct sl_settings s = {.trainer = SL_TRAINER_NOISE, .noise_parameters = 1, .clipping_range = 1};
	struct sl_trainer *t;
	float model[1] = {7}, other[1];
	double mse = 0;
	for (uint32_t rank = 2; rank-- > 0;) { /* the same at all learners, and not zeros */
		assert_int_equal(sl_trainer_open(&s, rank, 2, &t, NULL), SL_OK);
		t->ops->initial(t, rank == 1 ? other : model);
		if (rank == 1)
			t->ops->close(t);
	}
	assert_true(model[0] == other[0] && model[0] != 0 && fabsf(model[0]) <= 1);
	assert_int_equal(sl_trainer_evaluate(t, model, &mse, NULL), SL_OK);
	assert_true(isnan(mse));
	t->ops->close(t);
}
