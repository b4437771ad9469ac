/* What an application averages beside its model: metrics and exact values, driven by a scripted one. */
#include "test/application/client.h"
#include "test/application/learner.h"
#include "test/lib/folder.h"

#include <math.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define TENSORS "\"tensors\":[{\"name\":\"w\",\"shape\":[2,2]},{\"name\":\"b\",\"shape\":[]}]"

/* Metrics leave the learner only with `metrics: aggregate`: what is encoded is the model. */
TEST_WITH(local_metrics_are_not_in_the_model, folder_setup, folder_teardown)
{
	struct client c;
	learner_init(*state);
	learner_open_begin();
	join_with(&c, TENSORS ",\"metrics\":[\"loss\",\"accuracy\"]", "{\"type\":\"joined\"");
	learner_open_end();
	assert_int_equal(learner.trainer->ops->parameters(learner.trainer), N);
	assert_int_equal(learner.trainer->tensors.count, 2);
	train_ask(&c);
	client_tell(&c, "{\"type\":\"trained\",\"round\":1,\"metrics\":{\"loss\":2.5,\"accuracy\":0.5}}");
	train_end(0, 1);
	for (size_t i = 0; i < N + 4; i++)
		assert_true(learner.model[i] == 0);
	assert_int_equal(json_object_size(learner.result.metrics), 2);
	show(1, 0);
	client_hear(&c, "{\"type\":\"mean\",\"round\":1,\"learners\":2,\"total_weight\":70,\"cut\":3,"
			"\"decimals\":4,\"clipping_range\":16.0}");
	learner_end(&c);
}

TEST_WITH(aggregated_metrics_are_part_of_the_model, folder_setup, folder_teardown)
{
	static const char *const refused[][2] = {
		{"", "the metric loss, which join has listed, is missing or not finite"},
		{",\"metrics\":{\"loss\":2.5,\"other\":1}",
		 "the metric accuracy, which join has listed, is missing"},
		{",\"metrics\":{\"loss\":2.5,\"accuracy\":\"high\"}", "the metric accuracy, which join"},
		{",\"metrics\":{\"loss\":17,\"accuracy\":0.5}",
		 "metric:loss is 17, beyond clipping_range 16"},
	};
	_Alignas(double) float committed[N + 4] = {[N + 3] = 3};
	struct client c, other;
	char line[256];
	learner_init(*state);
	learner.settings.metrics = SL_METRICS_AGGREGATE;
	learner_open_begin();
	join_with(&c, TENSORS ",\"metrics\":[\"loss\",\"accuracy\"]",
		  "{\"type\":\"joined\",\"version\":1,\"learner\":3,\"name\":\"clinic-c\",\"learners\":2,"
		  "\"rounds\":2,"
		  "\"elements\":5,\"bytes\":20,");
	learner_open_end();
	assert_int_equal(learner.trainer->ops->parameters(learner.trainer), N + 2);
	assert_string_equal(learner.trainer->tensors.items[0].name, "metric:loss");
	assert_string_equal(learner.trainer->tensors.items[1].name, "metric:accuracy");
	assert_string_equal(learner.trainer->tensors.items[2].name, "w");
	train_ask(&c);
	c.up[4] = 1.5f;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		snprintf(line, sizeof line, "{\"type\":\"trained\",\"round\":1%s}", refused[i][0]);
		client_tell(&c, line);
		snprintf(line, sizeof line, "{\"type\":\"refused\",\"round\":1,\"text\":\"%s", refused[i][1]);
		client_hear(&c, line);
	}
	client_tell(
		&c,
		"{\"type\":\"trained\",\"round\":1,\"metrics\":{\"loss\":2.5,\"accuracy\":0.5,\"more\":9}}");
	pthread_join(learner.training, NULL);
	const double *metrics = (const double *)learner.model;
	assert_true(learner.rc == SL_OK && metrics[0] == 2.5 && metrics[1] == 0.5);
	assert_true(learner.model[N + 3] == 1.5f);
	memcpy(committed, (const double[]){1.25, 0.75}, 2 * sizeof(double));
	learner.trainer->ops->show(learner.trainer, &(struct sl_trainer_commit){1, 2, 70, 0, 4, 16, 0, NAN},
				   committed);
	client_hear(&c,
		    "{\"type\":\"mean\",\"round\":1,\"learners\":2,\"total_weight\":70,\"cut\":0,"
		    "\"decimals\":4,\"clipping_range\":16.0,\"metrics\":{\"loss\":1.25,\"accuracy\":0.75}}");
	assert_true(c.down[N - 1] == 3);
	client_close(&c);

	join_with(
		&other, TENSORS ",\"metrics\":[\"loss\"]",
		"{\"type\":\"error\",\"text\":\"this run has another model: the averaged metric accuracy is "
		"there, and not here\"}");
	learner_end(&other);
}

/* With values: auto, the first application says what is averaged; integers are averaged as models. */
TEST_WITH(values_of_the_application, folder_setup, folder_teardown)
{
	static const char tensors[] = "\"tensors\":[{\"name\":\"w\",\"shape\":[4]}]",
			  integers[] = "\"tensors\":[{\"name\":\"i\",\"shape\":[4],\"dtype\":\"int64\"}]",
			  update[] = ",\"values\":\"update\"", joined[] = "{\"type\":\"joined\"";
	static const struct {
		const char *tensors, *values;
		uint32_t set;
		enum sl_values expected;
	} cases[] = {{tensors, "", SL_VALUES_AUTO, SL_VALUES_UPDATE},
		     {integers, "", SL_VALUES_AUTO, SL_VALUES_UPDATE},
		     {tensors, ",\"values\":\"model\"", SL_VALUES_AUTO, SL_VALUES_MODEL},
		     {integers, update, SL_VALUES_AUTO, SL_VALUES_UPDATE},
		     {tensors, update, SL_VALUES_MODEL, SL_VALUES_MODEL},
		     {tensors, "", SL_VALUES_UPDATE, SL_VALUES_UPDATE},
		     {tensors, update, SL_VALUES_AUTO, SL_VALUES_UPDATE}};
	struct client c;
	char fields[256];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		learner_init(*state);
		learner.settings.values = cases[i].set;
		learner_open_begin();
		if (i == 0) {
			join_with(&c, "\"tensors\":[{\"name\":\"w\",\"shape\":[4]}],\"values\":\"sum\"",
				  "{\"type\":\"error\",\"text\":\"values in join is model or update\"}");
			client_close(&c);
		}
		snprintf(fields, sizeof fields, "%s%s", cases[i].tensors, cases[i].values);
		join_with(&c, fields, joined);
		learner_open_end();
		assert_int_equal(sl_application_values(learner.trainer), cases[i].expected);
		if (i < sizeof cases / sizeof *cases - 1)
			learner_end(&c);
	}
	client_close(&c);
	sl_application_bind(learner.trainer);
	snprintf(fields, sizeof fields, "%s%s", tensors, ",\"values\":\"model\"");
	join_with(&c, fields,
		  "{\"type\":\"error\",\"text\":\"this run averages with values: update, and the "
		  "application asks for values: model");
	learner_end(&c);
}

/* The checks of the other dtypes: 8-byte tensors lie first; int64 has no decimals. */
TEST_WITH(every_dtype_is_checked, folder_setup, folder_teardown)
{
	static const char fields[] =
		"\"tensors\":[{\"name\":\"d\",\"shape\":[1],\"dtype\":\"float64\"},{\"name\":\"i\","
		"\"shape\":[],\"dtype\":\"int64\"},{\"name\":\"f\",\"shape\":[2],\"dtype\":\"float32\"}]";
	struct client c;
	learner_init(*state);
	learner.settings.encoding = SL_ENCODING_PAPER;
	learner_open_begin();
	join_with(&c, fields,
		  "{\"type\":\"error\",\"text\":\"tensor i: int64 cannot be averaged with `encoding: "
		  "paper`\"}");
	client_close(&c);
	learner.settings.encoding = SL_ENCODING_WEIGHTED;
	join_with(&c, fields, "{\"type\":\"joined\"");
	learner_open_end();
	assert_int_equal(learner.trainer->ops->parameters(learner.trainer), 4);
	assert_int_equal(c.bytes, 24);
	train_ask(&c);
	double *d = (double *)c.up;
	int64_t *i = (int64_t *)c.up + 1;
	*d = INFINITY;
	client_expect_refused(&c, "d[0] is not a finite number");
	*d = 16.5;
	client_expect_refused(&c, "d[0] is 16.5, beyond clipping_range 16:");
	*d = 1;
	*i = -160001;
	client_expect_refused(&c, "i is -160001, beyond clipping_range * "
				  "10^decimals, 160000: raise clipping_range");
	*i = 160000;
	c.up[5] = NAN;
	client_expect_refused(&c, "f[1] is not a finite number");
	c.up[5] = 1;
	client_tell(&c, "{\"type\":\"trained\",\"round\":1}");
	pthread_join(learner.training, NULL);
	assert_int_equal(learner.rc, SL_OK);
	assert_memory_equal(learner.model, c.up, 24);
	learner_end(&c);
}

static void open_exact(void *state)
{
	learner_init(state);
	learner.settings.decimals = SL_DECIMALS_AUTO;
	learner.settings.clipping_range = SL_CLIPPING_RANGE_AUTO;
	learner_open_begin();
}

/* Without decimals, values are averaged exactly: any float32 is accepted. */
TEST_WITH(exact_values, folder_setup, folder_teardown)
{
	struct client c;
	open_exact(*state);
	join_with(&c, TENSORS,
		  "{\"type\":\"joined\",\"version\":1,\"learner\":3,\"name\":\"clinic-c\",\"learners\":2,"
		  "\"rounds\":2,"
		  "\"elements\":5,\"bytes\":20,\"clipping_range\":null,\"decimals\":null,\"weighted\":true,"
		  "\"averages_metrics\":false,\"repeatable\":false}");
	learner_open_end();
	train_ask(&c);
	c.up[0] = 1e6f;
	c.up[2] = -INFINITY;
	client_expect_refused(&c, "w[1,0] is not a finite number");
	assert_int_equal(learner.failures, 1);
	c.up[2] = -3e38f;
	client_tell(&c, "{\"type\":\"trained\",\"round\":1}");
	train_end(1e6f, 1);
	learner_end(&c);
}

/* A float64 may be larger than any value that is averaged. */
TEST_WITH(a_value_beyond_the_field, folder_setup, folder_teardown)
{
	struct client c;
	open_exact(*state);
	join_with(&c, "\"tensors\":[{\"name\":\"d\",\"shape\":[1],\"dtype\":\"float64\"}]",
		  "{\"type\":\"joined\"");
	learner_open_end();
	train_ask(&c);
	double *d = (double *)c.up;
	*d = 0x1p128;
	client_expect_refused(&c, "d[0] is 3.40282e+38, too large to be averaged");
	*d = nextafter(0x1p128, 0);
	client_tell(&c, "{\"type\":\"trained\",\"round\":1}");
	pthread_join(learner.training, NULL);
	assert_int_equal(learner.rc, SL_OK);
	learner_end(&c);
}

TEST_WITH(names_of_metrics_are_checked, folder_setup, folder_teardown)
{
	static const char *const cases[][2] = {
		{"\"loss\"", "metrics is a list of at most 64 names"},
		{"[1]", "a metric that is averaged needs a name of 1 to 63 bytes"},
		{"[\"\"]", "a metric that is averaged needs a name"},
		{"[\"1234567890123456789012345678901234567890123456789012345678901234\"]",
		 "a metric that is averaged needs"},
		{"[\"loss\",\"loss\"]", "two tensors have the name metric:loss"},
	};
	struct client c;
	char fields[512], text[256];
	learner_init(*state);
	learner.settings.metrics = SL_METRICS_AGGREGATE;
	learner_open_begin();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(fields, sizeof fields, TENSORS ",\"metrics\":%s", cases[i][0]);
		snprintf(text, sizeof text, "{\"type\":\"error\",\"text\":\"%s", cases[i][1]);
		join_with(&c, fields, text);
		client_close(&c);
	}
	atomic_store(&learner.stopped, true);
	pthread_join(learner.opening, NULL);
	assert_int_equal(learner.rc, SL_PENDING);
}
