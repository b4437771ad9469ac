/* TLS offload: while the crypto worker encrypts and decrypts, frames keep their order, and a link may end at
 * any moment. */
#include <stdint.h>
#include <string.h>

#include "test/lib/test.h"
#include "test/net/pair.h"

#define VECTOR (200u << 10)

/* Wanted anew, it is dialled without the pause that comes of failures. */
static void settle(struct pair *pair)
{
	pair_want(pair, 0, false);
	pair_want(pair, 0, true);
	pair_await(pair, 5000, pair_settled);
}

static struct pair *open_both(void)
{
	struct pair *pair = pair_alone();
	settle(pair);
	return pair;
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
	const struct pair *pair = argument;
	return pair->ends[0].received == pair->ends[1].sent && pair->ends[1].received == pair->ends[0].sent;
}

/* However slow the way is: no more is encrypted ahead than one write. */
static bool all_arrived_evenly(void *argument)
{
	const struct pair *pair = argument;
	for (uint32_t i = 0; i < 2; i++)
		assert_true(end_link(&pair->ends[i])->in_flight <=
			    SL_TLS_WRITE_BYTES + SL_TLS_WRITE_BYTES / 64);
	return all_arrived(argument);
}

TEST(both_ways_at_once)
{
	struct pair *pair = open_both();
	uint32_t away = 0;
	pair->emulators[0].bytes_per_s = pair->emulators[1].bytes_per_s = 20u << 20;
	for (int k = 0; k < 5; k++) {
		send_vectors(&pair->ends[0], 10);
		send_vectors(&pair->ends[1], 10);
		away += is_away(&pair->ends[0]) + is_away(&pair->ends[1]);
		net_turn(pair->net);
	}
	assert_true(away > 0);
	pair_await(pair, 60000, all_arrived_evenly);
	pair_expect_clean(pair);
	pair_end(pair);
}

TEST(a_little_is_done_at_once)
{
	struct pair *pair = open_both();
	end_send(&pair->ends[0], 1000, true);
	end_flush(&pair->ends[0]);
	assert_false(is_away(&pair->ends[0]));
	pair_await(pair, 2000, all_arrived);
	pair_end(pair);
}

/* Either end closes the link at any point of an offload: only frames under way are lost, and the next link
 * works. */
TEST(a_link_ends_while_it_is_away)
{
	struct pair *pair = open_both();
	uint32_t away = 0;
	for (int k = 0; k < 24; k++) {
		struct end *ends = pair->ends;
		send_vectors(&ends[0], 6);
		send_vectors(&ends[1], 6);
		for (int turns = k; turns > 0; turns--)
			net_turn(pair->net);
		away += is_away(&ends[k % 2]);
		sl_links_drop(ends[k % 2].links, 1 - (uint32_t)k % 2, "dropped by the test");
		settle(pair);
	}
	assert_true(away > 4);
	pair_say(pair);
	pair_await(pair, 5000, pair_heard);
	pair_end(pair);
}

/* All of it at once: pair_close waits until the last of them is back and freed, net_close for the
 * descriptors. */
TEST(all_end_while_it_is_away)
{
	for (int k = 0; k < 20; k += 2) {
		struct pair *pair = open_both();
		send_vectors(&pair->ends[0], 10);
		send_vectors(&pair->ends[1], 10);
		for (int turns = k; turns > 0; turns--)
			net_turn(pair->net);
		pair_end(pair);
	}
}

static bool fallen(void *argument)
{
	const struct pair *pair = argument;
	return pair->ends[1].downs > 0;
}

TEST(what_is_no_frame_ends_the_link)
{
	struct pair *pair = open_both();
	struct sl_frame *frame = sl_link_frame_new(VECTOR, true);
	memset(frame->bytes, 'x', frame->size);
	sl_links_send(pair->ends[0].links, 1, frame);
	sl_link_frame_release(frame);
	end_send(&pair->ends[0], 100, true);
	end_flush(&pair->ends[0]);
	assert_true(is_away(&pair->ends[0]));
	pair_await(pair, 2000, fallen);
	assert_string_equal(pair->ends[1].why, "a malformed frame");
	assert_int_equal(pair->ends[1].received, 0);
	pair_end(pair);
}

static bool paused(void *argument)
{
	const struct pair *pair = argument;
	return end_link(&pair->ends[1])->paused;
}

/* A link whose frames are not consumed is no longer read, except for what was under way; it receives the rest
 * afterwards. */
TEST(a_reader_that_lags_is_waited_for)
{
	struct pair *pair = open_both();
	struct end *lazy = &pair->ends[1];
	lazy->lazy = true;
	for (int k = 0; k < 400; k++)
		end_send(&pair->ends[0], 30000, true);
	end_flush(&pair->ends[0]);
	pair_await(pair, 5000, paused);
	net_elapse(pair->net, 200);
	uint32_t most =
		SL_UNREAD_MAX + 3 * SL_READ_BYTES / 30000; /* a bulk, what was kept, and the read before */
	assert_true(lazy->received <= most);
	while (!all_arrived(pair)) {
		uint32_t before = lazy->received;
		end_consume(lazy);
		for (uint64_t turns = 0; lazy->received == before && turns < 1000; turns++)
			net_turn(pair->net);
		assert_true(lazy->received > before && lazy->received - before <= most);
	}
	pair_expect_clean(pair);
	pair_end(pair);
}
