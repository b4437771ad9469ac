/* Links through a third learner: two that cannot reach each other, and what ends such a link. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/base/bytes.h"
#include "test/lib/test.h"
#include "test/net/trio.h"

#define LARGE 200000u

static void want_all(struct trio *trio)
{
	for (uint32_t i = 0; i < COUNT; i++) {
		uint64_t set = 7u & ~(UINT64_C(1) << i);
		if (trio->sides[i].links != NULL)
			sl_links_want(trio->sides[i].links, &set);
	}
}

/* Both want a link to the relay alone. */
static void reach_relay(struct trio *trio, bool (*condition)(void *))
{
	uint64_t relay = 1;
	for (uint32_t i = A; i <= X; i++)
		sl_links_want(trio->sides[i].links, &relay);
	assert_true(net_until(&trio->net, WAIT_MS, condition, trio));
}

static bool goes(const struct trio *trio, enum sl_link_way way)
{
	const struct sl_link *a = up_of(trio, A, X), *x = up_of(trio, X, A);
	return a != NULL && x != NULL && a->way == way && x->way == way;
}

static bool is_relayed(void *argument)
{
	return goes(argument, SL_LINK_RELAY);
}

/* Await a link of the two through the relay. */
static void relay_link(struct trio *trio)
{
	want_all(trio);
	assert_true(net_until(&trio->net, WAIT_MS, is_relayed, trio));
}

static struct trio *relayed(void)
{
	struct trio *trio = trio_open(true);
	relay_link(trio);
	return trio;
}

static bool is_direct(void *argument)
{
	return goes(argument, SL_LINK_DIRECT);
}

static void push(struct trio *trio, uint32_t from, uint32_t to, size_t size)
{
	struct sl_frame *frame = sl_link_frame_new(SL_FRAME_HEADER_BYTES + size, size > 1000);
	assert_non_null(frame);
	sl_frame_header(frame->bytes, size > 1000 ? SL_MSG_STATE : SL_MSG_HELLO, size);
	for (size_t i = 0; i < size; i++)
		frame->bytes[SL_FRAME_HEADER_BYTES + i] = (uint8_t)(i * 7 + size);
	sl_links_send(trio->sides[from].links, to, frame);
	sl_link_frame_release(frame);
}

static bool one_reaches_it(void *argument)
{
	const struct trio *trio = argument;
	return up_of(trio, R, A) != NULL && up_of(trio, A, R) != NULL;
}

static bool another_answers(void *argument)
{
	const struct trio *trio = argument;
	return trio->sides[A].links->figures.tls_failures[SL_TLS_FAILURE_OTHER_KEY] > 1;
}

/* The address of X leads to R, as that of a NAT may: R keeps the link that it has. */
TEST(another_learner_keeps_its_link)
{
	struct trio *trio = trio_open(false);
	uint64_t both = 1u << R | 1u << X;
	sl_links_want(trio->sides[A].links, &(uint64_t){1u << R});
	assert_true(net_until(&trio->net, WAIT_MS, one_reaches_it, trio));
	set_address(trio, X, trio->sides[R].port);
	sl_links_want(trio->sides[A].links, &both);
	assert_true(net_until(&trio->net, WAIT_MS, another_answers, trio));
	net_elapse(&trio->net, 50);
	assert_int_equal(trio->sides[R].ups[A], 1);
	assert_int_equal(trio->sides[R].downs[A], 0);
	trio_close(trio);
}

#define FRAMES 40u

static bool all_came(void *argument)
{
	const struct trio *trio = argument;
	for (const struct sl_link *leg = trio->sides[R].links->all; leg != NULL; leg = leg->next)
		assert_true(uv_stream_get_write_queue_size((const uv_stream_t *)&leg->tcp) <=
				    SL_RELAY_BYTES ||
			    leg->state != SL_LINK_SPLICED);
	return trio->sides[A].frames[X] == FRAMES + 1 && trio->sides[X].frames[A] == FRAMES + 1;
}

/* Much goes both ways at once: more than all buffers on the way hold. */
TEST(two_that_cannot_reach_each_other)
{
	struct trio *trio = relayed();
	assert_int_equal(up_of(trio, A, X)->via, R);
	assert_int_equal(up_of(trio, X, A)->via, R);
	for (uint32_t i = 0; i < FRAMES; i++) {
		push(trio, A, X, LARGE + i);
		push(trio, X, A, LARGE + i);
	}
	push(trio, A, X, 10);
	push(trio, X, A, 10);
	for (uint32_t i = A; i <= X; i++)
		sl_links_flush(trio->sides[i].links);
	assert_true(net_until(&trio->net, WAIT_MS, all_came, trio));
	assert_int_equal(trio->sides[R].frames[A] + trio->sides[R].frames[X], 0);
	assert_int_equal(trio->sides[A].ups[X], 1);
	assert_int_equal(trio->sides[X].ups[A], 1);
	assert_int_equal(trio->sides[R].links->handshaking, 0);
	trio_close(trio);
}

/* Full segments of a relayed connection were lost to X. Only if its direct link has brought bytes meanwhile,
 * not all packets were. */
static void lose_large(bool heard)
{
	struct trio *trio = trio_open(true);
	const struct sl_slot *slot = &trio->sides[R].links->slots[X];
	relay_link(trio);
	struct sl_link *leg = trio->sides[R].links->all;
	while (leg->state != SL_LINK_SPLICED || leg->via != X)
		leg = leg->next;
	leg->stalled_at = heard ? 1 : slot->up->heard;
	leg->reset = true;
	sl_link_close(leg, SL_LINK_NARROW);
	assert_int_equal(slot->segment, heard ? SL_SEGMENT_SMALL : 0);
	assert_int_equal(slot->guess, heard ? 0 : SL_SEGMENT_SMALL);
	trio_close(trio);
}

TEST(a_relay_that_loses_large_packets_hears_the_peer)
{
	lose_large(true);
	lose_large(false);
}

TEST(no_learner_relays_unless_it_is_told)
{
	struct trio *trio = trio_open(false);
	want_all(trio);
	assert_true(net_until(&trio->net, WAIT_MS, both_reach_it, trio));
	net_elapse(&trio->net, 300);
	assert_null(up_of(trio, A, X));
	trio_close(trio);
}

/* Many connections to one relay are under way at once: what is known of its addresses is not theirs to
 * change. */
TEST(relayed_dials_leave_the_ways_of_the_relay)
{
	struct trio *trio = trio_open(true);
	reach_relay(trio, both_reach_it);
	for (uint32_t i = A; i <= X; i++)
		trio->sides[i].links->slots[R].ways = 7;
	relay_link(trio);
	for (uint32_t i = A; i <= X; i++)
		assert_int_equal(trio->sides[i].links->slots[R].ways, 7);
	trio_close(trio);
}

static bool is_direct_at(void *argument)
{
	const struct sl_link *x = up_of(argument, X, A);
	return x != NULL && x->way == SL_LINK_DIRECT;
}

TEST(the_second_address_of_the_relay)
{
	struct trio *trio = trio_open(true);
	reach_relay(trio, both_reach_it);
	snprintf(trio->members[R].address, SL_ADDRESS_BYTES, "127.0.0.1:1, 127.0.0.1:%u",
		 trio->sides[R].port);
	for (uint32_t i = A; i <= X; i++)
		trio->sides[i].links->slots[R].tries = 0;
	relay_link(trio);
	trio_close(trio);
}

/* Another key that answers through a relay is no reason to be silent about one that answers at the address.
 */
TEST(a_relay_answers_itself)
{
	struct trio *trio = relayed();
	struct sl_slot *slot = &trio->sides[A].links->slots[X];
	bool dialled = slot->up->dialled;
	slot->up->dialled = true;
	slot->up->session.pin[0] ^= 1;
	sl_links_report_unknown(slot->up);
	assert_false(slot->refused);
	slot->up->session.member = R;
	assert_false(sl_links_is_rightful(slot->up));
	assert_false(slot->refused);
	slot->up->way = SL_LINK_DIRECT;
	assert_false(sl_links_is_rightful(slot->up));
	assert_true(slot->refused);
	slot->up->way = SL_LINK_RELAY;
	slot->up->dialled = dialled;
	trio_close(trio);
}

/* Give X the order of R to take a way from A. */
static void order_take(const struct trio *trio)
{
	uint8_t payload[8 + SL_RELAY_TOKEN_BYTES] = {0};
	struct sl_writer w = {.bytes = payload, .size = sizeof payload};
	const struct sl_links *links = trio->sides[X].links;
	sl_bytes_put_u32(&w, SL_RELAY_TAKE);
	sl_bytes_put_u32(&w, trio->members[A].id);
	links->reports->order(links->slots[R].up, payload, sizeof payload);
}

static bool x_knows_the_relay(void *argument)
{
	const struct trio *trio = argument;
	return both_reach_it(argument) && trio->sides[X].links->slots[R].relays;
}

static bool a_knows_the_relay(void *argument)
{
	return ((const struct trio *)argument)->sides[A].links->slots[R].relays;
}

static bool x_takes_nothing(void *argument)
{
	return ((const struct trio *)argument)->sides[X].links->handshaking == 0;
}

TEST(a_relay_leaves_room_for_the_ways_of_others)
{
	struct trio *trio = trio_open(true);
	struct sl_links *x = trio->sides[X].links;
	uint64_t relay = 1, both = 3;
	sl_links_want(trio->sides[A].links, &relay);
	sl_links_want(x, &both);
	assert_true(net_until(&trio->net, WAIT_MS, x_knows_the_relay, trio));
	trio->net.timing.retry_least = 0;
	for (uint32_t i = 0; i < 100; i++)
		order_take(trio);
	assert_int_equal(x->handshaking, SL_TAKEN_MAX);
	assert_true(net_until(&trio->net, WAIT_MS, x_takes_nothing, trio));
	trio->net.timing.retry_least = 60000;
	order_take(trio);
	assert_int_equal(x->handshaking, 0); /* soon after the last one of this relay */
	x->slots[A].taken_via = A;	     /* that was another relay */
	order_take(trio);
	assert_int_equal(x->handshaking, 1);
	trio_close(trio);
}

static uint32_t asks;

static void count_asks(struct sl_link *link, const uint8_t *payload, size_t size)
{
	struct sl_relay_order order;
	(void)link;
	asks += sl_relay_read(payload, size, &order) && order.verb == SL_RELAY_ASK;
}

static void hear_asks(struct trio *trio)
{
	static struct sl_link_reports reports;
	asks = 0;
	reports = *trio->sides[R].links->reports;
	reports.order = count_asks;
	trio->sides[R].links->reports = &reports;
}

static bool has_asked(void *argument)
{
	(void)argument;
	return asks > 0;
}

static bool has_failed_often(void *argument)
{
	return ((const struct trio *)argument)->sides[X].links->slots[A].failures >= 4;
}

/* X has taken a way that A has asked for: a request of its own would end it. */
TEST(the_second_awaits_the_way_of_the_first)
{
	struct trio *trio = trio_open(true);
	struct sl_links *x = trio->sides[X].links;
	uint64_t both = 3;
	hear_asks(trio);
	reach_relay(trio, x_knows_the_relay);
	trio->net.timing.handshake = 600000;
	x->slots[A].taken_at = uv_now(&trio->net.loop);
	sl_links_want(x, &both);
	assert_true(net_until(&trio->net, WAIT_MS, has_failed_often, trio));
	net_elapse(&trio->net, 20);
	assert_int_equal(asks, 0);
	x->slots[A].taken_at = 0;
	assert_true(net_until(&trio->net, WAIT_MS, has_asked, NULL));
	trio_close(trio);
}

/* A has taken a way that X has asked for, and asks all the same: else a relay could keep both from the
 * others.
 */
TEST(the_first_asks_all_the_same)
{
	struct trio *trio = trio_open(true);
	struct sl_links *a = trio->sides[A].links;
	uint64_t both = 5;
	hear_asks(trio);
	reach_relay(trio, both_reach_it);
	trio->net.timing.handshake = 600000;
	a->slots[X].taken_at = uv_now(&trio->net.loop);
	sl_links_want(a, &both);
	assert_true(net_until(&trio->net, WAIT_MS, has_asked, NULL));
	trio_close(trio);
}

/* ---- dials beside a relay ---- */

/* Make a dial of A to X in this state, which gets no answer. */
static struct sl_link *make_dial(struct trio *trio, enum sl_link_state_kind state)
{
	struct sl_links *a = trio->sides[A].links;
	struct sl_link *dial = sl_link_new(a, X, true);
	assert_non_null(dial);
	dial->state = state;
	dial->via = X;
	a->slots[X].dialling = dial;
	a->dials++;
	return dial;
}

static bool has_failed_twice(void *argument)
{
	return ((const struct trio *)argument)->sides[X].links->slots[A].tries >= 2;
}

static bool is_direct_or_failed(void *argument)
{
	return has_failed_twice(argument) || is_direct_at(argument);
}

/* X may have accepted what A has offered: A takes no other link meanwhile, also beside a relayed one. */
TEST(an_offer_stands_beside_a_relayed_link)
{
	struct trio *trio = relayed();
	trio->net.timing.handshake = 600000;
	struct sl_link *had = trio->sides[A].links->slots[X].dialling;
	if (had != NULL)
		sl_link_close(had, "another one is made");
	struct sl_link *offer = make_dial(trio, SL_LINK_OFFERED);
	trio->sides[X].links->slots[A].tries = 0;
	set_address(trio, A, trio->sides[A].port);
	assert_true(net_until(&trio->net, WAIT_MS, is_direct_or_failed, trio));
	assert_true(is_relayed(trio));
	assert_ptr_equal(trio->sides[A].links->slots[X].dialling, offer);
	sl_link_close(offer, "it was not accepted");
	assert_true(net_until(&trio->net, WAIT_MS, is_direct, trio));
	trio_close(trio);
}

static bool is_gone(void *argument)
{
	return ((const struct trio *)argument)->sides[A].links->slots[X].dialling == NULL;
}

/* Where a relay may do, a connect ends early; but every second one is given its time, as the way may be long.
 */
TEST(a_relay_does_not_end_every_connect)
{
	struct trio *trio = trio_open(true);
	struct sl_links *a = trio->sides[A].links;
	reach_relay(trio, both_reach_it);
	assert_true(net_until(&trio->net, WAIT_MS, a_knows_the_relay, trio));
	trio->net.timing.handshake = 40000;
	struct sl_link *dial = make_dial(trio, SL_LINK_CONNECT);
	a->slots[X].tries = 1;
	dial->since = uv_now(&trio->net.loop) - 20000;
	net_elapse(&trio->net, 50);
	assert_ptr_equal(a->slots[X].dialling, dial);
	a->slots[X].tries = 2;
	assert_true(net_until(&trio->net, WAIT_MS, is_gone, trio));
	a->relays = 0; /* without one it has its time */
	dial = make_dial(trio, SL_LINK_CONNECT);
	a->slots[X].tries = 2;
	dial->since = uv_now(&trio->net.loop) - 20000;
	net_elapse(&trio->net, 50);
	assert_ptr_equal(a->slots[X].dialling, dial);
	a->relays = 1;
	trio_close(trio);
}

/* Send both ends a byte now and then, in place of what they send each other. */
static struct {
	uint64_t at;
	uint32_t sent;
} trickle;

static bool trickles(void *argument)
{
	static const uint8_t record[] = {0x17, 3, 3, 0x40, 0}; /* begins one of 16,384 bytes */
	const struct trio *trio = argument;
	uint64_t now = uv_now(&trio->net.loop);
	bool ended = trio->sides[A].downs[X] > 0 && trio->sides[X].downs[A] > 0;
	if (now < trickle.at + 20)
		return ended;
	uv_buf_t byte = uv_buf_init((char *)&record[trickle.sent < 5 ? trickle.sent : 4], 1);
	for (struct sl_link *leg = trio->sides[R].links->all; leg != NULL; leg = leg->next) {
		if (leg->state != SL_LINK_SPLICED)
			continue;
		leg->heard = now; /* or R would end them */
		uv_read_stop((uv_stream_t *)&leg->tcp);
		uv_try_write((uv_stream_t *)&leg->tcp, &byte, 1);
	}
	trickle.at = now;
	trickle.sent++;
	return ended;
}

/* A relay that holds back what the two send keeps their link by no bytes of its own. */
TEST(a_relay_keeps_no_dead_link)
{
	struct trio *trio = relayed();
	net_elapse(&trio->net, 20);
	memset(&trickle, 0, sizeof trickle);
	trio->net.timing.silence = 300;
	trio->net.timing.ping = 100;
	assert_true(net_until(&trio->net, WAIT_MS, trickles, trio));
	trio_close(trio);
}

/* A has ended without a word, and the relay does not say so: X knows an earlier start of it. */
TEST(a_relay_keeps_no_learner_out)
{
	struct trio *trio = relayed();
	trio->sides[X].links->slots[A].up->session.start++;
	set_address(trio, X, trio->sides[X].port);
	assert_true(net_until(&trio->net, WAIT_MS, is_direct_at, trio));
	trio_close(trio);
}

static bool both_lost(void *argument)
{
	const struct trio *trio = argument;
	return up_of(trio, A, X) == NULL && up_of(trio, X, A) == NULL;
}

/* The relay ends, and comes back. */
TEST(the_relay_ends)
{
	struct trio *trio = relayed();
	struct sl_links *old = trio->sides[R].links;
	sl_links_close(old);
	assert_true(net_until(&trio->net, WAIT_MS, both_lost, trio));
	net_elapse(&trio->net, 50);
	assert_int_equal(old->open, 0);
	sl_links_free(old);
	open_side(trio, R, true);
	set_address(trio, R, trio->sides[R].port);
	relay_link(trio);
	trio_close(trio);
}

/* Whichever of the two can be reached again. A has dialled the relayed link: it goes first. */
static void expect_direct_again(uint32_t reached)
{
	struct trio *trio = trio_open(true);
	reach_relay(trio, both_reach_it);
	trio->net.timing.head_start = 600000;
	relay_link(trio);
	assert_true(up_of(trio, A, X)->dialled);
	net_elapse(&trio->net, 700); /* it is tried in vain meanwhile, which disturbs nothing */
	assert_int_equal(trio->sides[A].ups[X], 1);
	assert_int_equal(trio->sides[A].downs[X], 0);
	set_address(trio, reached, trio->sides[reached].port);
	assert_true(net_until(&trio->net, WAIT_MS, is_direct, trio));
	net_elapse(&trio->net, 700);
	assert_true(is_direct(trio));
	assert_int_equal(trio->sides[A].ups[X], 2);
	assert_int_equal(trio->sides[X].ups[A], 2);
	trio_close(trio);
}

TEST(the_first_is_reached_again)
{
	expect_direct_again(A);
}

TEST(the_second_is_reached_again)
{
	expect_direct_again(X);
}
