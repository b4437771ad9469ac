/* What an application hears of differential privacy, and what is refused of it. */
#include "test/application/client.h"
#include "test/application/learner.h"
#include "test/lib/folder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDE "\"tensors\":[{\"name\":\"w\",\"shape\":[4],\"dtype\":\"float64\"}]"

static void init_private(const char *folder, enum sl_dp_use unit)
{
	learner_init(folder);
	learner.settings.decimals = SL_DECIMALS_AUTO;
	learner.settings.clipping_range = SL_CLIPPING_RANGE_AUTO;
	learner.settings.values = SL_VALUES_AUTO;
	learner.settings.weighting = SL_WEIGHTING_EQUAL;
	learner.settings.max_weight = 1;
	learner.settings.dp = unit;
	learner.settings.dp_clip = 0.5;
	learner.settings.dp_epsilon = 4;
	learner.settings.dp_delta = 0.001;
	learner.settings.dp_sampling = 0.25;
	learner.settings.dp_noise = 1.5;
}

/* Show a mean of zeros, with this noise and epsilon. */
static void show_noisy(sl_round round, double noise, double spent)
{
	const double model[4] = {0};
	const struct sl_trainer_commit commit = {.round = round,
						 .learners = 2,
						 .total_weight = 2,
						 .decimals = SL_DECIMALS_AUTO,
						 .clipping_range = SL_CLIPPING_RANGE_AUTO,
						 .noise = noise,
						 .spent = spent};
	learner.trainer->ops->show(learner.trainer, &commit, model);
}

/* With dp, the application hears what is hidden and how well; values of any size are clamped, not refused. */
TEST_WITH(differential_privacy_is_told, folder_setup, folder_teardown)
{
	static const char mean[] =
		"{\"type\":\"mean\",\"round\":%d,\"learners\":2,\"total_weight\":2,"
		"\"cut\":0,\"decimals\":null,\"clipping_range\":null,\"noise\":%s,\"spent\":%s}";
	struct client c;
	char line[256];
	init_private(*state, SL_DP_USE_RECORD);
	learner_open_begin();
	join_with(
		&c, "\"tensors\":[{\"name\":\"i\",\"shape\":[4],\"dtype\":\"int64\"}],\"values\":\"model\"",
		"{\"type\":\"error\",\"text\":\"tensor i: int64 cannot be averaged with `dp`: noise is added "
		"to floats only\"}");
	client_close(&c);
	join_with(&c, "\"tensors\":[{\"name\":\"f\",\"shape\":[4]}],\"values\":\"model\"",
		  "{\"type\":\"error\",\"text\":\"tensor f: float32 rounds sums of records by more than");
	client_close(&c);
	join_with(&c, WIDE ",\"values\":\"model\"",
		  "{\"type\":\"joined\",\"version\":1,\"learner\":3,\"name\":\"clinic-c\",\"learners\":2,"
		  "\"rounds\":2,\"elements\":4,\"bytes\":32,\"clipping_range\":null,\"decimals\":null,"
		  "\"weighted\":false,\"averages_metrics\":false,\"repeatable\":false,"
		  "\"dp\":{\"unit\":\"record\",\"clip\":0.5,\"noise\":1.5,\"sampling\":0.25,"
		  "\"delta\":0.001,\"epsilon\":4.0}}");
	learner_open_end();
	train_ask(&c);
	((double *)c.up)[1] = NAN;
	client_expect_refused(&c, "w[1] is not a finite number");
	((double *)c.up)[1] = -1e300;
	client_tell(&c, "{\"type\":\"trained\",\"round\":1,\"weight\":1000}");
	client_hear(&c,
		    "{\"type\":\"refused\",\"round\":1,\"text\":\"dp_delta: 0.001 must be below one in the "
		    "number of records, and this learner has 1000\"}");
	client_tell(&c, "{\"type\":\"trained\",\"round\":1,\"weight\":999}");
	train_end(0, 999);
	show_noisy(1, 0.125, 2.5);
	snprintf(line, sizeof line, mean, 1, "0.125", "2.5");
	client_hear(&c, line);
	show_noisy(2, (double)NAN, INFINITY); /* of a learner that was started again; delta is used up */
	snprintf(line, sizeof line, mean, 2, "null", "null");
	client_hear(&c, line);
	learner_end(&c);
}

/* At learner level, the number of records does not matter, and there may be no budget. */
TEST_WITH(privacy_of_learners, folder_setup, folder_teardown)
{
	struct client c;
	init_private(*state, SL_DP_USE_LEARNER);
	learner.settings.dp_epsilon = 0;
	learner.settings.dp_sampling = 1;
	learner_open_begin();
	client_open(&c, socket_path(*state));
	client_tell(&c, "{\"type\":\"join\",\"version\":1," WIDE ",\"values\":\"model\"}");
	client_hear(&c, "{\"type\":\"joined\"");
	assert_non_null(strstr(c.line,
			       "\"dp\":{\"unit\":\"learner\",\"clip\":0.5,\"noise\":1.5,\"sampling\":1.0,"
			       "\"delta\":0.001,\"epsilon\":null}}"));
	learner_open_end();
	train_ask(&c);
	client_tell(&c, "{\"type\":\"trained\",\"round\":1,\"weight\":5000}");
	train_end(0, 5000);
	learner_end(&c);
}

/* With dp, changes to a common model are summed, so the learner begins with one, or not at all. */
TEST_WITH(privacy_of_updates_needs_the_model_before_training, folder_setup, folder_teardown)
{
	struct client c;
	double before[4];
	init_private(*state, SL_DP_USE_RECORD);
	learner_open_begin();
	join_with(&c, WIDE,
		  "{\"type\":\"error\",\"text\":\"with dp, changes to a model before training are summed: ");
	client_close(&c);
	join_with(&c, WIDE ",\"initial\":true", "{\"type\":\"joined\"");
	((double *)c.up)[3] = 1e300;
	client_tell(&c, "{\"type\":\"initial\"}");
	pthread_join(learner.opening, NULL);
	assert_int_equal(learner.rc, SL_OK);
	learner.trainer->ops->initial(learner.trainer, before);
	assert_int_equal(sl_application_serve(learner.trainer, NULL), SL_OK);
	assert_true(before[0] == 0 && before[3] == 1e300);
	client_close(&c);
	join_with(&c, WIDE, "{\"type\":\"joined\""); /* its learner has it */
	train_ask(&c);
	client_tell(&c, "{\"type\":\"trained\",\"round\":1}");
	pthread_join(learner.training, NULL);
	learner_end(&c);
	init_private(*state, SL_DP_USE_RECORD);
	learner_open(); /* with the vector of the file; it has kept the model before training as well */
	learner_close();
}

/* Give the vector of round 1, and end the learner. */
static void give_and_end(const char *folder)
{
	struct client c;
	init_private(folder, SL_DP_USE_RECORD);
	learner_open_begin();
	join_with(&c, WIDE ",\"values\":\"model\"", "{\"type\":\"joined\"");
	learner_open_end();
	train_once(&c);
	learner_end(&c);
	init_private(folder, SL_DP_USE_RECORD);
}

/* A sum of records that was made for another clip, or drawn by another sampling, would be charged too little.
 */
TEST_WITH(a_sum_for_other_terms_is_not_used, folder_setup, folder_teardown)
{
	for (int changed = 0; changed < 3; changed++) {
		struct client c;
		give_and_end(*state);
		if (changed == 0)
			learner.settings.dp_noise = 2;
		*(changed == 1 ? &learner.settings.dp_clip : &learner.settings.dp_sampling) *=
			changed == 0 ? 1 : 0.5;
		learner_open();
		train_begin(1, false);
		if (changed > 0) {
			join_with(&c, WIDE ",\"values\":\"model\"", "{\"type\":\"joined\"");
			client_hear(&c, "{\"type\":\"train\",\"round\":1,");
			assert_non_null(strstr(learner.said, "dp_clip or dp_sampling has changed"));
			client_tell(&c, "{\"type\":\"trained\",\"round\":1}");
			client_close(&c);
		}
		train_end(0, 1);
		show_noisy(1, 0.125, 2.5);
		learner_close();
	}
}
