/* Learners that die under the launcher: who is started again, who is not, and what is known of their rounds.
 */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "test/launch/launcher.h"
#include "test/lib/test.h"

static const char starling[] = STARLING_PATH, fake[] = FAKE_DAEMON_PATH;

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct launcher));
	launcher_open(*state, starling, fake);
	return 0;
}

static int teardown(void **state)
{
	launcher_close(*state);
	free(*state);
	return 0;
}

static void expect_restarts(const struct launcher *l, int restarts)
{
	json_t *summary = launcher_summary(l);
	assert_int_equal(json_integer_value(json_object_get(summary, "restarts")), restarts);
	json_decref(summary);
}

static void expect_none(const char *text, const char *part)
{
	if (strstr(text, part) != NULL)
		fail_msg("\"%s\" in:\n%s", part, text);
}

/* ---- started again ---- */

TEST_WITH(test_crash, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "2:crash:2", "-n 3 --rounds 3 --verify");
	expect_status(l, 0);
	expect_exact(l, "+++");
	expect_text(l->out, "learner-02 (2) was killed by SIGKILL in round 2; started again (2nd start)\n");
	expect_restarts(l, 1);
	assert_int_equal(launcher_alive(l, 3), 0);
	assert_int_equal(launcher_count(l, "pid"), 0);
}

TEST_WITH(test_end_before_the_end, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "2:quit:2", "-n 3 --rounds 3");
	expect_status(l, 0);
	expect_text(l->out, "learner-02 (2) ended with status 0 in round 2; started again (2nd start)\n");
	expect_restarts(l, 1);
}

TEST_WITH(test_kill_by_hand, setup, teardown)
{
	struct launcher *l = *state;
	launcher_start(l, "1:stall:2", -1, "-n 3 --rounds 2 --step-seconds 1");
	launcher_await(l, "out", "  same\n");
	launcher_kill(l, 3);
	launcher_await(
		l, "out",
		"learner-03 (3) was killed by SIGKILL "); /* in round 2 or, if it was quicker, after it */
	launcher_await(l, "out", "; started again (2nd start)");
	launcher_kill(l, 3);
	launcher_await(l, "out", "; starts again in 0.25 s (3rd start)");
	launcher_kill(l, 3);
	launcher_await(l, "out", "; starts again in 0.5 s (4th start)");
	kill(l->pid, SIGINT);
	launcher_wait(l);
	expect_status(l, 130);
	expect_text(l->out, "\nto continue: ./starling launch --resume run\n");
	assert_int_equal(launcher_alive(l, 3), 0);
}

/* ---- not started again ---- */

TEST_WITH(test_again_and_again, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "2:again:2", "-n 3 --rounds 3");
	expect_status(l, 1);
	expect_text(l->err,
		    "starling launch: learner-02 died 10 times within a minute: learner-02 (2) was killed by "
		    "SIGKILL in round 2\n");
	expect_text(l->out, "; starts again in 4 s (7th start)\n");
	expect_text(l->out, "; starts again in 5 s (10th start)\n");
	expect_restarts(l, 9);
	assert_int_equal(launcher_alive(l, 3), 0);
}

TEST_WITH(test_never_up, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "3:early", "-n 3 --rounds 3");
	expect_status(l, 1);
	expect_text(
		l->err,
		"learner-03 died 3 times before it was up: learner-03 (3) was killed by SIGKILL before it "
		"was up\n");
	expect_restarts(l, 2);
	assert_int_equal(launcher_alive(l, 2), 0);
}

TEST_WITH(test_configuration, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "1:usage", "-n 2 --rounds 2");
	expect_status(l, 1);
	expect_text(l->err, "learner-01 (1) ended with status 2 before it was up\nconfig.yaml:1:1: what");
	expect_none(l->out, "start)");
	expect_restarts(l, 0);
}

TEST_WITH(test_verdict_on_a_round, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "1:final:2", "-n 2 --rounds 3");
	expect_status(l, 1);
	expect_text(l->err,
		    "learner-01 (1) ended with status 1 in round 2: the model is above its clipping_range");
	expect_restarts(l, 0);
}

/* What it died of the first time is not what it dies of the second time. */
TEST_WITH(test_last_words_are_of_the_last_start, setup, teardown)
{
	struct launcher *l = *state;
	launcher_start(l, "2:die:2", -1, "-n 3 --rounds 3");
	launcher_await(
		l, "out",
		"learner-02 (2) ended with status 3 in round 2: the test wants this to end; started again");
	launcher_await(l, "out", "starts again in 0.5 s");
	kill(l->pid, SIGINT);
	launcher_wait(l);
	expect_none(l->out, "last words");
}

/* ---- what it did and did not say ---- */

TEST_WITH(test_commit_that_was_not_said, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "2:mute:2", "-n 3 --rounds 3 --verify --set hidden_units=1");
	expect_status(l, 0);
	expect_exact(l, "+++");
	expect_restarts(l, 1);
}

TEST_WITH(test_last_commit_that_was_not_said, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "2:mute:2", "-n 2 --rounds 2 --set hidden_units=1");
	expect_status(l, 0);
	expect_exact(l, "++");
}

TEST_WITH(test_last_encoding_counts, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "3:redo:2", "-n 3 --rounds 3 --verify");
	expect_status(l, 0);
	expect_exact(l, "+++");
	assert_int_equal(launcher_count(l, "encoding-"), 0);
}

/* ---- resumed ---- */

TEST_WITH(test_resume_of_no_run, setup, teardown)
{
	struct launcher *l = *state;
	launcher_folder(l, "empty");
	launcher_run_usual(l, "--resume empty");
	expect_status(l, 2);
	expect_text(l->err, "--resume empty: not a run folder (no schedule.txt in it); name the folder that");
}

TEST_WITH(test_resume_keeps_the_settings, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run_usual(l, "--resume run --seed 3");
	expect_status(l, 2);
	expect_text(l->err, "--resume and --seed: a resumed run keeps its settings");
}

TEST_WITH(test_resume_with_more_rounds, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, NULL, "-n 3 --rounds 2 --verify");
	expect_status(l, 0);
	launcher_run_usual(l, "--resume run");
	expect_status(l, 0);
	expect_text(l->out,
		    "all 2 rounds of run are committed: nothing to resume; add rounds with --rounds N");
	launcher_run_usual(l, "--resume run --rounds 4");
	expect_status(l, 0);
	expect_exact(l, "++");
	expect_text(l->out, "\nrounds 3 to 4 of 4, all exact");
	launcher_run_usual(l, "--resume run --rounds 3");
	expect_status(l, 2);
	expect_text(l->err, "--rounds 3: this run has 4 rounds, and they can only be raised");
}
