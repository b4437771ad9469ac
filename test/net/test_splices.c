/* What a relay does with connections: prefaces, splices and their limits. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "test/lib/test.h"
#include "test/net/trio.h"

struct caller {
	uv_tcp_t tcp;
	uv_connect_t connect;
	bool connected, ended;
};

static void on_connected(uv_connect_t *request, int status)
{
	((struct caller *)request->data)->connected = status == 0;
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	static char room[1024];
	(void)handle, (void)suggested;
	*buffer = uv_buf_init(room, sizeof room);
}

static void on_bytes(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
	struct caller *caller = stream->data;
	(void)buffer;
	caller->ended = caller->ended || count < 0;
	if (count < 0)
		uv_read_stop(stream);
}

static bool is_connected(void *argument)
{
	return ((struct caller *)argument)->connected;
}

static bool has_ended(void *argument)
{
	return ((struct caller *)argument)->ended;
}

static void call(struct trio *trio, struct caller *caller)
{
	struct sockaddr_in name;
	*caller = (struct caller){.connected = false};
	uv_ip4_addr("127.0.0.1", trio->sides[R].port, &name);
	uv_tcp_init(&trio->net.loop, &caller->tcp);
	caller->tcp.data = caller->connect.data = caller;
	uv_tcp_connect(&caller->connect, &caller->tcp, (const struct sockaddr *)&name, on_connected);
	assert_true(net_until(&trio->net, WAIT_MS, is_connected, caller));
	uv_read_start((uv_stream_t *)&caller->tcp, on_room, on_bytes);
}

static void say(struct trio *trio, struct caller *caller, const uint8_t *bytes, size_t count)
{
	uv_buf_t buffer = uv_buf_init((char *)bytes, (unsigned)count);
	assert_int_equal(uv_try_write((uv_stream_t *)&caller->tcp, &buffer, 1), count);
	net_elapse(&trio->net, 2);
}

static void expect_end(struct trio *trio, struct caller *caller)
{
	assert_true(net_until(&trio->net, WAIT_MS, has_ended, caller));
	uv_close((uv_handle_t *)&caller->tcp, NULL);
	net_elapse(&trio->net, 5);
	assert_int_equal(trio->sides[R].links->handshaking, 0);
}

TEST(a_preface_that_no_learner_asked_for)
{
	struct trio *trio = trio_open(true);
	struct caller caller;
	uint8_t preface[SL_RELAY_PREFACE_BYTES + 1] = SL_RELAY_MAGIC;
	call(trio, &caller);
	for (size_t i = 0; i < SL_RELAY_PREFACE_BYTES; i++) /* byte by byte */
		say(trio, &caller, preface + i, 1);
	expect_end(trio, &caller);
	static const uint8_t garbage[SL_RELAY_PREFACE_BYTES + SL_RELAY_EARLY_BYTES + 1] = "relay";
	call(trio, &caller);
	say(trio, &caller, garbage, sizeof garbage);
	expect_end(trio, &caller);
	trio->net.timing.handshake = 200;
	call(trio, &caller);
	say(trio, &caller, preface, 20);
	expect_end(trio, &caller); /* it says no more */
	trio_close(trio);
}

/* Orders that the two have got; they do not follow them. */
static struct {
	uint32_t count[COUNT]; /* by verb: of DIAL - ASK, of TAKE - ASK */
	struct sl_relay_order last[COUNT];
} orders;

static void take_note(struct sl_link *link, const uint8_t *payload, size_t size)
{
	struct sl_relay_order order;
	(void)link;
	assert_true(sl_relay_read(payload, size, &order));
	if (order.verb <= SL_RELAY_ASK)
		return;
	orders.count[order.verb - SL_RELAY_ASK]++;
	orders.last[order.verb - SL_RELAY_ASK] = order;
}

static struct trio *trio_that_notes(void)
{
	static struct sl_link_reports reports;
	struct trio *trio = trio_open(true);
	uint64_t relay = 1;
	memset(&orders, 0, sizeof orders);
	reports = *trio->sides[A].links->reports;
	reports.order = take_note;
	for (uint32_t i = A; i <= X; i++) {
		trio->sides[i].links->reports = &reports;
		sl_links_want(trio->sides[i].links, &relay);
	}
	assert_true(net_until(&trio->net, WAIT_MS, both_reach_it, trio));
	return trio;
}

static bool is_granted(void *argument)
{
	(void)argument;
	return orders.count[1] > 0 && orders.count[2] > 0;
}

static void ask(struct trio *trio, uint32_t asker, uint32_t other)
{
	sl_relay_grant(trio->sides[R].links->slots[asker].up, other);
	net_elapse(&trio->net, 20);
}

/* Ask R for a way from A to X, and await its orders. */
static void await_way(struct trio *trio)
{
	ask(trio, A, X);
	assert_true(net_until(&trio->net, WAIT_MS, is_granted, NULL));
}

static void expect_orders(uint32_t count)
{
	assert_int_equal(orders.count[1], count);
	assert_int_equal(orders.count[2], count);
}

static void write_preface(uint8_t preface[static SL_RELAY_PREFACE_BYTES], uint32_t k)
{
	memcpy(preface, SL_RELAY_MAGIC, sizeof SL_RELAY_MAGIC - 1);
	memcpy(preface + sizeof SL_RELAY_MAGIC - 1, orders.last[k].token, SL_RELAY_TOKEN_BYTES);
}

/* The second connection never comes. */
TEST(a_splice_waits_for_a_time)
{
	struct trio *trio = trio_that_notes();
	struct caller caller, again;
	uint8_t preface[SL_RELAY_PREFACE_BYTES + SL_RELAY_EARLY_BYTES] = {0};
	await_way(trio);
	assert_int_equal(orders.last[1].id, trio->members[X].id);
	assert_int_equal(orders.last[2].id, trio->members[A].id);
	assert_memory_not_equal(orders.last[1].token, orders.last[2].token, SL_RELAY_TOKEN_BYTES);
	trio->net.timing.handshake = 60000;
	ask(trio, A, X); /* one at a time for a pair, whichever end asks */
	ask(trio, X, A);
	expect_orders(1);
	write_preface(preface, 1);
	call(trio, &caller);
	say(trio, &caller, preface, sizeof preface);
	net_elapse(&trio->net, 20);
	assert_int_equal(trio->sides[R].links->handshaking, 0);
	assert_false(caller.ended);
	call(trio, &again); /* a token is used once */
	say(trio, &again, preface, sizeof preface);
	expect_end(trio, &again);
	trio->net.timing.handshake = 100;
	expect_end(trio, &caller);
	ask(trio, A, X);
	expect_orders(2);
	trio_close(trio);
}

/* A way that came to nothing does not keep the pair from another one. */
TEST(a_new_splice_ends_the_one_before)
{
	struct trio *trio = trio_that_notes();
	struct caller caller;
	uint8_t preface[SL_RELAY_PREFACE_BYTES];
	await_way(trio);
	write_preface(preface, 1);
	call(trio, &caller);
	say(trio, &caller, preface, sizeof preface);
	assert_false(caller.ended);
	trio->net.timing.handshake = 60000; /* a fourth of it is the pause; nothing waits so long here */
	ask(trio, X, A);
	expect_orders(1);
	trio->net.timing.handshake = 2000;
	net_elapse(&trio->net, 600); /* the pause, and less than the time for which a splice waits */
	ask(trio, X, A);
	expect_orders(2);
	expect_end(trio, &caller);
	trio_close(trio);
}

/* Let A have a way to X, and both ends of it come. */
static void call_both(struct trio *trio, struct caller callers[static 3])
{
	uint8_t preface[SL_RELAY_PREFACE_BYTES];
	await_way(trio);
	for (uint32_t i = 1; i <= 2; i++) {
		write_preface(preface, i);
		call(trio, &callers[i]);
		say(trio, &callers[i], preface, sizeof preface);
	}
	assert_false(callers[1].ended || callers[2].ended);
}

/* Either connection ends the other one; then the pair may have another splice, after a second. */
TEST(a_splice_ends_with_either_connection)
{
	for (uint32_t k = 1; k <= 2; k++) {
		struct trio *trio = trio_that_notes();
		struct caller callers[3];
		call_both(trio, callers);
		uv_close((uv_handle_t *)&callers[k].tcp, NULL);
		expect_end(trio, &callers[3 - k]);
		ask(trio, A, X);
		expect_orders(2);
		trio_close(trio);
	}
}

/* A connection that carries nothing any more is ended. */
TEST(a_silent_splice_ends)
{
	struct trio *trio = trio_that_notes();
	struct caller callers[3];
	call_both(trio, callers);
	trio->net.timing.silence = 300;
	trio->net.timing.ping = 100;
	expect_end(trio, &callers[1]);
	expect_end(trio, &callers[2]);
	trio_close(trio);
}

/* A relay with a link to each of many, which it only queues orders for. */
#define MANY 400u

struct many {
	struct sl_links links;
	struct sl_roster roster;
	struct sl_link *up;
};

static struct many many_open(const struct trio *trio)
{
	struct many m = {.up = calloc(MANY, sizeof *m.up)};
	m.links.config = trio->sides[R].links->config;
	m.links.relay = sl_relay_open();
	m.links.slots = calloc(MANY, sizeof *m.links.slots);
	m.roster = (struct sl_roster){.members = calloc(MANY, sizeof *m.roster.members), .size = MANY};
	assert_true(m.up != NULL && m.links.relay != NULL && m.links.slots != NULL && m.roster.members);
	for (uint32_t i = 0; i < MANY; i++) {
		m.up[i].peer = i;
		m.up[i].in_flight = 1;
		m.up[i].control.end = &m.up[i].control.head;
		m.links.slots[i].up = &m.up[i];
		m.roster.members[i].id = i + 1;
	}
	return m;
}

/* Return how many ways `asker` gets to so many others, from the learner `first` on. */
static uint32_t count_granted(struct many *m, uint32_t asker, uint32_t first, uint32_t others)
{
	struct sl_link *link = &m->up[asker];
	size_t order = SL_FRAME_HEADER_BYTES + 8 + SL_RELAY_TOKEN_BYTES, before = link->control_bytes;
	for (uint32_t i = first; i < first + others; i++)
		sl_relay_grant(link, i);
	return (uint32_t)((link->control_bytes - before) / order);
}

TEST(a_relay_has_limits)
{
	struct trio *trio = trio_open(true);
	struct many m = many_open(trio);
	m.links.config.roster = &m.roster;
	for (uint32_t i = 0; i < MANY; i++)
		m.up[i].links = &m.links;
	assert_int_equal(count_granted(&m, 0, 100, SL_RELAY_SPLICES_EACH_MAX + 5), SL_RELAY_SPLICES_EACH_MAX);
	for (uint32_t i = 1; i < SL_RELAY_SPLICES_MAX / SL_RELAY_SPLICES_EACH_MAX; i++)
		assert_int_equal(count_granted(&m, i, 100, SL_RELAY_SPLICES_EACH_MAX),
				 SL_RELAY_SPLICES_EACH_MAX);
	assert_int_equal(count_granted(&m, 99, 100, 10), 0);
	for (uint32_t i = 0; i < MANY; i++)
		sl_link_discard(&m.up[i]);
	free(m.links.relay);
	free(m.links.slots);
	free(m.roster.members);
	free(m.up);
	trio_close(trio);
}
