#include "test/application/learner.h"

#include <jansson.h>
#include <math.h>
#include <sodium/core.h>
#include <stdio.h>
#include <string.h>

#include "test/lib/folder.h"

struct learner learner;

const char *socket_path(const char *folder)
{
	return folder_path(folder, "a.sock");
}

void join_with(struct client *c, const char *fields, const char *answer)
{
	char line[1024];
	snprintf(line, sizeof line, "{\"type\":\"join\",\"version\":1,%s}", fields);
	client_open(c, learner.settings.application);
	client_tell(c, line);
	client_hear(c, answer);
}

static void say(void *context, enum sl_level level, const char *text)
{
	size_t used = strlen(learner.said);
	(void)context;
	snprintf(learner.said + used, sizeof learner.said - used, "%s%s; ",
		 level == SL_WARN ? "warning: " : "", text);
}

static void restart(void *context)
{
	(void)context;
	atomic_fetch_add(&learner.restarts, 1);
}

static void stop_after(void *context, sl_round round)
{
	(void)context;
	atomic_store(&learner.last, round);
}

static bool is_stopped(void *context)
{
	(void)context;
	return atomic_load(&learner.stopped);
}

static void count_failure(void *context)
{
	(void)context;
	learner.failures++;
}

void learner_init(const char *folder)
{
	learner = (struct learner){.settings = {.id = 3,
						.rounds = 2,
						.run = "ward",
						.decimals = 4,
						.clipping_range = 16,
						.weighting = SL_WEIGHTING_SAMPLES,
						.max_weight = 100}};
	strcpy(learner.members[1].name, "clinic-c");
	learner.roster = (struct sl_roster){.members = learner.members, .size = 2};
	snprintf(learner.settings.application, sizeof learner.settings.application, "%s",
		 socket_path(folder));
	snprintf(learner.settings.state, sizeof learner.settings.state, "%s", folder);
	learner.config = (struct sl_application_config){.settings = &learner.settings,
							.roster = &learner.roster,
							.self = 1,
							.say = say,
							.restart = restart,
							.stop = stop_after,
							.failed = count_failure,
							.stopped = is_stopped,
							.wake = -1};
}

static void *open_learner(void *argument)
{
	(void)argument;
	assert_true(sodium_init() >= 0);
	learner.rc = sl_application_open(&learner.config, &learner.trainer, &learner.error);
	return NULL;
}

void learner_open_begin(void)
{
	pthread_create(&learner.opening, NULL, open_learner, NULL);
}

void learner_open_end(void)
{
	pthread_join(learner.opening, NULL);
	if (learner.rc != SL_OK)
		fail_msg("not opened: %s", learner.error.text);
	assert_int_equal(sl_application_serve(learner.trainer, NULL), SL_OK);
}

void learner_open(void)
{
	learner_open_begin();
	learner_open_end();
}

void learner_begin(struct client *c, const char *folder)
{
	learner_init(folder);
	learner_open_begin();
	client_open(c, socket_path(folder));
	client_tell(c, JOIN);
	client_hear(c,
		    "{\"type\":\"joined\",\"version\":1,\"learner\":3,\"name\":\"clinic-c\",\"learners\":2,"
		    "\"rounds\":2,\"elements\":5,\"bytes\":20,\"clipping_range\":16.0,\"decimals\":4,"
		    "\"weighted\":true,\"averages_metrics\":");
	learner_open_end();
	assert_int_equal(learner.trainer->ops->parameters(learner.trainer), N);
}

void learner_close(void)
{
	json_decref(learner.result.metrics);
	learner.result.metrics = NULL;
	learner.trainer->ops->close(learner.trainer);
}

void learner_end(struct client *c)
{
	client_close(c);
	learner_close();
}

static void *train(void *argument)
{
	(void)argument;
	learner.rc = learner.trainer->ops->train(learner.trainer, &learner.request, learner.model,
						 &learner.result, &learner.error);
	return NULL;
}

void train_begin(sl_round round, bool again)
{
	json_decref(learner.result.metrics);
	learner.result.metrics = NULL;
	learner.request = (struct sl_training_request){
		.round = round, .stop = &learner.stop, .progress = &learner.progress, .again = again};
	pthread_create(&learner.training, NULL, train, NULL);
}

void train_end(float first, uint64_t weight)
{
	pthread_join(learner.training, NULL);
	if (learner.rc != SL_OK)
		fail_msg("not trained: %s", learner.error.text);
	assert_true(learner.model[0] == first);
	assert_int_equal(learner.result.samples, weight);
}

void train_ask(struct client *c)
{
	train_begin(1, false);
	client_hear(c, "{\"type\":\"train\"");
}

void train_once(struct client *c)
{
	train_ask(c);
	client_tell(c, "{\"type\":\"trained\",\"round\":1}");
	train_end(0, 1);
}

void show(sl_round round, float value)
{
	float model[N] = {value, value, value, value, value};
	learner.trainer->ops->show(learner.trainer,
				   &(struct sl_trainer_commit){round, 2, 70, 3, 4, 16, 0, NAN}, model);
}
