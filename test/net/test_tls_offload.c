/* What TLS has much to do with is away on the crypto worker: frames keep their order, and a link may end at
 * any moment. */
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "test/lib/test.h"
#include "test/net/pair.h"

#define VECTOR (200u << 10)

struct both {
	struct net net;
	struct pair pair;
};

/* Wanted anew, it is dialled without the pause that comes of failures. */
static void settle(struct both *b)
{
	pair_want(&b->pair, 0, false);
	pair_want(&b->pair, 0, true);
	assert_true(net_until(&b->net, 5000, pair_settled, &b->pair));
}

static void open_both(struct both *b)
{
	net_open(&b->net);
	pair_open(&b->pair, &b->net);
	settle(b);
}

static void close_both(struct both *b)
{
	pair_close(&b->pair);
	net_close(&b->net);
}

static bool is_away(const struct end *end)
{
	const struct sl_link *link = end_link(end);
	return link != NULL && link->offload.away;
}

static void send_vectors(struct end *end, int count)
{
	for (int k = 0; k < count; k++) {
		end_send(end, VECTOR, true);
		end_send(end, 100, false);
	}
	end_flush(end);
}

static bool all_arrived(void *argument)
{
	const struct both *b = argument;
	return b->pair.ends[0].received == b->pair.ends[1].sent &&
	       b->pair.ends[1].received == b->pair.ends[0].sent;
}

/* However slow the way is: no more is encrypted ahead than one write. */
static bool all_arrived_evenly(void *argument)
{
	const struct both *b = argument;
	for (uint32_t i = 0; i < 2; i++)
		assert_true(end_link(&b->pair.ends[i])->in_flight <=
			    SL_TLS_WRITE_BYTES + SL_TLS_WRITE_BYTES / 64);
	return all_arrived(argument);
}

static int prepare(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN); /* as the daemon does */
	return 0;
}
TEST_SETUP(prepare, NULL)

TEST(both_ways_at_once)
{
	struct both b;
	open_both(&b);
	uint32_t away = 0;
	b.pair.emulators[0].bytes_per_s = b.pair.emulators[1].bytes_per_s = 20u << 20;
	for (int k = 0; k < 5; k++) {
		send_vectors(&b.pair.ends[0], 10);
		send_vectors(&b.pair.ends[1], 10);
		away += is_away(&b.pair.ends[0]) + is_away(&b.pair.ends[1]);
		net_turn(&b.net);
	}
	assert_true(away > 0);
	assert_true(net_until(&b.net, 60000, all_arrived_evenly, &b));
	pair_expect_clean(&b.pair);
	close_both(&b);
}

TEST(a_little_is_done_at_once)
{
	struct both b;
	open_both(&b);
	end_send(&b.pair.ends[0], 1000, true);
	end_flush(&b.pair.ends[0]);
	assert_false(is_away(&b.pair.ends[0]));
	assert_true(net_until(&b.net, 2000, all_arrived, &b));
	close_both(&b);
}

/* Whoever ends it, and wherever what is away is then: nothing is lost but what was under way, and the next
 * link is whole. */
TEST(a_link_ends_while_it_is_away)
{
	struct both b;
	open_both(&b);
	uint32_t away = 0;
	for (int k = 0; k < 24; k++) {
		struct end *ends = b.pair.ends;
		send_vectors(&ends[0], 6);
		send_vectors(&ends[1], 6);
		for (int turns = k; turns > 0; turns--)
			net_turn(&b.net);
		away += is_away(&ends[k % 2]);
		sl_links_drop(ends[k % 2].links, 1 - (uint32_t)k % 2, "dropped by the test");
		settle(&b);
	}
	assert_true(away > 4);
	pair_say(&b.pair);
	assert_true(net_until(&b.net, 5000, pair_heard, &b.pair));
	close_both(&b);
}

/* All of it at once: pair_close waits until the last of them is back and freed, net_close for the
 * descriptors. */
TEST(all_end_while_it_is_away)
{
	for (int k = 0; k < 20; k++) {
		struct both b;
		open_both(&b);
		send_vectors(&b.pair.ends[0], 10);
		send_vectors(&b.pair.ends[1], 10);
		for (int turns = k; turns > 0; turns--)
			net_turn(&b.net);
		close_both(&b);
	}
}

static bool fallen(void *argument)
{
	const struct both *b = argument;
	return b->pair.ends[1].downs > 0;
}

TEST(what_is_no_frame_ends_the_link)
{
	struct both b;
	open_both(&b);
	struct sl_frame *frame = sl_link_frame_new(VECTOR, true);
	memset(frame->bytes, 'x', frame->size);
	sl_links_send(b.pair.ends[0].links, 1, frame);
	sl_link_frame_release(frame);
	end_send(&b.pair.ends[0], 100, true);
	end_flush(&b.pair.ends[0]);
	assert_true(is_away(&b.pair.ends[0]));
	assert_true(net_until(&b.net, 2000, fallen, &b));
	assert_string_equal(b.pair.ends[1].why, "a malformed frame");
	assert_int_equal(b.pair.ends[1].received, 0);
	close_both(&b);
}

static bool paused(void *argument)
{
	const struct both *b = argument;
	return end_link(&b->pair.ends[1])->paused;
}

/* Who does not deal with what came is not read to, but for what was under way; and hears the rest when it
 * has. */
TEST(a_reader_that_lags_is_waited_for)
{
	struct both b;
	open_both(&b);
	struct end *lazy = &b.pair.ends[1];
	lazy->lazy = true;
	for (int k = 0; k < 400; k++)
		end_send(&b.pair.ends[0], 30000, true);
	end_flush(&b.pair.ends[0]);
	assert_true(net_until(&b.net, 5000, paused, &b));
	net_elapse(&b.net, 200);
	uint32_t most =
		SL_UNREAD_MAX + 3 * SL_READ_BYTES / 30000; /* a bulk, what was kept, and the read before */
	assert_true(lazy->received <= most);
	while (!all_arrived(&b)) {
		uint32_t before = lazy->received;
		end_consume(lazy);
		for (uint64_t turns = 0; lazy->received == before && turns < 1000; turns++)
			net_turn(&b.net);
		assert_true(lazy->received > before && lazy->received - before <= most);
	}
	pair_expect_clean(&b.pair);
	close_both(&b);
}
