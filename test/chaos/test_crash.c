/* kill -9 at every named place of a round (daemon/runtime/failpoint.h), and a new start: no round is lost,
 * none is wrong.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/runtime/failpoint.h"
#include "test/chaos/group.h"
#include "test/lib/test.h"

#define LEARNERS 4u
#define ROUNDS 3u
#define SECONDS 60.0
#define TOGETHER 5u

static const char *const names[] = {
#define X(name, text) [SL_FAILPOINT_##name] = text,
	SL_FAILPOINTS(X)
#undef X
};

/* Those that a round without faults comes by. */
static bool is_usual(enum sl_failpoint point)
{
	return point != SL_FAILPOINT_RECOVERING && point != SL_FAILPOINT_CATCHING_UP;
}

static void begin(struct group *g, const char *serve_after_end, const char *more)
{
	char rounds[16];
	snprintf(rounds, sizeof rounds, "rounds=%u", ROUNDS);
	group_open(g, LEARNERS, (const char *const[]){rounds, "iterations=30", serve_after_end, more, NULL});
}

/* In round 2, which is when it comes by for the second time; of mixing, in the middle. */
static void name_moment(enum sl_failpoint point, char text[static 64])
{
	snprintf(text, 64, "%s:%u", names[point], point == SL_FAILPOINT_MIXING ? 40 : 2);
}

static void end(struct group *g, enum sl_failpoint point, int least)
{
	double from = process_now();
	int deaths = group_tend(g, SECONDS);
	print_message("%s: %d killed, over after %.1f s\n", names[point], deaths, process_now() - from);
	if (deaths < least)
		fail_msg("%s: %d killed, %d expected", names[point], deaths, least);
	group_expect_exact(g, ROUNDS);
	group_close(g);
}

static void start(struct group *g, enum sl_failpoint point, bool all)
{
	char moment[64];
	begin(g, "serve_after_end=0.5", NULL);
	name_moment(point, moment);
	for (uint32_t i = 1; i <= LEARNERS; i++)
		group_start(g, i, all || i == 2 ? moment : NULL);
}

/* Some groups at a time: they wait more than they compute. */
static void die_everywhere(bool all)
{
	struct group groups[TOGETHER];
	enum sl_failpoint points[TOGETHER];
	for (enum sl_failpoint point = 0; point < SL_FAILPOINT_COUNT;) {
		uint32_t count = 0;
		for (; point < SL_FAILPOINT_COUNT && count < TOGETHER; point++) {
			if (!is_usual(point))
				continue;
			points[count] = point;
			start(&groups[count++], point, all);
		}
		for (uint32_t i = 0; i < count; i++)
			end(&groups[i], points[i], 1);
	}
}

TEST(one_dies_everywhere)
{
	die_everywhere(false);
}

/* All of them, at the same place: what each has on disk is all that there is. */
TEST_NIGHTLY(all_die_everywhere)
{
	die_everywhere(true);
}

/* 3 dies while it mixes, and 2 when it hears of that. */
TEST(one_dies_while_it_recovers)
{
	struct group g;
	begin(&g, "serve_after_end=0.5", NULL);
	for (uint32_t i = 1; i <= LEARNERS; i++)
		group_start(&g, i, i == 3 ? "mixing:40" : i == 2 ? "recovering" : NULL);
	end(&g, SL_FAILPOINT_RECOVERING, 2);
}

/* 4 comes when a round has gone by, and dies while it is shown that. */
TEST(one_dies_while_it_catches_up)
{
	struct group g;
	begin(&g, "serve_after_end=4", "quorum=majority"); /* the others stay until it is back */
	for (uint32_t i = 1; i < LEARNERS; i++)
		group_start(&g, i, NULL);
	group_expect(&g, 1, "\"event\":\"committed\"", 30);
	group_start(&g, 4, "catching-up");
	end(&g, SL_FAILPOINT_CATCHING_UP, 1);
}
