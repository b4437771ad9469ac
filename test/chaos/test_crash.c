/* kill -9 at every named place of a round (daemon/runtime/failpoint.h), and a new start: every round commits,
 * and is exact. */
#include <signal.h>
#include <stdio.h>

#include "daemon/runtime/failpoint.h"
#include "test/lib/cluster.h"

#define ROUNDS 3u

static const char *const names[] = {
#define X(name, text) [SL_FAILPOINT_##name] = text,
	SL_FAILPOINTS(X)
#undef X
};

/* A kind of round. */
struct kind {
	uint32_t learners;
	const char *settings;
	int mixing; /* which time it comes by `mixing` is in the middle of the second round */
};

/* Complete graphs, and the paper's sharing and mixing. */
static const struct kind paper = {
	4, "rounds=3 sharing=shamir mixing=metropolis iterations=30 serve_after_end=0.5", 40};
/* Graphs that are not complete and are drawn anew for each round, vectors of some chunks, and seeded shares.
 * stall_timeout is so long that six times it is longer than the test: a learner that waits for it in vain
 * fails the test. */
static const struct kind usual = {6,
				  "rounds=3 max_degree=4 sharing=seeded trainer=noise noise_parameters=70000 "
				  "stall_timeout=60 serve_after_end=2",
				  2};

static void end(struct cluster *c, enum sl_failpoint point, int least)
{
	double from = process_now();
	int deaths = cluster_tend(c);
	print_message("%s: %d killed, over after %.1f s\n", names[point], deaths, process_now() - from);
	assert_true(deaths >= least);
	assert_int_equal(cluster_expect_exact(c), ROUNDS);
}

static struct cluster *start(const struct kind *kind, enum sl_failpoint point, bool all)
{
	char moment[64];
	struct cluster *c = cluster_new();
	cluster_open(c, kind->learners, kind->settings);
	snprintf(moment, sizeof moment, "%s:%d", names[point],
		 point == SL_FAILPOINT_MIXING ? kind->mixing : 2); /* in round 2 */
	for (uint32_t i = 1; i <= kind->learners; i++)
		if (all || i == 2)
			cluster_start_failing(c, i, moment);
		else
			cluster_start(c, i, "");
	return c;
}

/* Die at each of the failpoints first, first + stride, ... that a round without faults and applications
 * passes. Some clusters run at once: they wait more than they compute. */
static void die_everywhere(const struct kind *kind, bool all, enum sl_failpoint first, unsigned stride)
{
	enum { TOGETHER = 5 };
	enum sl_failpoint points[TOGETHER], point = first;
	while (point < SL_FAILPOINT_RECOVERING) {
		struct cluster *clusters[TOGETHER];
		uint32_t count = 0;
		for (; point < SL_FAILPOINT_RECOVERING && count < TOGETHER; point += stride) {
			points[count] = point;
			clusters[count++] = start(kind, point, all);
		}
		for (uint32_t i = 0; i < count; i++) {
			end(clusters[i], points[i], 1);
			cluster_free(clusters[i], true);
		}
	}
}

/* All learners crash at the same failpoint: only their disks are left. */
TEST(all_die_at_every_second_place)
{
	die_everywhere(&usual, true, 0, 2);
}

TEST(one_dies_at_every_other_place)
{
	die_everywhere(&usual, false, 1, 2);
}

TEST_NIGHTLY(die_everywhere_in_all_ways)
{
	die_everywhere(&usual, false, 0, 1);
	die_everywhere(&usual, true, 0, 1);
	die_everywhere(&paper, false, 0, 1);
	die_everywhere(&paper, true, 0, 1);
}

/* 3 dies while it mixes, and 2 when it hears of that. */
CLUSTER_TEST(one_dies_while_it_recovers)
{
	cluster_open(c, 4, paper.settings);
	cluster_start(c, 1, "");
	cluster_start_failing(c, 2, "recovering");
	cluster_start_failing(c, 3, "mixing:40");
	cluster_start(c, 4, "");
	end(c, SL_FAILPOINT_RECOVERING, 2);
}

/* 4 comes when a round has gone by, and dies while it is shown that. The others serve until it is back. */
CLUSTER_TEST(one_dies_while_it_catches_up)
{
	cluster_open(c, 4, "rounds=3 mixing=metropolis iterations=30 serve_after_end=4 quorum=majority");
	for (uint32_t i = 1; i <= 3; i++)
		cluster_start(c, i, "");
	cluster_expect(c, 1, "\"event\":\"committed\"");
	cluster_start_failing(c, 4, "catching-up");
	end(c, SL_FAILPOINT_CATCHING_UP, 1);
}

/* A newer roster comes in the middle of round 2, or later on a busy machine, but not with the last commit,
 * which a start right after it would not log: all start again in place, and 2 dies before its program runs
 * again. It has the roster and the attempt on its disk. Member 5 was never there. */
static void die_at_restart(struct cluster *c, enum sl_failpoint point)
{
	struct sl_error wrong = {0};
	cluster_open(c, 5, "rounds=20 quorum=majority");
	for (uint32_t i = 1; i <= 4; i++)
		if (i == 2)
			cluster_start_failing(c, i, names[point]);
		else
			cluster_start(c, i, "");
	cluster_expect_phase(c, 2, 2, "SHARE");
	cluster_shell(c, "sed -i '/id: 5,/d' roster.yaml");
	for (uint32_t i = 1; i <= 4; i++)
		cluster_signal(c, i, SIGHUP);
	assert_int_equal(cluster_tend(c), 1);
	for (uint32_t i = 1; i <= 4; i++) {
		assert_int_equal(cluster_last_round(c, i), 20);
		assert_int_equal(cluster_count(c, i, "start number 2 of this learner"), 1);
	}
	cluster_look_exact(c, 1u << 4, &wrong);
	assert_string_equal(wrong.text, "");
}

CLUSTER_TEST(one_dies_when_it_is_to_start_again)
{
	die_at_restart(c, SL_FAILPOINT_RESTARTING);
}

CLUSTER_TEST(one_dies_before_it_starts_again)
{
	die_at_restart(c, SL_FAILPOINT_BEFORE_EXEC);
}
