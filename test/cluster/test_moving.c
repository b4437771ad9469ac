/* Graphs that move: disconnected steps, graphs that the privacy check refuses, learners that are left out and
 * come back. */
#include "test/lib/cluster.h"

/* Every step another graph: two are disconnected, one is a star, one a line. */
static const char moving[] = "learners 6\n"
			     "step 1-2 2-3 3-4 4-5 5-6 1-6\n"
			     "step 1-2 2-3 1-3 4-5 5-6 4-6\n"
			     "step 1-2 1-3 1-4 1-5 1-6\n"
			     "step 1-2 2-3 3-4 4-5 5-6\n"
			     "step 1-2 2-3 3-4 4-5 5-6 1-6 1-4 2-5 3-6\n"
			     "step 1-2 3-4 5-6\n"
			     "step 1-2 1-3 1-4 1-5 1-6 2-3 3-4 4-5 5-6 2-6\n";

static void play(struct cluster *c, const char *schedule, const char *arguments, size_t rounds)
{
	cluster_schedule(c, schedule);
	cluster_launch(c, arguments);
	cluster_expect_rounds(c, rounds, true);
}

CLUSTER_TEST(steps_that_are_refused_pass)
{
	static const char *const said[] = {
		"step 2 (disconnected) passed after 3 s without a commit: ",
		"3 of 6 learners are connected, and the quorum is 6; missing: ",
		"learner-01 (1) alone could learn sums over parts of the others' models; missing links: ",
		"any one of learner-02 (2), learner-03 (3), learner-04 (4), learner-05 (5) could learn",
		"missing link: 1-6",
		"step 6 (disconnected) passed after 3 s without a commit: ",
	};
	play(c, moving,
	     "-n 6 --rounds 3 --verify --step-seconds 3 --topology s.txt --set hidden_units=1 --set "
	     "quorum=all",
	     3);
	for (size_t t = 0; t < 3;
	     t++) /* a learner that hears of a step late reports the old links: one may miss */
		assert_true(cluster_figure(c, t, "learners") == 6 && cluster_figure(c, t, "edges") >= 6);
	for (size_t i = 0; i < sizeof said / sizeof *said; i++)
		expect_text(c->outcome.out, said[i]);
}

CLUSTER_TEST(a_privacy_check_that_warns_shares)
{
	play(c, moving,
	     "-n 6 --rounds 5 --verify --step-seconds 1 --topology s.txt --set hidden_units=1 "
	     "--set privacy_check=warn",
	     5);
	for (size_t t = 1; t <= 2; t++) /* star and line; a learner that hears of a step late may miss */
		assert_true(cluster_figure(c, t, "edges") == cluster_figure(c, t, "learners") - 1);
	for (uint32_t i = 1; i <= 6; i++)
		assert_true(
			cluster_count(c, i,
				      "goes on, since privacy_check: warn is set: tolerance 1 is not met") >=
			1);
}

/* Three of ten are out of reach every other round: seven commit, and the three are back in the next. */
CLUSTER_TEST(left_out_learners_come_back)
{
	size_t seven = 0, ten = 0;
	play(c,
	     "learners 10\n"
	     "step 1-2 2-3 3-4 4-5 5-6 6-7 7-8 8-9 9-10 1-10\n"
	     "step 1-2 2-3 3-4 4-5 5-6 6-7 1-7 8-9 9-10 8-10\n",
	     "-n 10 --rounds 6 --verify --step-seconds 20 --topology s.txt --set hidden_units=1 "
	     "--set quorum=majority",
	     6);
	for (size_t t = 0; t < 6; t++) {
		seven += cluster_figure(c, t, "learners") == 7;
		ten += cluster_figure(c, t, "learners") == 10;
	}
	assert_true(seven >= 2 && ten >= 2);
	for (uint32_t i = 8; i <= 10; i++)
		assert_true(cluster_count(c, i, "\"event\":\"caught_up\"") >= 2);
	assert_int_equal(cluster_count(c, 1, "\"event\":\"privacy\""), 0); /* three at once: c + 2 */
}

/* One has a single link in two steps of three: the others commit without it, and it catches up. Updates of
 * the next round are of the model that it fetched. */
CLUSTER_TEST(a_single_link_stops_nobody)
{
	size_t four = 0;
	play(c,
	     "learners 5\n"
	     "step 1-2 1-3 1-4 2-3 2-4 3-4 4-5\n"
	     "step 1-2 1-3 1-4 2-3 2-4 3-4 1-5\n"
	     "step 1-2 2-3 3-4 4-5 1-5\n",
	     "-n 5 --rounds 5 --verify --step-seconds 20 --topology s.txt --set hidden_units=1 "
	     "--set quorum=majority --set values=update",
	     5);
	for (size_t t = 0; t < 5; t++)
		four += cluster_figure(c, t, "learners") == 4;
	assert_true(four >= 2);
	for (uint32_t i = 1; i <= 4; i++)
		assert_true(cluster_count(c, i, "learner-05 (5) left out, with too few links") >= 2);
	assert_true(cluster_count(c, 5, "\"event\":\"caught_up\"") >= 2);
}

/* One leaves and comes back: the log says what the two sums reveal of it. */
CLUSTER_TEST(a_small_change_of_membership_is_said)
{
	play(c, "learners 5\nstep 1-2 2-3 3-4 4-5 1-5\nstep 1-2 2-3 3-4 1-4\n",
	     "-n 5 --rounds 2 --verify --step-seconds 20 --topology s.txt --set hidden_units=1 "
	     "--set quorum=majority",
	     2);
	assert_true(cluster_count(c, 1, "the smallest over 1: learner-05 (5)") >= 1);
}

/* Twenty learners, another random graph every round; many of them are disconnected. */
CLUSTER_TEST_NIGHTLY(a_moving_crowd_is_exact)
{
	cluster_launch(c, "-n 20 --rounds 30 --verify --step-seconds 1 --topology geometric:0.35 "
			  "--set hidden_units=1");
	cluster_expect_rounds(c, 30, true);
}
