/* A learner dies in the middle of a round and comes back with an emptied state folder: its peers remind it of
 * what it has signed, and nothing that it says then contradicts that (GROUP.md §12.4 Disks that forget).
 */
#include <signal.h>

#include "test/lib/cluster.h"

#define N 4u
#define FORGETS 2u
#define ROUNDS 3u /* more, of all learners, after it has come back */

static struct cluster *begin(const char *settings, const char *failpoint)
{
	struct cluster *c = cluster_new();
	cluster_open(c, N, settings);
	for (uint32_t i = 1; i <= N; i++)
		if (i == FORGETS)
			cluster_start_failing(c, i, failpoint);
		else
			cluster_start(c, i, "");
	return c;
}

/* All but learner `out` have ROUNDS more rounds than `last`. */
static void expect_rounds(const struct cluster *c, uint32_t last, uint32_t out)
{
	for (uint32_t i = 1; i <= N; i++) {
		double until = process_now() + PATIENCE_S;
		while (i != out && cluster_last_round(c, i) < last + ROUNDS && process_now() < until)
			process_look_again();
		assert_true(i == out || cluster_last_round(c, i) >= last + ROUNDS);
	}
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
	cluster_look_exact(c, UINT64_C(1) << (FORGETS - 1), &wrong);
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
