/* Paths that lose large packets: when a link is found to be on one, and the segments of the next connection.
 * The kernel is made to say what it would say on such a path. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "test/lib/test.h"
#include "test/net/pair.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

#define SILENCE 6000u

bool __real_sl_tcp_info_get(int descriptor, struct sl_tcp_info *info);

static int narrow = -1; /* the end on whose direct links full segments are lost */
static const struct pair *watched;

bool __wrap_sl_tcp_info_get(int descriptor, struct sl_tcp_info *info)
{
	bool got = __real_sl_tcp_info_get(descriptor, info);
	const struct sl_link *link = narrow < 0 ? NULL : end_link(&watched->ends[narrow]);
	if (link != NULL && sl_link_descriptor(link) == descriptor && info->segment > SL_SEGMENT_SMALL) {
		info->retransmits = 3;
		info->unacked = info->segment;
		info->pending = true;
	}
	return got;
}

/* ---- the rule ---- */

struct path {
	uint64_t since;
	struct sl_tcp_info info;
};

static struct path stalled(void)
{
	struct path path = {.info = {.segment = 1448, .unacked = 14480, .retransmits = 1}};
	assert_false(sl_link_segment_is_lost(&path.since, &path.info, 1000, 900, SILENCE, false));
	assert_int_equal(path.since, 1000);
	path.info.retransmits = 4;
	return path;
}

static bool lost(struct path *path, uint64_t now, uint64_t heard)
{
	return sl_link_segment_is_lost(&path->since, &path->info, now, heard, SILENCE, false);
}

TEST(full_segments_are_lost_while_the_peer_is_heard)
{
	struct path path = stalled();
	assert_false(lost(&path, 3999, 2000)); /* too soon */
	assert_false(lost(&path, 4000, 1000)); /* nothing has come since: all may be lost */
	assert_true(lost(&path, 4000, 1001));
	path.info.retransmits = 1; /* the round trip is long */
	assert_false(lost(&path, 4000, 2000));
}

TEST(full_segments_of_both_ends_are_lost)
{
	struct path path = stalled();
	assert_false(lost(&path, 6900, 900));
	assert_true(lost(&path, 6901, 900));
}

TEST(another_link_of_this_machine_has_shown_it)
{
	struct path path = stalled();
	assert_true(sl_link_segment_is_lost(&path.since, &path.info, 1001, 900, SILENCE, true));
	path.info.retransmits = 1;
	assert_false(sl_link_segment_is_lost(&path.since, &path.info, 1001, 900, SILENCE, true));
}

TEST(what_is_small_is_not_too_large)
{
	struct path path = stalled();
	path.info.unacked = 1447;
	assert_false(lost(&path, 9000, 2000));
	path.info = (struct sl_tcp_info){.segment = 536, .unacked = 5360, .retransmits = 4};
	assert_false(lost(&path, 9000, 2000)); /* no smaller ones are tried */
}

TEST(an_acknowledgement_begins_anew)
{
	struct path path = stalled();
	path.info.retransmits = 0;
	assert_false(lost(&path, 5000, 2000));
	assert_int_equal(path.since, 0);
	path.info.retransmits = 2;
	assert_false(lost(&path, 6000, 5900));
	assert_true(lost(&path, 9000, 6001));
}

TEST(segments_get_smaller_twice)
{
	assert_int_equal(sl_link_segment_after(65483), 1200);
	assert_int_equal(sl_link_segment_after(1448), 1200);
	assert_int_equal(sl_link_segment_after(1200), 536);
	assert_int_equal(sl_link_segment_after(1188), 536);
}

/* ---- links ---- */

static uint32_t segment_of(const struct pair *pair, int end)
{
	struct sl_link_figures figures;
	assert_true(sl_links_figures_of(pair->ends[end].links, (uint32_t)(1 - end), &figures));
	return figures.segment;
}

static bool is_mended(void *argument)
{
	struct pair *pair = argument;
	for (int end = 0; end < 2; end++)
		if (end_link(&pair->ends[end]) == NULL || segment_of(pair, end) > SL_SEGMENT_SMALL)
			return false;
	return pair_settled(pair);
}

/* Have the ends dial each other directly: an emulator would have connections of its own. */
static void leave_emulators(struct pair *pair)
{
	for (int i = 0; i < 2; i++) {
		struct sockaddr_in name;
		int size = sizeof name;
		uv_tcp_getsockname(&pair->ends[i].links->listener, (struct sockaddr *)&name, &size);
		snprintf(pair->members[i].address, sizeof pair->members[i].address, "127.0.0.1:%u",
			 ntohs(name.sin_port));
	}
}

/* A pair without an emulator. A second of silence ends its links. */
static struct pair *direct_pair(void)
{
	struct pair *pair = pair_alone();
	watched = pair;
	pair->net->timing.silence = 1000;
	leave_emulators(pair);
	return pair;
}

/* Full segments of `end` are lost from now on, and it sends some. */
static void lose_full(struct pair *pair, int end)
{
	narrow = end;
	end_send(&pair->ends[end], 100000, true);
	end_flush(&pair->ends[end]);
}

/* `dialler` dials a link, and may dial again; full segments of `end` are lost from now on. */
static void mend(int dialler, int end)
{
	struct pair *pair = direct_pair();
	pair->net->timing.ping = 100;
	pair_want(pair, dialler, true);
	pair_await(pair, 2500, pair_settled);
	assert_true(segment_of(pair, end) > SL_SEGMENT_SMALL);
	lose_full(pair, end);
	pair_await(pair, 15000, is_mended);
	assert_string_equal(pair->ends[end].why, SL_LINK_NARROW);
	assert_int_equal(end_link(&pair->ends[dialler])->dialled, true);
	assert_int_equal(pair->ends[end].links->slots[1 - end].segment, SL_SEGMENT_SMALL);
	assert_true(pair->ends[end].links->found_until > 0);
	narrow = -1;
	pair_expect_frames(pair);
	pair_end(pair);
}

TEST(the_end_that_dials_finds_it)
{
	mend(0, 0);
	mend(1, 1);
}

TEST(the_end_that_accepts_finds_it)
{
	mend(0, 1);
	mend(1, 0);
}

/* The segments of a path that is known make others no more suspicious when its link ends. */
TEST(a_link_that_ends_hurries_no_other)
{
	struct pair *pair = pair_alone();
	struct sl_links *links = pair->ends[0].links;
	pair_want(pair, 0, true);
	pair_await(pair, 2500, pair_settled);
	links->slots[1].segment = SL_SEGMENT_SMALL;
	links->found_until = uv_now(&pair->net->loop) + 1; /* another one was found */
	uint64_t until = links->found_until;
	sl_links_drop(links, 1, "a test");
	assert_true(links->narrow_until > until);
	assert_int_equal(links->found_until, until);
	pair_end(pair);
}

/* While full segments were lost on one link a moment ago, another one is closed before its time. */
TEST(a_link_that_was_found_hurries_another)
{
	struct pair *pair = direct_pair();
	struct sl_links *links = pair->ends[0].links;
	pair->net->timing.silence = 600000;
	pair_want(pair, 0, true);
	pair_await(pair, 2500, pair_settled);
	links->found_until = UINT64_MAX;
	lose_full(pair, 0);
	pair_await(pair, 15000, is_mended);
	assert_string_equal(pair->ends[0].why, SL_LINK_NARROW);
	narrow = -1;
	pair_end(pair);
}

static bool is_down(void *argument)
{
	return !((struct pair *)argument)->ends[0].up;
}

/* What is sent to a machine that is off is lost, too. */
TEST(a_peer_that_is_off_is_silent)
{
	struct pair *pair = direct_pair();
	pair->net->timing.ping = 100000;
	pair_want(pair, 0, true);
	pair_await(pair, 2500, pair_settled);
	lose_full(pair, 0);
	pair_await(pair, 15000, is_down);
	narrow = -1;
	assert_string_equal(pair->ends[0].why, "silent for 6 s");
	pair_end(pair);
}

static bool is_over(void *argument)
{
	return ((struct pair *)argument)->ends[0].links->narrow_until == 0;
}

/* Nothing has come while large packets were lost: the next link has small ones, and those after it do not. */
TEST(an_outage_is_no_narrow_path)
{
	struct pair *pair = pair_alone();
	struct sl_links *links = pair->ends[0].links;
	watched = pair;
	pair->net->timing.silence = 1000;
	pair->net->timing.ping = 100000;
	leave_emulators(pair);
	pair_want(pair, 0, true);
	pair_await(pair, 2500, pair_settled);
	narrow = 0;
	end_send(&pair->ends[0], 100000, true);
	end_flush(&pair->ends[0]);
	pair_await(pair, 15000, is_down);
	narrow = -1;
	pair->net->timing.silence = 60000;
	pair_await(pair, 5000, is_mended);
	assert_int_equal(links->slots[1].segment, 0);
	pair_await(pair, 5000, is_over);
	sl_links_drop(links, 1, "a test");
	pair_await(pair, 5000, pair_settled);
	assert_true(segment_of(pair, 0) > SL_SEGMENT_SMALL && segment_of(pair, 1) > SL_SEGMENT_SMALL);
	pair_end(pair);
}

/* The other end, whose large packets are lost, too, was the first to find it. */
TEST(a_reset_shows_that_small_packets_pass)
{
	struct pair *pair = pair_alone();
	struct sl_slot *slot = &pair->ends[1].links->slots[0];
	pair->net->timing.silence = 60000;
	pair_want(pair, 0, true);
	pair_await(pair, 2500, pair_settled);
	slot->up->heard = slot->up->stalled_at = uv_now(&pair->net->loop) - 30000;
	emulator_lose(&pair->emulators[1], true);
	pair_say(pair);
	emulator_let_pass(&pair->emulators[1]);
	pair_await(pair, 15000, is_down);
	pair_await(pair, 15000, pair_settled);
	assert_int_equal(slot->segment, SL_SEGMENT_SMALL);
	pair_end(pair);
}

static bool is_forgotten(void *argument)
{
	return ((struct pair *)argument)->ends[0].links->slots[1].guess == 0;
}

TEST(a_guess_is_forgotten_if_no_link_comes_up)
{
	struct pair *pair = direct_pair();
	pair->net->timing.handshake = 200;
	pair_want(pair, 0, true);
	pair_await(pair, 2500, pair_settled);
	snprintf(pair->members[1].address, sizeof pair->members[1].address, "127.0.0.1:%u",
		 pair->emulators[1].port);
	pair->emulators[1].closed = true;
	lose_full(pair, 0);
	pair_await(pair, 15000, is_down);
	narrow = -1;
	pair_await(pair, 5000, is_forgotten);
	pair->net->timing.handshake = 10000;
	leave_emulators(pair);
	pair_await(pair, 5000, pair_settled);
	assert_true(segment_of(pair, 0) > SL_SEGMENT_SMALL && segment_of(pair, 1) > SL_SEGMENT_SMALL);
	pair_end(pair);
}
