/* Rounds over links that are slow, break, fall silent in one direction, or stop: every round ends, and exact.
 *
 * k = 200 makes mixing long enough to be met in the middle of it.
 */
#include <stdint.h>
#include <stdlib.h>

#include "test/chaos/group.h"
#include "test/lib/test.h"

#define SECONDS 120.0

static const char *const long_mixing[] = {"k=200", "rounds=2", "stall_wait=4", "linger=1", NULL};

static void begin(struct group *g)
{
	group_open(g, 4, long_mixing);
	for (uint32_t i = 1; i <= 4; i++)
		for (uint32_t j = 1; j <= 4; j++)
			if (i != j)
				proxy_delay(g->proxy, i, j, 5); /* a round of a second and more */
	group_start_all(g);
}

static void end(struct group *g)
{
	group_finish(g, SECONDS);
	group_expect_exact(g, 2);
	group_close(g);
}

TEST(delays_of_all_kinds)
{
	struct group g;
	group_open(&g, 4, (const char *const[]){"k=20", "rounds=2", "linger=1", NULL});
	for (uint32_t i = 1; i <= 4; i++)
		for (uint32_t j = 1; j <= 4; j++)
			if (i != j)
				proxy_delay(g.proxy, i, j, 7 * i + 11 * j);
	group_start_all(&g);
	end(&g);
}

/* In DISCOVER, in the middle of mixing, and once more in whatever comes of that. */
TEST(lost_connections)
{
	struct group g;
	begin(&g);
	group_expect_phase(&g, 1, 1, "DISCOVER", 30);
	proxy_reset(g.proxy, 1, 2);
	group_expect_phase(&g, 3, 1, "MIX", 30);
	proxy_reset(g.proxy, 3, 4);
	proxy_reset(g.proxy, 1, 4);
	group_expect_phase(&g, 2, 2, "MIX", 60);
	proxy_reset(g.proxy, 2, 3);
	end(&g);
}

/* Inside a record of TLS, inside a frame, wherever that is. */
TEST(truncated_connections)
{
	struct group g;
	begin(&g);
	proxy_truncate(g.proxy, 1, 2, 700); /* of a handshake */
	group_expect_phase(&g, 3, 1, "MIX", 60);
	proxy_truncate(g.proxy, 3, 4, 50001);
	group_expect(&g, 4, "link to learner-03 (3, ", 60);
	end(&g);
}

/* 2 hears 1 no more, and 1 hears 2: longer than a link lives without a byte. */
TEST(one_way_cut)
{
	struct group g;
	begin(&g);
	group_expect_phase(&g, 1, 1, "MIX", 30);
	proxy_swallow(g.proxy, 1, 2, true);
	group_expect(&g, 2, "link to learner-01 (1, ", 30);
	proxy_swallow(g.proxy, 1, 2, false);
	end(&g);
}

TEST(stalled_links)
{
	struct group g;
	begin(&g);
	group_expect_phase(&g, 1, 1, "MIX", 30);
	proxy_stall(g.proxy, 1, 3, true);
	proxy_stall(g.proxy, 3, 1, true);
	group_expect(&g, 3, "link to learner-01 (1, ", 30);
	proxy_stall(g.proxy, 1, 3, false);
	proxy_stall(g.proxy, 3, 1, false);
	end(&g);
}
