/* A learner dies in the middle of a round and comes back with an emptied state folder: its peers remind it of
 * what it has signed, and nothing that it says then contradicts that (GROUP.md §12.4 Disks that forget).
 */
#include <signal.h>
#include <string.h>

#include "test/lib/cluster.h"

#define N 4u
#define FORGETS 2u
#define ROUNDS 3u /* more, of all learners, after it has come back */

/* All but learner `out` have `round`. */
static void expect_round(const struct cluster *c, uint32_t round, uint32_t out)
{
	for (uint32_t i = 1; i <= N; i++)
		if (i != out)
			cluster_expect_round(c, i, round);
}

/* Where three are a quorum, they have a round before the fourth starts: the one that forgets is then in views
 * of four, so that the others can end the round without it. */
static struct cluster *begin(const char *settings, const char *failpoint)
{
	struct cluster *c = cluster_new();
	cluster_open(c, N, settings);
	for (uint32_t i = 1; i <= N; i++)
		if (i != FORGETS)
			cluster_start(c, i, "");
	if (strstr(settings, "quorum=majority") != NULL)
		expect_round(c, 1, FORGETS);
	cluster_start_failing(c, FORGETS, failpoint);
	return c;
}

/* All but learner `out` have ROUNDS more rounds than `last`. */
static void expect_rounds(const struct cluster *c, uint32_t last, uint32_t out)
{
	expect_round(c, last + ROUNDS, out);
}

/* alone: the others go on before the learner has come back. */
static void end(struct cluster *c, bool alone)
{
	struct sl_error wrong;
	assert_int_equal(cluster_wait(c, FORGETS), 128 + SIGKILL);
	cluster_shell(
		c,
		"cd learner-02; mv state old; mkdir -m 700 state; mv old/trained-* state"); /* these are the
											       test's */
	if (alone)
		expect_rounds(c, cluster_last_round(c, 1), FORGETS);
	uint32_t last = cluster_last_round(c, 1);
	cluster_start(c, FORGETS, "");
	expect_rounds(c, last, 0);
	cluster_stop(c);
	cluster_look_exact(c, CLUSTER_BIT(FORGETS), &wrong);
	assert_string_equal(wrong.text, "");
	cluster_free(c, true);
}

#define SETTINGS "rounds=100000 stall_timeout=4 "

TEST(an_emptied_folder)
{
	static const char *const places[] = {"shares-sent:3", "ready-sent:3", "after-released:3",
					     "digest-sent:3"};
	struct cluster *clusters[4];
	for (int k = 0; k < 4; k++)
		clusters[k] =
			begin(k % 2 == 0 ? SETTINGS "quorum=all" : SETTINGS "quorum=majority", places[k]);
	for (int k = 0; k < 4; k++) {
		print_message("%s\n", places[k]);
		end(clusters[k], false);
	}
}

/* What it has signed does not count for what the others commit: one more digest and one more Abort are
 * needed. */
TEST(an_emptied_folder_of_a_forgetful_group)
{
	static const char *const places[] = {"shares-sent:3", "ready-sent:3", "after-released:3",
					     "digest-sent:3"};
	struct cluster *clusters[4];
	for (int k = 0; k < 4; k++)
		clusters[k] = begin(SETTINGS "forgetful=yes quorum=majority", places[k]);
	for (int k = 0; k < 4; k++) {
		print_message("%s\n", places[k]);
		end(clusters[k], true);
	}
}

/* A learner that waits writes nothing, and the files that it has open still serve it: it ends all the same,
 * since no command finds it any more. */
TEST(a_folder_is_deleted_while_it_runs)
{
	struct cluster *c = cluster_new();
	cluster_open(c, N, SETTINGS "quorum=majority");
	cluster_start(c, FORGETS, "");
	cluster_expect(c, FORGETS, "\"event\":\"waiting\"");
	cluster_shell(c, "rm -r learner-02/state");
	assert_int_equal(cluster_wait(c, FORGETS), 1);
	cluster_expect(c, FORGETS, "its state folder was deleted; start it again");
	cluster_start_all(c, "");
	expect_rounds(c, 0, 0);
	cluster_stop(c);
	cluster_free(c, true);
}

/* ---- an older state comes back ---- */

static void set_back(struct cluster *c, uint32_t i)
{
	char command[256];
	snprintf(command, sizeof command,
		 "cd learner-%02u; mv state newer; mv older state; cp newer/trained-* state", i);
	cluster_shell(c, command);
}

static void copy_state(struct cluster *c, uint32_t i)
{
	char command[128];
	snprintf(command, sizeof command, "cp -r learner-%02u/state learner-%02u/older", i, i);
	cluster_signal(c, i, SIGKILL);
	cluster_shell(c, command);
}

/* A copy of some rounds ago is started when the newer one has died in the middle of a round. */
TEST(an_older_folder)
{
	static const char *const places[] = {"shares-sent:8", "ready-sent:8", "after-released:8",
					     "digest-sent:8"};
	struct cluster *clusters[4];
	struct sl_error wrong;
	for (int k = 0; k < 4; k++) {
		struct cluster *c = clusters[k] = cluster_new();
		cluster_open(c, N, k % 2 == 0 ? SETTINGS "quorum=all" : SETTINGS "quorum=majority");
		cluster_start_all(c, "");
		expect_rounds(c, 0, 0);
		copy_state(c, FORGETS);
		cluster_start_failing(c, FORGETS, places[k]);
	}
	for (int k = 0; k < 4; k++) {
		struct cluster *c = clusters[k];
		print_message("%s\n", places[k]);
		assert_int_equal(cluster_wait(c, FORGETS), 128 + SIGKILL);
		set_back(c, FORGETS);
		uint32_t last = cluster_last_round(c, 1);
		cluster_start(c, FORGETS, "");
		expect_rounds(c, last, 0);
		assert_int_equal(cluster_count(c, FORGETS, "the state folder is a copy"), 1);
		cluster_stop(c);
		cluster_look_exact(c, CLUSTER_BIT(FORGETS), &wrong);
		assert_string_equal(wrong.text, "");
		for (uint32_t i = 1; i <= N; i++)
			assert_int_equal(cluster_count(c, i, "runs at two places"), 0);
		cluster_free(c, true);
	}
}

/* No learner knows better: they go on from the round of the copies, and agree on others than before. */
CLUSTER_TEST(all_are_set_back)
{
	cluster_open(c, N, SETTINGS "quorum=majority");
	cluster_start_all(c, "");
	expect_rounds(c, 0, 0);
	for (uint32_t i = 1; i <= N; i++)
		copy_state(c, i);
	cluster_shell(c, "for i in 1 2 3 4; do cp learner-0$i/log.jsonl learner-0$i/older.jsonl; done");
	cluster_start_all(c, "");
	expect_rounds(c, 3, 0);
	for (uint32_t i = 1; i <= N; i++)
		cluster_signal(c, i, SIGKILL);
	for (uint32_t i = 1; i <= N; i++)
		set_back(c, i);
	cluster_shell(c, "for i in 1 2 3 4; do mv learner-0$i/older.jsonl learner-0$i/log.jsonl; done");
	cluster_start_all(c, "");
	expect_rounds(c, 3, 0);
	cluster_stop(c);
	assert_true(cluster_expect_exact(c) > 0);
}
