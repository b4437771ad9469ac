/* Kills at random moments, under the launcher: every round is exact. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "test/lib/cluster.h"

/* The run may be over before the last kill has come, or has been answered by a restart. */
static void expect_kills(const struct cluster *c, int asked)
{
	const json_t *chaos = json_object_get(c->summary, "chaos");
	double longest = json_number_value(json_object_get(chaos, "longest_s"));
	json_int_t kills = json_integer_value(json_object_get(chaos, "kills"));
	json_int_t restarts = json_integer_value(json_object_get(c->summary, "restarts"));
	print_message("%d kills; the next commit at most %.1f s after any\n", (int)kills, longest);
	assert_true(kills >= asked - 1);
	assert_true(restarts >= kills - 1);
}

static void survive(int learners, int rounds, int kills, const char *more)
{
	struct cluster *c = cluster_new();
	char arguments[256];
	snprintf(arguments, sizeof arguments, "-n %d --rounds %d --chaos %d --verify --set hidden_units=1 %s",
		 learners, rounds, kills, more);
	print_message("%s\n", arguments);
	cluster_launch(c, arguments);
	cluster_expect_rounds(c, (size_t)rounds, true);
	expect_kills(c, kills);
	cluster_free(c, true);
}

TEST(a_few_kills)
{
	survive(6, 8, 8, "--set quorum=majority");
	survive(6, 6, 4, "");
}

TEST_NIGHTLY(two_hundred_kills)
{
	survive(8, 200, 200, "");
}

TEST_NIGHTLY(two_hundred_kills_of_a_majority)
{
	survive(8, 200, 200, "--set quorum=majority --seed 2");
}

/* Several in every round, and a graph of pieces that move; a step that the privacy check refuses does not
 * stand for long. */
TEST_NIGHTLY(many_kills_in_a_round)
{
	survive(8, 20, 80, "--set quorum=majority --seed 3");
	survive(10, 30, 30, "--set quorum=majority --topology geometric:0.6 --step-seconds 5 --seed 4");
}

/* Other processes take all processors, while a learner starts and the rest wait for it. */
TEST_NIGHTLY(restarts_under_load)
{
	pid_t busy[2];
	for (size_t i = 0; i < 2; i++)
		busy[i] = process_start(NULL, "/dev/null", "/dev/null",
					(const char *const[]){"/bin/sh", "-c", "while :; do :; done", NULL});
	survive(8, 20, 20, "--seed 5");
	for (size_t i = 0; i < 2; i++) {
		kill(busy[i], SIGKILL);
		process_wait(busy[i]);
	}
}

/* All die behind PREPARED, before any has seen their Ready: it is sent when they are told their neighbours
 * again. */
CLUSTER_TEST(ready_is_sent_after_a_restart)
{
	cluster_copy_programs(c, STARLINGD_TEST_PATH);
	setenv("STARLING_CRASH", "after-prepared:2", 1);
	cluster_launch_start(c, "-n 4 --rounds 2 --verify --set hidden_units=1");
	unsetenv("STARLING_CRASH");
	cluster_launch_wait(c);
	cluster_expect_rounds(c, 2, true);
	assert_true(json_integer_value(json_object_get(c->summary, "restarts")) >= 4);
}
