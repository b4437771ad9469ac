/* Runs of the launcher with fake daemons that do not go to their end at once: interrupted, stopped, with
 * learners that are killed or waited for, and resumed. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "test/launch/fakes.h"

CLUSTER_TEST(interrupt_deletes_models)
{
	fake_start(c, "1:stall:2", "-n 3 --rounds 2 --verify");
	fake_await(c, "out", "  exact\n");
	fake_await(c, "run/learner-02/log.jsonl", "\"round\":2");
	fake_await(c, "run/learner-02/state/trained-000002.model", "");
	fake_interrupt(c);
	assert_string_equal(json_string_value(json_object_get(c->summary, "error")), "interrupted");
	assert_int_equal(fake_count_files(c, "trained-"), 0);
}

/* `starling stop` ends the launcher, which would start its learners again; the rounds so far are the same. */
CLUSTER_TEST(stopped_by_command)
{
	struct outcome o;
	fake_start(c, "1:stall:2", "-n 3 --rounds 2");
	fake_await(c, "out", "  same\n");
	/* a learner that hangs is noticed as soon as by default */
	assert_int_equal(process_count(cluster_path(c, 0, "run/roster.yaml"), "stall_timeout", NULL), 0);
	process_run(&o, c->folder, (const char *const[]){"./starling", "status", "run", NULL});
	assert_int_equal(o.status, 0); /* these learners tell little */
	expect_text(o.out, "3 learners: 3 making progress");
	process_run(&o, c->folder, (const char *const[]){"./starling", "stop", "run", NULL});
	cluster_launch_wait(c);
	assert_string_equal(o.out, "launcher and its learners: ended\n");
	assert_int_equal(o.status, 0);
	assert_int_equal(c->outcome.status, 130);
	fake_expect_exact(c, "+");
	assert_true(json_is_false(json_object_get(c->summary, "complete")));
	process_run(&o, c->folder, (const char *const[]){"./starling", "stop", "run", NULL});
	assert_string_equal(o.out,
			    "learner-01: is not running\nlearner-02: is not running\nlearner-03: is not "
			    "running\n");
}

CLUSTER_TEST(models_that_cannot_be_deleted)
{
	fake_start(c, "1:stall:1", "-n 2 --rounds 100000 --verify");
	fake_await(c, "out", "learners are up");
	fake_make_folder(c, "run/learner-02/state/trained-100000.model"); /* unlink fails for a folder */
	fake_interrupt(c);
	expect_text(c->outcome.err, "starling launch: a secret model could not be deleted: ");
}

CLUSTER_TEST(second_interrupt_kills)
{
	cluster_schedule(c, "learners 2\nstep\nstep 1-2\n");
	fake_start(c, "2:linger", "--rounds 2 --topology s.txt");
	fake_await(c, "out", "learners are up");
	kill(c->launcher, SIGINT);
	fake_await(c, "run/learner-02/stderr.txt", "does not hear");
	fake_interrupt(c);
}

CLUSTER_TEST(killed_child_ends_a_run_without_restarts)
{
	fake_start(c, "1:stall:1", "-n 2 --rounds 2 --no-restart");
	fake_await(c, "out", "learners are up");
	cluster_kill(c, 2);
	cluster_launch_wait(c);
	expect_outcome(c, 1, "", "learner-02 (2) was killed by SIGKILL ");
	fake_expect_nothing_left(c);
}

/* A machine under load may need any time: the launcher says what it waits for, and fails only if the process
 * has ended. */
CLUSTER_TEST(a_learner_that_is_not_up_is_waited_for)
{
	fake_start(c, "2:hidden", "-n 3 --rounds 2");
	fake_await(c, "out", "1 learner: no answer on the control socket yet; learner-02 (2), process ");
	process_write(cluster_path(c, 0, "run/shown"), "");
	cluster_launch_wait(c);
	expect_outcome(c, 0, "", "");
	fake_expect_exact(c, "++");
}

CLUSTER_TEST(a_learner_that_ends_before_it_is_up_ends_the_run)
{
	fake_start(c, "2:hidden", "-n 3 --rounds 2 --no-restart");
	cluster_kill(c, 2);
	cluster_launch_wait(c);
	expect_outcome(c, 1, "", "learner-02 (2) was killed by SIGKILL before it was up");
}

CLUSTER_TEST(pauses_before_restarts_grow)
{
	fake_start(c, "1:stall:2", "-n 3 --rounds 2 --step-seconds 1");
	fake_await(c, "out", "  same\n");
	cluster_kill(c, 1);
	fake_await(c, "out", "learner-01 (1) was killed by SIGKILL in round 2; started again (2nd start)");
	cluster_kill(c, 1);
	fake_await(c, "out", "; starts again in 0.25 s (3rd start)");
	cluster_kill(c, 1);
	fake_await(c, "out", "; starts again in 0.5 s (4th start)");
	fake_interrupt(c);
}

/* The cause of the first death is not given for the second. */
CLUSTER_TEST(last_words_are_of_the_last_start)
{
	fake_start(c, "2:die:2", "-n 3 --rounds 3");
	fake_await(
		c, "out",
		"learner-02 (2) ended with status 3 in round 2: the test wants this to end; started again");
	fake_await(c, "out", "starts again in 0.5 s");
	fake_interrupt(c);
	assert_null(strstr(c->outcome.out, "last words"));
}

/* The log tells of a wait when it begins, and the status when it is over. */
CLUSTER_TEST(a_wait_that_is_over_is_not_said)
{
	fake_start(c, "2:disk:2", "-n 3 --rounds 2 --step-seconds 5");
	cluster_launch_wait(c);
	expect_outcome(c, 1, "", "no round committed in 3 steps");
	assert_null(strstr(c->outcome.out, "waiting for its disk"));
}

CLUSTER_TEST(a_wait_for_a_lost_learner_is_said)
{
	fake_start(c, "2:lost:2", "-n 3 --rounds 3");
	fake_await(c, "out", "of learner-03 (3). If none ever will:\n");
	fake_await(c, "out", "  ./starling abort --round 2 --run run\n");
	fake_interrupt(c);
}

/* The sentence of the wait has the reason of the last attempt already. */
CLUSTER_TEST(an_obstacle_is_said_once)
{
	fake_start(c, "2:stuck:2", "-n 3 --rounds 3");
	fake_await(c, "out", "learner-02 (2): waiting for a change: too few: start more\n");
	fake_interrupt(c);
	assert_null(strstr(c->outcome.out, "the last attempt failed"));
}

/* ---- resumed ---- */

CLUSTER_TEST(resume_with_more_rounds)
{
	fake_run(c, NULL, "-n 3 --rounds 2 --verify");
	expect_outcome(c, 0, "", "");
	fake_run(c, NULL, "--resume run");
	expect_outcome(
		c, 0, "all 2 rounds of run are committed: nothing to resume; add rounds with --rounds N", "");
	fake_run(c, NULL, "--resume run --rounds 4");
	expect_outcome(c, 0, "\nrounds 3 to 4 of 4, all exact; MSE of these rounds 0.166667 -> 0.125000\n",
		       "");
	fake_expect_exact(c, "++");
	fake_run(c, NULL, "--resume run --rounds 3");
	expect_outcome(c, 2, "", "--rounds 3: this run has 4 rounds, and they can only be raised");
	fake_run(c, NULL, "--resume run --seed 3");
	expect_outcome(c, 2, "", "--resume and --seed: a resumed run keeps its settings");
	fake_run(c, NULL, "--resume run --set dp_epsilon=9");
	expect_outcome(c, 2, "", "such as dp_epsilon, in run/roster.yaml, and resume without --set");
	fake_run(c, NULL, "-n 2 --rounds 1");
	expect_outcome(c, 2, "", "run: exists and is not an empty folder");
	fake_make_folder(c, "empty");
	fake_run(c, NULL, "--resume empty");
	expect_outcome(c, 2, "",
		       "--resume empty: not a run folder (no schedule.txt in it); name the folder that");
}
