/* A copy of the records of a running learner, and what happens when it is restored in the middle of a round:
 * the learner sits the round out (GROUP.md §12.4 Disks that forget). */
#include <signal.h>

#include "test/lib/cluster.h"

#define N 4u
#define RESTORED 2u

static void back_up(const struct cluster *c, int status)
{
	struct outcome outcome;
	process_run(&outcome, c->folder,
		    (const char *const[]){STARLING_PATH, "backup", "--control", "run/learner-02/control.sock",
					  NULL});
	assert_int_equal(outcome.status, status);
	if (status == 0)
		expect_text(outcome.out, "state/backup\n");
	else
		expect_text(outcome.err, "starling backup: run/learner-02/control.sock: ");
}

CLUSTER_TEST(restored_in_mid_round)
{
	struct sl_error wrong;
	cluster_open(c, N, "rounds=100000 stall_timeout=4");
	cluster_start_all(c, "");
	cluster_expect_round(c, RESTORED, 2);
	back_up(c, 0);
	back_up(c, 0); /* in place of the first one */
	cluster_shell(c, "cd learner-02/state/backup; test \"$(stat -c %a . learner.db | tr '\\n' ' ')\" = "
			 "'700 600 '; "
			 "test $(ls | wc -l) -ge 3; ls result-*.safetensors; cp -a . ../../kept");
	uint32_t copied = cluster_last_round(c, RESTORED);
	cluster_expect_round(c, RESTORED, copied + 2);
	/* It dies when it has signed Ready, which the copy does not know. */
	cluster_end(c, RESTORED);
	cluster_start_failing(c, RESTORED, "ready-sent");
	assert_int_equal(cluster_wait(c, RESTORED), 128 + SIGKILL);
	cluster_shell(
		c,
		"cd learner-02; mv state old; cp -a kept state; cp -a old/trained-* state"); /* the test's */
	uint32_t before = cluster_last_round(c, 1);
	cluster_start(c, RESTORED, "");
	for (uint32_t i = 1; i <= N; i++)
		cluster_expect_round(c, i, before + 3);
	cluster_stop(c);
	cluster_look_exact(c, CLUSTER_BIT(RESTORED), &wrong);
	assert_string_equal(wrong.text, "");
	assert_int_equal(cluster_count(c, RESTORED, "\"event\":\"fatal\""), 0);
}

/* A copy that fails does not end the learner. */
CLUSTER_TEST(a_copy_that_fails)
{
	cluster_open(c, 3, "rounds=100000");
	cluster_start_all(c, "");
	cluster_expect_round(c, RESTORED, 1);
	cluster_shell(c, "mkdir -p learner-02/state/backup.new/folder");
	back_up(c, 1);
	assert_int_equal(cluster_count(c, RESTORED, "no backup: "), 1);
	cluster_shell(c, "rm -r learner-02/state/backup.new");
	back_up(c, 0);
	cluster_expect_round(c, RESTORED, cluster_last_round(c, RESTORED) + 1);
	cluster_stop(c);
}

static void play_start(struct cluster *c, int copied)
{
	cluster_start(c, 1, "");
	cluster_expect(c, 1, "the quorum is "); /* its start is over */
	cluster_signal(c, 1, SIGKILL);
	assert_int_equal(cluster_count(c, 1, "\"event\":\"copied\""), copied);
	cluster_shell(c, "rm learner-01/log.jsonl");
}

/* A learner says that its state folder is a copy until one start has said it and is not killed at once. */
CLUSTER_TEST(a_copied_folder_is_not_silent)
{
	cluster_open(c, 3, "rounds=1");
	play_start(c, 0);
	cluster_shell(c, "cd learner-01/state; cp has-records copy; mv copy has-records");
	cluster_start_failing(c, 1, "before-own-mark");
	assert_int_equal(cluster_wait(c, 1), 128 + SIGKILL);
	assert_int_equal(cluster_count(c, 1, "\"event\":\"copied\""), 1);
	cluster_shell(c, "rm learner-01/log.jsonl");
	play_start(c, 1);
	play_start(c, 0);
}
