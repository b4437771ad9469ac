/* What test_crash.c and test_sleep.c do, in rounds as they are without a setting: exact mixing, on graphs
 * that are not complete and are drawn anew for each round; with vectors of some chunks, and seeded shares. No
 * moment is counted in exchanges. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/runtime/failpoint.h"
#include "test/chaos/group.h"
#include "test/lib/test.h"

#define LEARNERS 6u
#define ROUNDS 3u
#define SECONDS 240.0
#define TOGETHER 5u
#define NAPS 2u

static const char *const names[] = {
#define X(name, text) [SL_FAILPOINT_##name] = text,
	SL_FAILPOINTS(X)
#undef X
};

/* ---- kill -9, and a new start ---- */

/* Those that a round without faults comes by. */
static bool is_usual(enum sl_failpoint point)
{
	return point != SL_FAILPOINT_RECOVERING && point != SL_FAILPOINT_CATCHING_UP;
}

/* prepare_timeout is longer than the test: nobody may be waited for in vain. */
static void start(struct group *g, enum sl_failpoint point, bool all)
{
	static const char *const settings[] = {"mixing=exact",	"degree_max=4", "sharing=seeded",
					       "trainer=noise", "size=70000",	"ready_wait=600",
					       "rounds=3",	"linger=2",	NULL};
	char moment[64];
	group_open(g, LEARNERS, settings);
	snprintf(moment, sizeof moment, "%s:2", names[point]);
	for (uint32_t i = 1; i <= LEARNERS; i++)
		group_start(g, i, all || i == 2 ? moment : NULL);
}

static void end(struct group *g, enum sl_failpoint point)
{
	double from = process_now();
	int deaths = group_tend(g, SECONDS);
	print_message("%s: %d killed, over after %.1f s\n", names[point], deaths, process_now() - from);
	assert_true(deaths > 0);
	group_expect_exact(g, ROUNDS);
	group_close(g);
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
			end(&groups[i], points[i]);
	}
}

TEST(one_dies_everywhere)
{
	die_everywhere(false);
}

TEST(all_die_everywhere)
{
	die_everywhere(true);
}

/* ---- SIGSTOP, and SIGCONT ---- */

static int said(const struct group *g, uint32_t i, const char *event)
{
	char text[48];
	snprintf(text, sizeof text, "\"event\":\"%s\"", event);
	return group_count(g, i, text);
}

static void expect_more(const struct group *g, uint32_t i, int than)
{
	double last = process_now() + SECONDS;
	while (said(g, i, "committed") <= than && process_now() < last)
		process_look_again();
	assert_true(said(g, i, "committed") > than);
}

/* Two rounds go by without it, and another one comes in which it is. */
static void nap(struct group *g, uint32_t i)
{
	int others = said(g, 1, "committed"), own = said(g, i, "committed");
	group_signal(g, i, SIGSTOP);
	expect_more(g, 1, others + 2);
	group_signal(g, i, SIGCONT);
	expect_more(g, i, own + 1); /* what it was in when it fell asleep may be over by then */
}

TEST(one_sleeps_again_and_again)
{
	struct group g;
	group_open(&g, LEARNERS,
		   (const char *const[]){"mixing=exact", "degree_max=4", "quorum=majority", "hidden=22",
					 "silent_wait=1", "ready_wait=5", "rounds=10000", NULL});
	group_start_all(&g);
	expect_more(&g, 1, 1);
	for (uint32_t k = 0; k < NAPS; k++)
		nap(&g, 4);
	print_message("%d rounds, of which it was shown %d\n", said(&g, 1, "committed"),
		      said(&g, 4, "caught_up"));
	assert_true(said(&g, 4, "caught_up") > 0);
	for (uint32_t i = 1; i <= LEARNERS; i++)
		group_signal(&g, i, SIGTERM);
	group_finish(&g, 60);
	group_expect_exact(&g, group_committed(&g));
	group_close(&g);
}
