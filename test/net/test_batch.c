/* Control frames that wait together leave together: in one TLS record where they fit, in one write. */
#include <stdint.h>
#include <string.h>

#include "test/lib/test.h"
#include "test/net/pair.h"

#define RECORD (16u << 10)

struct sending {
	struct pair *pair;
	struct end *end;
	struct sl_links_figures before;
	uint64_t records; /* that the emulator had seen */
};

static void open_sending(struct sending *s)
{
	s->pair = pair_alone();
	pair_want(s->pair, 0, true);
	pair_await(s->pair, 2000, pair_settled);
	net_elapse(s->pair->net, 20);
	s->end = &s->pair->ends[0];
	s->before = *sl_links_figures(s->end->links);
	s->records = s->pair->emulators[1].records[THERE];
}

static bool arrived(void *argument)
{
	const struct sending *s = argument;
	return s->pair->ends[1].received == s->end->sent;
}

/* A ping may have followed. */
static bool emulator_has_seen_all(void *argument)
{
	const struct sending *s = argument;
	const struct sl_links_figures *now = sl_links_figures(s->end->links);
	return s->pair->emulators[1].records[THERE] - s->records ==
	       now->records_sent - s->before.records_sent;
}

/* Compare what was sent since the opening, by the figures and by the emulator; all of it arrives. */
static void expect(struct sending *s, uint64_t records, uint64_t writes)
{
	const struct sl_links_figures *now = sl_links_figures(s->end->links);
	end_flush(s->end);
	assert_true(net_until(s->pair->net, 2000, arrived, s));
	assert_int_equal(now->records_sent - s->before.records_sent, records);
	assert_int_equal(now->writes - s->before.writes, writes);
	assert_true(net_until(s->pair->net, 2000, emulator_has_seen_all, s));
	pair_end(s->pair);
}

/* Define a case that runs with TLS on the loop thread, and again with a worker thread. */
#define TEST_BOTH(name)                                                                                      \
	static void name(void);                                                                              \
	TEST(name##_at_once)                                                                                 \
	{                                                                                                    \
		pair_offloads = false;                                                                       \
		name();                                                                                      \
	}                                                                                                    \
	TEST(name##_with_a_worker)                                                                           \
	{                                                                                                    \
		pair_offloads = true;                                                                        \
		name();                                                                                      \
	}                                                                                                    \
	static void name(void)

TEST_BOTH(small_frames_share_a_record)
{
	struct sending s;
	open_sending(&s);
	for (int k = 0; k < 100; k++)
		end_send(s.end, 150, false);
	expect(&s, 1, 1);
}

TEST_BOTH(a_full_record_is_one)
{
	struct sending s;
	open_sending(&s);
	end_send(s.end, RECORD / 2 - SL_FRAME_HEADER_BYTES, false);
	end_send(s.end, RECORD / 2 - SL_FRAME_HEADER_BYTES, false);
	expect(&s, 1, 1);
}

TEST_BOTH(a_byte_more_is_two)
{
	struct sending s;
	open_sending(&s);
	end_send(s.end, RECORD / 2 - SL_FRAME_HEADER_BYTES, false);
	end_send(s.end, RECORD / 2 - SL_FRAME_HEADER_BYTES + 1, false);
	expect(&s, 2, 1);
}

/* 2 small ones together, the large one in its 3, 1 small one. */
TEST_BOTH(large_control_frames_keep_their_place)
{
	struct sending s;
	open_sending(&s);
	end_send(s.end, 100, false);
	end_send(s.end, 100, false);
	end_send(s.end, 40u << 10, false);
	end_send(s.end, 100, false);
	expect(&s, 5, 1);
}

/* Control frames, small ones and a large one of 2 records, go before a vector that was queued earlier, of 7
 * records. */
TEST_BOTH(vectors_go_behind)
{
	struct sending s;
	open_sending(&s);
	end_send(s.end, 100u << 10, true);
	for (int k = 0; k < 10; k++)
		end_send(s.end, 100, false);
	end_send(s.end, 20u << 10, false);
	expect(&s, 10, 1);
	assert_int_equal(s.pair->ends[1].ahead, 11);
}

/* More than a link takes at once: frames that come while a vector is partly encrypted wait for its end, not
 * for the rest. */
TEST_BOTH(control_frames_pass_between_vectors)
{
	struct sending s;
	open_sending(&s);
	for (int k = 0; k < 32; k++)
		end_send(s.end, 200u << 10, true);
	end_flush(s.end);
	for (int k = 0; k < 10; k++)
		end_send(s.end, 100, false);
	end_flush(s.end);
	assert_true(net_until(s.pair->net, 2000, pair_heard, s.pair));
	assert_true(s.pair->ends[1].received < 32);
	assert_true(net_until(s.pair->net, 5000, arrived, &s));
	pair_end(s.pair);
}

/* Frames may end anywhere in a record: small ones, and vectors that all end elsewhere. */
TEST_BOTH(frames_of_all_sizes_arrive)
{
	struct sending s;
	open_sending(&s);
	for (size_t size = 4; size < 250000; size = size * 5 / 4 + 1) {
		end_send(s.end, size, true);
		if (size < SL_CONTROL_BYTES_MAX)
			end_send(s.end, size, false);
		end_flush(s.end);
	}
	assert_true(net_until(s.pair->net, 5000, arrived, &s));
	pair_end(s.pair);
}

static bool fallen(void *argument)
{
	const struct sending *s = argument;
	return s->pair->ends[1].downs > 0;
}

/* A malformed frame ends the link; the bytes behind it are dropped. */
TEST_BOTH(what_is_no_frame_ends_the_link)
{
	struct sending s;
	open_sending(&s);
	struct sl_frame *frame = sl_link_frame_new(100, false);
	memset(frame->bytes, 'x', frame->size);
	sl_links_send(s.end->links, 1, frame);
	sl_link_frame_release(frame);
	end_send(s.end, 100, false);
	end_flush(s.end);
	assert_true(net_until(s.pair->net, 2000, fallen, &s));
	assert_string_equal(s.pair->ends[1].why, "a malformed frame");
	assert_int_equal(s.pair->ends[1].received, 0);
	pair_end(s.pair);
}

/* Send a Hello of 100 bytes whose header has `value` as byte `at`. */
static void send_changed(struct sending *s, size_t at, uint8_t value)
{
	struct sl_frame *frame = sl_link_frame_new(100, false);
	sl_frame_header(frame->bytes, SL_MSG_HELLO, 100 - SL_FRAME_HEADER_BYTES);
	frame->bytes[at] = value;
	sl_links_send(s->end->links, 1, frame);
	sl_link_frame_release(frame);
}

/* A frame of another version ends the link, with the version in the reason. */
TEST_BOTH(another_version_is_named)
{
	struct sending s;
	open_sending(&s);
	send_changed(&s, 1, SL_FRAME_VERSION + 1);
	end_flush(s.end);
	assert_true(net_until(s.pair->net, 2000, fallen, &s));
	assert_string_equal(s.pair->ends[1].why,
			    "the peer speaks a newer version of the protocol: upgrade Starling here");
	pair_end(s.pair);
}

/* A control message that a later version has added is dropped, and what follows arrives. */
TEST_BOTH(messages_of_later_versions_are_dropped)
{
	struct sending s;
	open_sending(&s);
	send_changed(&s, 2, SL_FRAME_LATER_LAST);
	end_send(s.end, 100, false);
	end_flush(s.end);
	assert_true(net_until(s.pair->net, 2000, arrived, &s));
	assert_int_equal(s.pair->ends[1].received, 1);
	pair_end(s.pair);
}

static bool blocked(void *argument)
{
	const struct sending *s = argument;
	return end_link(s->end)->in_flight > 0;
}

/* While the kernel accepts no bytes, at most one write is encrypted ahead, however often frames are sent. The
 * other frames wait unencrypted; control frames go before vectors. */
TEST_BOTH(little_is_encrypted_ahead)
{
	struct sending s;
	open_sending(&s);
	s.pair->emulators[1].pass[THERE] = 0;
	for (int k = 0; k < 64; k++)
		end_send(s.end, 200u << 10, true);
	end_flush(s.end);
	assert_true(net_until(s.pair->net, 2000, blocked, &s));
	for (int k = 0; k < 20; k++) {
		end_send(s.end, 100, false);
		end_flush(s.end);
	}
	assert_true(end_link(s.end)->in_flight <= SL_TLS_WRITE_BYTES + SL_TLS_WRITE_BYTES / 64);
	assert_true(sl_links_waiting(s.end->links, 1) > 32u * (200u << 10));
	emulator_let_pass(&s.pair->emulators[1]);
	assert_true(net_until(s.pair->net, 10000, arrived, &s));
	pair_end(s.pair);
}

/* A link closes when much waits that the other end does not read; what has left does not wait. */
TEST_BOTH(much_is_not_too_much)
{
	struct sending s;
	open_sending(&s);
	for (int k = 0; k < 80; k++) {
		end_send(s.end, 30u << 10, false);
		end_send(s.end, 1u << 10, false);
		end_flush(s.end);
		assert_true(net_until(s.pair->net, 2000, arrived, &s));
	}
	s.pair->net->timing.ping = 0; /* due at the next tick */
	net_elapse(s.pair->net, 50);
	assert_true(pair_settled(s.pair));
	pair_end(s.pair);
}
