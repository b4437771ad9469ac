/* An honest learner is killed and started again among others that have seen one learner lie, which it has
 * not: the rounds go on. */
#include <signal.h>

#include "test/lib/cluster.h"

#define LIAR 5u
#define ROUNDS 3u

/* Start all learners with this lie, and wait until learner 1 has logged `noticed`. */
static void begin(struct cluster *c, const char *lie, const char *noticed)
{
	cluster_open(c, LIAR, "rounds=100000 quorum=majority straggler_timeout=2 stall_timeout=2");
	cluster_start_lying(c, LIAR, lie, "");
	cluster_expect(c, LIAR, "\"event\":\"trained\""); /* or the others begin without it */
	for (uint32_t i = 1; i < LIAR; i++)
		cluster_start(c, i, "");
	cluster_expect(c, 1, noticed);
}

static void start_again(struct cluster *c)
{
	cluster_signal(c, 1, SIGKILL);
	cluster_start(c, 1, "");
}

/* Expect more rounds of the honest learners, all exact, and that none of them has ended. */
static void end(struct cluster *c)
{
	struct sl_error wrong;
	uint32_t last = cluster_last_round(c, 2);
	for (uint32_t i = 1; i < LIAR; i++)
		cluster_expect_round(c, i, last + ROUNDS);
	if (c->pids[LIAR - 1] != 0)
		cluster_signal(c, LIAR, SIGKILL);
	cluster_stop(c);
	cluster_look_exact(c, CLUSTER_BIT(LIAR), &wrong);
	assert_string_equal(wrong.text, "");
	for (uint32_t i = 1; i < LIAR; i++)
		assert_int_equal(cluster_count(c, i, "\"event\":\"fatal\""), 0);
}

/* No learner ends for a sum that no models can have, at no start (ROUND.md §4.7 Plausibility of a sum). */
CLUSTER_TEST(an_implausible_sum_ends_no_learner)
{
	begin(c, "corrupt-share", "make the sum implausible");
	start_again(c);
	cluster_expect(c, 2, "make the sum implausible");
	cluster_signal(c, LIAR, SIGKILL); /* until then it stops the rounds */
	end(c);
}

/* The others hold evidence of this round, the learner that was started again does not (ROUND.md §7.4
 * Discover). */
CLUSTER_TEST(evidence_that_one_learner_lacks_stops_nobody)
{
	begin(c, "equivocate", "\"event\":\"evidence\"");
	start_again(c);
	end(c);
}
