/* Real learners with applications, one of which is lost together with its learner: the round goes on with the
 * vector in the state folder. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "test/application/client.h"
#include "test/lib/cluster.h"

#define LEARNERS 3u
#define JOIN                                                                                                 \
	"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[1000]}],\"values\":"       \
	"\"update\"}"

static const char *file_of(const struct cluster *c, uint32_t i, const char *name)
{
	char file[64];
	snprintf(file, sizeof file, "state/%s", name);
	return cluster_path(c, i, file);
}

static bool is_there(const struct cluster *c, uint32_t i, const char *name)
{
	struct stat st;
	return stat(file_of(c, i, name), &st) == 0;
}

static void join(struct client *client, const struct cluster *c, uint32_t i)
{
	client_join(client, file_of(c, i, "application.sock"), JOIN);
}

static void give(struct client *client, uint32_t i, uint32_t round)
{
	char line[128];
	snprintf(line, sizeof line, "{\"type\":\"train\",\"round\":%u,", round);
	client_hear(client, line);
	for (uint32_t j = 0; j < 1000; j++)
		client->up[j] = (float)(i * j * round) / 1000;
	snprintf(line, sizeof line, "{\"type\":\"trained\",\"round\":%u,\"weight\":7}", round);
	client_tell(client, line);
}

/* Learner 2 is killed at each place of round 1, one after the other, and its application comes back in round
 * 2 only. */
static void go_on_without(struct cluster *c, const char *settings, const char *values)
{
	static const char *const places[] = {
		"after-trained-file", "link-state-sent", "shares-sent",		"after-prepared",
		"ready-sent",	      "after-released",	 "before-commit-files", "between-files-and-row",
		"after-commit-row",
	};
	struct client clients[LEARNERS];
	char all[256];
	snprintf(all, sizeof all, "trainer=application rounds=2 serve_after_end=2 stall_timeout=60 %s",
		 settings);
	cluster_open(c, LEARNERS, all);
	for (uint32_t i = 1; i <= LEARNERS; i++) {
		cluster_start_failing(c, i, i == 2 ? places[0] : "");
		join(&clients[i - 1], c, i);
		give(&clients[i - 1], i, 1);
	}
	client_hear(&clients[1], NULL);
	client_close(&clients[1]);
	for (size_t place = 0; place < sizeof places / sizeof *places; place++) {
		if (place > 0)
			cluster_start_failing(c, 2, places[place]);
		assert_int_equal(cluster_wait(c, 2), 128 + SIGKILL);
		if (!is_there(c, 2, "trained.safetensors"))
			fail_msg("%s: the vector is gone", places[place]);
	}
	cluster_start(c, 2, "");
	cluster_expect(c, 2, "trained.safetensors is not used, and removed: it is of round 1");
	cluster_expect(c, 2, "round 2: waiting for an application on ");
	assert_false(is_there(c, 2, "trained.safetensors"));
	join(&clients[1], c, 2);
	for (uint32_t i = 1; i <= LEARNERS; i++) {
		if (i != 2)
			client_hear(&clients[i - 1], "{\"type\":\"mean\",\"round\":1,");
		give(&clients[i - 1], i, 2);
	}
	for (uint32_t i = 1; i <= LEARNERS; i++) {
		client_hear(&clients[i - 1], "{\"type\":\"mean\",\"round\":2,");
		client_hear(&clients[i - 1], "{\"type\":\"done\"}");
		assert_false(is_there(c, i, "trained.safetensors"));
		client_close(&clients[i - 1]);
	}
	cluster_finish(c);
	cluster_expect_all(c, values);
	assert_true(cluster_count(c, 2, "going on with the vector in ") >= 1);
	assert_int_equal(cluster_count(c, 2, "has joined"), 2);
}

CLUSTER_TEST(a_round_goes_on_without_its_application)
{
	go_on_without(c, "decimals=4 clipping_range=16", "\"values\":\"model\"");
	assert_int_equal(cluster_expect_exact(c), 2);
}

/* What the application has asked for is known without it: from the vector, then from the result. */
CLUSTER_TEST(updates_go_on_without_their_application)
{
	go_on_without(c, "values=auto", "\"values\":\"update\"");
}

/* The program of learner 1 had a mistake when it joined first, and gave a vector: nothing is bound to it. The
 * initial model of the second has other tensors, too. */
CLUSTER_TEST(a_corrected_program_may_join)
{
	struct client clients[LEARNERS];
	cluster_open(c, LEARNERS, "trainer=application rounds=1 serve_after_end=1");
	cluster_start_all(c, "");
	for (int mistakes = 1; mistakes <= 2; mistakes++) {
		client_join(&clients[0], file_of(c, 1, "application.sock"),
			    mistakes == 1 ? "{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\","
					    "\"shape\":[3]}]}"
					  : "{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"u\","
					    "\"shape\":[1000]}]}");
		client_hear(&clients[0], "{\"type\":\"train\",\"round\":1,");
		client_tell(&clients[0], "{\"type\":\"trained\",\"round\":1}");
		cluster_expect(c, 1, "\"event\":\"trained\"");
		client_close(&clients[0]);
		client_open(&clients[0], file_of(c, 1, "application.sock"));
		client_tell(&clients[0], mistakes == 2 ? JOIN
						       : "{\"type\":\"join\",\"version\":1,\"tensors\":[{"
							 "\"name\":\"v\",\"shape\":[4]}]}");
		client_hear(&clients[0], NULL);
		client_close(&clients[0]);
		double end = process_now() + PATIENCE_S;
		while (cluster_count(c, 1, "waiting for an application on ") < mistakes + 1 &&
		       process_now() < end)
			process_look_again();
	}
	for (uint32_t i = 1; i <= LEARNERS; i++) {
		join(&clients[i - 1], c, i);
		give(&clients[i - 1], i, 1);
	}
	for (uint32_t i = 1; i <= LEARNERS; i++) {
		client_hear(&clients[i - 1], "{\"type\":\"mean\",\"round\":1,");
		client_hear(&clients[i - 1], "{\"type\":\"done\"}");
		client_close(&clients[i - 1]);
	}
	cluster_finish(c);
}

/* The applications have agreed that the first of twenty rounds is the last one. */
CLUSTER_TEST(applications_may_end_the_run)
{
	struct client clients[LEARNERS];
	cluster_open(c, LEARNERS, "trainer=application rounds=20 serve_after_end=600");
	cluster_start_all(c, "");
	for (uint32_t i = 1; i <= LEARNERS; i++) {
		join(&clients[i - 1], c, i);
		give(&clients[i - 1], i, 1);
	}
	for (uint32_t i = 1; i <= LEARNERS; i++) {
		client_hear(&clients[i - 1], "{\"type\":\"mean\",\"round\":1,");
		client_hear(&clients[i - 1], "{\"type\":\"train\",\"round\":2,");
		client_tell(&clients[i - 1], "{\"type\":\"stop\",\"round\":1}");
		client_hear(&clients[i - 1], "{\"type\":\"done\"}");
		client_close(&clients[i - 1]);
	}
	cluster_finish(c);
	cluster_expect_all(c, "round 1 was the last one: the applications have agreed to stop");
	assert_int_equal(cluster_count(c, 1, "\"event\":\"committed\""), 1);
}

#define JOIN_DTYPES                                                                                          \
	"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"d\",\"shape\":[2],\"dtype\":\"float64\"}" \
	",{\"name\":"                                                                                        \
	"\"i\",\"shape\":[],\"dtype\":\"int64\"},{\"name\":\"f\",\"shape\":[3]}],\"metrics\":[\"loss\","     \
	"\"accuracy\"]}"

/* Weighted means of every dtype, and of metrics: learner i has the weight i, and i/4 everywhere. */
CLUSTER_TEST(every_dtype_and_metrics_are_averaged)
{
	struct client clients[LEARNERS];
	char line[256];
	cluster_open(
		c, LEARNERS,
		"trainer=application rounds=1 decimals=4 clipping_range=16 weighting=samples max_weight=10 "
		"metrics=aggregate serve_after_end=1");
	cluster_start_all(c, "");
	for (uint32_t i = 1; i <= LEARNERS; i++) {
		struct client *client = &clients[i - 1];
		client_join(client, file_of(c, i, "application.sock"), JOIN_DTYPES);
		client_hear(client, "{\"type\":\"train\"");
		double *d = (double *)client->up;
		d[0] = d[1] = i / 4.0;
		((int64_t *)client->up)[2] = 1000 * i + 3;
		client->up[6] = client->up[7] = client->up[8] = (float)i / 4;
		snprintf(line, sizeof line,
			 "{\"type\":\"trained\",\"round\":1,\"weight\":%u,\"metrics\":{\"accuracy\":%g,"
			 "\"loss\":%g}}",
			 i, i / 4.0, 3.0 * i);
		client_tell(client, line);
	}
	for (uint32_t i = 1; i <= LEARNERS; i++) { /* (1 + 4 + 9) / 6 is 7/3 */
		struct client *client = &clients[i - 1];
		client_hear(
			client,
			"{\"type\":\"mean\",\"round\":1,\"learners\":3,\"total_weight\":6,\"cut\":0,"
			"\"decimals\":4,"
			"\"clipping_range\":16.0,\"metrics\":{\"loss\":7.0,\"accuracy\":0.583333333333333");
		const double *d = (const double *)client->down;
		assert_true(d[0] == 7.0 / 12 && d[1] == 7.0 / 12);
		assert_int_equal(((const int64_t *)client->down)[2], 2336); /* 2333 1/3 + 3 */
		assert_true(client->down[6] == (float)(7.0 / 12) && client->down[8] == client->down[6]);
		client_close(client);
	}
	cluster_finish(c);
	cluster_expect_all(c, "\"metrics\":{\"accuracy\":");
}

/* Before its first application, a learner can be told to end. */
CLUSTER_TEST(a_learner_that_waits_for_its_application_ends_on_a_signal)
{
	cluster_open(c, LEARNERS, "values=auto trainer=application");
	for (int number = SIGINT; number != 0; number = number == SIGINT ? SIGTERM : 0) {
		cluster_start(c, 1, "");
		cluster_expect(c, 1, "waiting for an application on ");
		assert_true(is_there(c, 1, "application.sock"));
		cluster_signal(c, 1, number);
		assert_int_equal(cluster_wait(c, 1), 0);
		assert_false(is_there(c, 1, "application.sock"));
		cluster_shell(c,
			      number == SIGINT
				      ? "grep -q interrupted learner-01/log.jsonl && rm learner-01/log.jsonl"
				      : "grep -q terminated learner-01/log.jsonl");
	}
}
