/* Kills at random moments, under the launcher: every round is exact, and the next commit is never far. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/cluster/cluster.h"
#include "test/lib/test.h"

#define COMMIT_S 30.0 /* after a kill, at most */

/* The run may be over before the last of them has come, or has been answered. */
static void expect_kills(const struct cluster *c, int asked)
{
	const json_t *chaos = json_object_get(c->summary, "chaos");
	double after = json_number_value(json_object_get(chaos, "commit_after_last_s"));
	double longest = json_number_value(json_object_get(chaos, "longest_s"));
	json_int_t kills = json_integer_value(json_object_get(chaos, "kills"));
	json_int_t restarts = json_integer_value(json_object_get(c->summary, "restarts"));
	print_message("%d kills; the next commit %.1f s after the last one, at most %.1f s after any\n",
		      (int)kills, after, longest);
	assert_true(kills >= asked - 1);
	assert_true(restarts >= kills - 1);
	assert_true(longest < COMMIT_S);
}

static void survive(uint32_t learners, int rounds, int kills, double seconds, const char *more)
{
	struct cluster c;
	char arguments[256];
	snprintf(arguments, sizeof arguments, "-n %u --rounds %d --chaos %d --verify --set hidden_units=1 %s",
		 learners, rounds, kills, more);
	print_message("%s\n", arguments);
	cluster_launch(&c, seconds, arguments);
	cluster_expect_exact(&c, (size_t)rounds, true);
	expect_kills(&c, kills);
	cluster_close(&c);
}

TEST(a_few_kills)
{
	survive(6, 8, 8, 120, "--set quorum=majority");
}

TEST_NIGHTLY(two_hundred_kills)
{
	survive(8, 200, 200, 1500, "");
}

TEST_NIGHTLY(two_hundred_kills_of_a_majority)
{
	survive(8, 200, 200, 1500, "--set quorum=majority --seed 2");
}

/* Several in every round, and a graph of pieces that move; a step that the privacy check refuses does not
 * stand for long. */
TEST_NIGHTLY(many_kills_in_a_round)
{
	survive(8, 20, 80, 900, "--set quorum=majority --seed 3");
	survive(10, 30, 30, 900, "--set quorum=majority --topology geometric:0.6 --step-seconds 5 --seed 4");
}

/* Processes that have nothing to do with it take all processors, while a learner starts and others wait for
 * it. */
TEST_NIGHTLY(restarts_under_load)
{
	pid_t busy[2];
	for (size_t i = 0; i < 2; i++)
		busy[i] = process_start(NULL, "/dev/null",
					(const char *const[]){"/bin/sh", "-c", "while :; do :; done", NULL});
	survive(8, 20, 20, 600, "--seed 5");
	for (size_t i = 0; i < 2; i++) {
		kill(busy[i], SIGKILL);
		process_wait(busy[i], 10);
	}
}

/* The launcher takes the daemon that lies beside it. */
static void put_together(const char *folder)
{
	struct outcome o;
	char command[2048], program[256];
	snprintf(command, sizeof command, "cp '%s' '%s/starling' && cp '%s' '%s/starlingd'",
		 process_starling(), folder, STARLINGD_TEST_PATH, folder);
	process_run(&o, NULL, 20, (const char *const[]){"/bin/sh", "-c", command, NULL});
	assert_int_equal(o.status, 0);
	snprintf(program, sizeof program, "%s/starling", folder);
	setenv("STARLING", program, 1);
}

/* All die behind PREPARED, before anybody has seen their Ready: it goes out when they are told again who is
 * in range. */
TEST(ready_goes_out_when_the_radio_speaks_again)
{
	struct cluster c;
	char folder[128];
	process_folder(folder, sizeof folder);
	put_together(folder);
	setenv("STARLING_CRASH", "after-prepared:2", 1);
	double from = process_now();
	cluster_launch(&c, 200, "-n 4 --rounds 2 --verify --set hidden_units=1");
	unsetenv("STARLING_CRASH");
	unsetenv("STARLING");
	cluster_expect_exact(&c, 2, true);
	assert_true(json_integer_value(json_object_get(c.summary, "restarts")) >= 4);
	assert_true(process_now() - from < COMMIT_S);
	cluster_close(&c);
	process_remove(folder);
}
