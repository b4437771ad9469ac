/* Rounds over links that are slow, break, fall silent in one direction, or stop: every round ends, and is
 * exact.
 *
 * With 200 iterations and 5 ms for each direction, mixing is long enough to be hit in the middle.
 */
#include "test/chaos/proxy.h"

static struct proxy *begin(struct cluster *c, const char *settings)
{
	cluster_open(c, 4, settings);
	struct proxy *proxy = proxy_between(c);
	proxy_delay_all(proxy, 5);
	return proxy;
}

static void end(struct cluster *c, struct proxy *proxy)
{
	cluster_finish(c);
	assert_int_equal(cluster_expect_exact(c), 2);
	proxy_close(proxy);
}

#define LONG_MIXING "rounds=2 mixing=metropolis iterations=200 stall_timeout=2 serve_after_end=1"

CLUSTER_TEST(delays_of_all_kinds)
{
	struct proxy *proxy = begin(c, "rounds=2 mixing=metropolis iterations=20 serve_after_end=1");
	for (uint32_t i = 1; i <= 4; i++)
		for (uint32_t j = 1; j <= 4; j++)
			proxy_delay(proxy, i, j, 7 * i + 11 * j);
	cluster_start_all(c, "");
	end(c, proxy);
}

/* In a handshake, in DISCOVER, in the middle of mixing inside a frame, and in the rounds that follow. */
CLUSTER_TEST(lost_connections)
{
	struct proxy *proxy = begin(c, LONG_MIXING);
	proxy_truncate(proxy, 1, 2, 700);
	cluster_start_all(c, "");
	cluster_expect_phase(c, 3, 1, "DISCOVER");
	proxy_reset(proxy, 1, 3);
	cluster_expect_phase(c, 3, 1, "MIX");
	proxy_truncate(proxy, 3, 4, 50001);
	cluster_expect(c, 4, "link to learner-03 (3), ");
	cluster_expect_phase(c, 2, 2, "MIX");
	proxy_reset(proxy, 2, 3);
	proxy_reset(proxy, 1, 4);
	end(c, proxy);
}

/* 2 hears 1 no more, and 1 hears 2: longer than a link lives without a byte. */
CLUSTER_TEST(one_way_cut)
{
	struct proxy *proxy = begin(c, LONG_MIXING);
	cluster_start_all(c, "");
	cluster_expect_phase(c, 1, 1, "MIX");
	proxy_swallow(proxy, 1, 2, true);
	cluster_expect(c, 2, "link to learner-01 (1), ");
	proxy_swallow(proxy, 1, 2, false);
	end(c, proxy);
}

CLUSTER_TEST(stalled_links)
{
	struct proxy *proxy = begin(c, LONG_MIXING);
	cluster_start_all(c, "");
	cluster_expect_phase(c, 1, 1, "MIX");
	proxy_stall(proxy, 1, 3, true);
	proxy_stall(proxy, 3, 1, true);
	cluster_expect(c, 3, "link to learner-01 (1), ");
	proxy_stall(proxy, 1, 3, false);
	proxy_stall(proxy, 3, 1, false);
	end(c, proxy);
}

static void stall_all(struct proxy *proxy, bool on)
{
	for (uint32_t i = 1; i <= 5; i++)
		for (uint32_t j = 1; j <= 5; j++)
			if (i != j)
				proxy_stall(proxy, i, j, on);
}

/* More chunks of a deposit wait for a slow link than a peer gets in answer to requests: all of them arrive.
 */
CLUSTER_TEST(deposits_wait_for_slow_links)
{
	cluster_open(c, 5,
		     "rounds=1 trainer=noise noise_parameters=1500000 sharing=seeded mixing=forest "
		     "log_level=debug serve_after_end=1");
	struct proxy *proxy = proxy_between(c);
	cluster_start_all(c, "");
	cluster_expect_phase(c, 1, 1, "SHARE");
	stall_all(proxy, true);
	cluster_expect(c, 1, "\"event\":\"waiting\"");
	stall_all(proxy, false);
	cluster_finish(c);
	assert_int_equal(cluster_expect_exact(c), 1);
	for (uint32_t i = 1; i <= 5; i++)
		assert_int_equal(cluster_count(c, i, " ended in SHARE: "), 0);
	proxy_close(proxy);
}
