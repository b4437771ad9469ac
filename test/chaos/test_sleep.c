/* A learner that is stopped (SIGSTOP) and goes on much later, as a laptop does whose lid was closed: links
 * stand and nobody answers. Others go on without it where they may; it is shown what it missed, and is in a
 * later round. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "test/chaos/group.h"
#include "test/lib/test.h"

#define LEARNERS 4u

static void sleep_for(unsigned seconds)
{
	nanosleep(&(struct timespec){seconds, 0},
		  NULL); /* this is the thing that is tested, not a wait for something */
}

/* How often the learner has committed, in a view: not by being shown a round. */
static int committed(const struct group *g, uint32_t i)
{
	return group_count(g, i, "\"event\":\"committed\"");
}

/* In a round again. */
static void expect_awake(struct group *g, int own)
{
	double from = process_now();
	group_signal(g, 4, SIGCONT);
	while (committed(g, 4) == own && process_now() < from + 60)
		process_look_again();
	print_message("in a round again after %.1f s\n", process_now() - from);
	assert_true(committed(g, 4) > own);
}

static void expect_exact(struct group *g)
{
	for (uint32_t i = 1; i <= LEARNERS; i++)
		group_signal(g, i, SIGTERM);
	group_finish(g, 30);
	group_expect_exact(g, group_committed(g));
	group_close(g);
}

/* Two groups at once. In `one` 4 falls asleep while it trains: three of four are enough. In `other` in the
 * middle of mixing: its masked state is out, so that round is finished without it, and its model counts. */
static void sleep_and_catch_up(unsigned asleep_s)
{
	struct group one, other;
	group_open(&one, LEARNERS,
		   (const char *const[]){"rounds=10000", "quorum=majority", "epochs=60", NULL});
	group_open(&other, LEARNERS, (const char *const[]){"rounds=10000", "quorum=majority", "k=200", NULL});
	for (uint32_t i = 1; i <= LEARNERS; i++)
		for (uint32_t j = 1; j <= LEARNERS; j++)
			if (i != j)
				proxy_delay(other.proxy, i, j, 5);
	group_start_all(&one);
	group_start_all(&other);
	group_expect(&one, 4, "round 2 committed", 60);
	group_signal(&one, 4, SIGSTOP);
	group_expect_phase(&other, 4, 2, "MIX", 60);
	group_signal(&other, 4, SIGSTOP);
	int before = committed(&one, 1), own = committed(&one, 4), others = committed(&other, 4);
	sleep_for(asleep_s);
	int slept = committed(&one, 1) - before;
	print_message("asleep for %u s: %d rounds went by\n", asleep_s, slept);
	assert_true(slept > 1);
	expect_awake(&one, own);
	expect_awake(&other, others);
	assert_true(group_count(&one, 4, "\"event\":\"caught_up\"") > 0);
	assert_int_equal(group_count(&other, 1, "round 2 committed: 4 learners"), 1);
	expect_exact(&one);
	expect_exact(&other);
}

TEST(who_sleeps_catches_up)
{
	sleep_and_catch_up(20);
}

TEST_NIGHTLY(who_sleeps_long_catches_up)
{
	sleep_and_catch_up(120);
}
