#include "test/net/pair.h"
#include "test/lib/test.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define TURN_MOST_MS 3u
#define TURNS_LEAST 20u

bool pair_offloads = true;

static uint32_t other(uint32_t i)
{
	return 1 - i;
}

static uint32_t self(const struct end *end)
{
	return (uint32_t)(end - end->pair->ends);
}

static void on_up(void *context, uint32_t peer)
{
	struct end *end = context;
	assert_int_equal(peer, other(self(end)));
	assert_false(end->up);
	end->up = true;
	end->ups++;
}

static void on_down(void *context, uint32_t peer, bool dialled, const char *why)
{
	struct end *end = context;
	assert_int_equal(peer, other(self(end)));
	assert_int_equal(end->up, !dialled);
	end->up = false;
	end->why = why;
	end->failed += dialled;
	end->downs += !dialled;
	if (dialled)
		sl_links_address(end->links, peer, end->lost);
}

static void on_frame(void *context, uint32_t peer, uint32_t kind, uint8_t *payload, size_t size)
{
	struct end *end = context;
	uint32_t number;
	assert_true(end->up && size >= sizeof number);
	memcpy(&number, payload, sizeof number);
	if (kind == SL_MSG_HELLO) {
		assert_true(number > end->seen);
		end->seen = number;
		end->controls++;
	} else if (end->received == end->controls) {
		end->ahead = end->controls;
	}
	for (size_t i = sizeof number; i < size; i++)
		if (payload[i] != (uint8_t)(number + i))
			fail_msg("byte %zu of frame %u is wrong", i, number);
	end->received++;
	free(payload);
	if (end->lazy)
		end->left++;
	else
		sl_links_consumed(end->links, peer);
}

void end_consume(struct end *end)
{
	for (; end->left > 0; end->left--)
		sl_links_consumed(end->links, other(self(end)));
}

static void on_refused(void *context, const char *address, int expected, const uint8_t *pin)
{
	struct end *end = context;
	(void)address;
	(void)pin;
	end->refused++;
	end->expected = expected;
}

static size_t count_descriptors(void)
{
	size_t count = 0;
	DIR *folder = opendir("/proc/self/fd");
	assert_non_null(folder);
	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count;
}

void net_identify(const struct net *net, const char *name, uint32_t i, struct sl_identity *identity,
		  struct sl_member *member)
{
	struct sl_error error = {0};
	char folder[64];
	snprintf(folder, sizeof folder, "%s/%s-%u", net->folder, name, i);
	assert_ok(sl_identity_create(folder, name, &error), error);
	assert_ok(sl_identity_load(folder, identity, &error), error);
	memcpy(member->pin, identity->pin, sizeof member->pin);
}

static void identify(struct net *net, uint32_t i)
{
	struct sl_member *m = &net->members[i];
	m->id = i + 1;
	snprintf(m->name, sizeof m->name, "site-%u", i);
	net_identify(net, "site", i, &net->identities[i], m);
}

/* The loop keeps a spare descriptor from its first socket on. */
static void open_spare(uv_loop_t *loop)
{
	uv_tcp_t first;
	uv_tcp_init(loop, &first);
	uv_close((uv_handle_t *)&first, NULL);
	uv_run(loop, UV_RUN_NOWAIT);
}

/* Raise the limit of descriptors: a crowd of pairs takes more than the usual 1,024. */
static void raise_descriptors(void)
{
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void net_open(struct net *net)
{
	struct sl_error error = {0};
	raise_descriptors();
	memset(net, 0, sizeof *net);
	signal(SIGPIPE, SIG_IGN); /* as the daemon does */
	snprintf(net->folder, sizeof net->folder, "/tmp/starling-test-XXXXXX");
	assert_non_null(mkdtemp(net->folder));
	net->timing = (struct sl_links_timing){.tick = 10,
					       .ping = 2000,
					       .silence = 6000,
					       .handshake = 10000,
					       .retry_least = 25,
					       .retry_most = 1500,
					       .head_start = 100,
					       .steady = 200,
					       .direct = 500,
					       .hint = 1000};
	net->roster = (struct sl_roster){.members = net->members, .size = 2};
	for (uint32_t i = 0; i < 2; i++)
		identify(net, i);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(sl_tls_open(&net->tls[i], &net->identities[i], &net->roster, &error), SL_OK);
	uv_loop_init(&net->loop);
	assert_int_equal(sl_worker_open(&net->crypto, &net->loop), 0);
	assert_int_equal(sl_worker_grow(&net->crypto, 3), 0);
	emulators_open(&net->emulators, &net->loop);
	open_spare(&net->loop);
	net->descriptors = count_descriptors();
}

static bool all_closed(void *argument)
{
	const struct net *net = argument;
	return count_descriptors() == net->descriptors;
}

void net_close(struct net *net)
{
	char command[64];
	assert_true(net_until(net, 5000, all_closed,
			      net)); /* handles close, and emulators free closed connections */
	emulators_close(&net->emulators);
	sl_worker_close(&net->crypto);
	uv_run(&net->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&net->loop), 0);
	for (uint32_t i = 0; i < 2; i++) {
		sl_tls_close(&net->tls[i]);
		sl_identity_close(&net->identities[i]);
	}
	snprintf(command, sizeof command, "rm -r %s", net->folder);
	assert_int_equal(system(command), 0);
}

void net_turn(struct net *net)
{
	uint64_t before = uv_now(&net->loop);
	uv_run(&net->loop, UV_RUN_ONCE); /* the emulators' clock ends it */
	uint64_t took = uv_now(&net->loop) - before;
	net->attended_ms += took < TURN_MOST_MS ? took : TURN_MOST_MS;
}

bool net_until(struct net *net, uint64_t ms, bool (*condition)(void *), void *argument)
{
	uint64_t end = net->attended_ms + ms;
	while (!condition(argument)) {
		if (net->attended_ms >= end)
			return false;
		net_turn(net);
	}
	return true;
}

void net_elapse(struct net *net, uint64_t ms)
{
	uint64_t end = uv_now(&net->loop) + ms, least = ms < TURNS_LEAST ? ms : TURNS_LEAST;
	for (uint64_t turns = 0; turns < least || uv_now(&net->loop) < end; turns++)
		net_turn(net);
}

static uint16_t listen_as(struct pair *pair, uint32_t i, const struct sl_tls *tls)
{
	struct sl_error error = {0};
	struct sockaddr_in name;
	int size = sizeof name;
	struct end *end = &pair->ends[i];
	*end = (struct end){.pair = pair};
	struct sl_links_config config = {.loop = &pair->net->loop,
					 .timing = &pair->net->timing,
					 .roster = &pair->roster,
					 .self = i,
					 .tls = tls,
					 .listen = "127.0.0.1:0",
					 .crypto = pair_offloads ? &pair->net->crypto : NULL,
					 .handler = {end, on_up, on_down, on_frame, on_refused, NULL}};
	assert_ok(sl_links_open(&end->links, &config, &error), error);
	assert_int_equal(uv_tcp_getsockname(&end->links->listener, (struct sockaddr *)&name, &size), 0);
	return ntohs(name.sin_port);
}

void pair_open_with(struct pair *pair, struct net *net, uint32_t end, const struct sl_tls *tls)
{
	memset(pair, 0, sizeof *pair);
	pair->net = net;
	memcpy(pair->members, net->members, sizeof pair->members);
	pair->roster = (struct sl_roster){.members = pair->members, .size = 2};
	for (uint32_t i = 0; i < 2; i++) {
		uint16_t port = listen_as(pair, i, i == end ? tls : &net->tls[i]);
		emulator_open(&net->emulators, &pair->emulators[i], port);
		snprintf(pair->members[i].address, sizeof pair->members[i].address, "127.0.0.1:%u",
			 pair->emulators[i].port);
	}
}

void pair_open(struct pair *pair, struct net *net)
{
	pair_open_with(pair, net, 1, &net->tls[1]);
}

/* Each of its own: the thread of one whose case has failed wakes for no other. */
struct alone {
	struct pair pair;
	struct net net;
};
static struct pair *ended; /* the last one; owned: a case may still look at it */

struct pair *pair_alone(void)
{
	free(ended);
	ended = NULL;
	struct alone *alone = calloc(1, sizeof *alone);
	assert_non_null(alone);
	net_open(&alone->net);
	pair_open(&alone->pair, &alone->net);
	return &alone->pair;
}

static bool empty(void *argument)
{
	const struct pair *pair = argument;
	return pair->emulators[0].trips == NULL && pair->emulators[1].trips == NULL;
}

static bool all_freed(void *argument)
{
	const struct pair *pair = argument;
	return pair->ends[0].links->open + pair->ends[1].links->open == 0;
}

void pair_close(struct pair *pair)
{
	for (uint32_t i = 0; i < 2; i++) {
		sl_links_close(pair->ends[i].links);
		emulator_close(&pair->emulators[i]);
	}
	assert_true(net_until(pair->net, 1000, empty, pair));
	assert_true(net_until(pair->net, 5000, all_freed, pair));
	net_elapse(pair->net, 5); /* the other handles */
	for (uint32_t i = 0; i < 2; i++) {
		emulator_leave(&pair->net->emulators, &pair->emulators[i]);
		sl_links_free(pair->ends[i].links);
	}
}

void pair_end(struct pair *pair)
{
	pair_close(pair);
	net_close(pair->net);
	ended = pair;
}

void pair_await(struct pair *pair, uint64_t ms, bool (*condition)(void *))
{
	assert_true(net_until(pair->net, ms, condition, pair));
}

void pair_want(struct pair *pair, int end, bool wanted)
{
	uint64_t set = wanted ? UINT64_C(1) << (1 - end) : 0;
	sl_links_want(pair->ends[end].links, &set);
}

void end_send(struct end *end, size_t size, bool vector)
{
	struct sl_frame *frame = sl_link_frame_new(SL_FRAME_HEADER_BYTES + size, vector);
	assert_true(frame != NULL && size >= sizeof end->sent);
	end->sent++;
	sl_frame_header(frame->bytes, vector ? SL_MSG_STATE : SL_MSG_HELLO, size);
	for (size_t i = 0; i < size; i++)
		frame->bytes[SL_FRAME_HEADER_BYTES + i] = (uint8_t)(end->sent + i);
	memcpy(frame->bytes + SL_FRAME_HEADER_BYTES, &end->sent, sizeof end->sent);
	sl_links_send(end->links, other(self(end)), frame);
	sl_link_frame_release(frame);
}

void end_flush(struct end *end)
{
	sl_links_flush(end->links);
}

const struct sl_link *end_link(const struct end *end)
{
	return end->links->slots[other(self(end))].up;
}

const struct sl_link *end_dial(const struct end *end)
{
	return end->links->slots[other(self(end))].dialling;
}

static const struct sl_link *only_link(const struct end *end)
{
	const struct sl_link *link = end->links->all;
	return link != NULL && link->next == NULL && link->state == SL_LINK_UP ? link : NULL;
}

bool pair_settled(void *argument)
{
	const struct pair *pair = argument;
	const struct sl_link *a = only_link(&pair->ends[0]), *b = only_link(&pair->ends[1]);
	return a != NULL && b != NULL && a->dialled != b->dialled && pair->ends[0].up && pair->ends[1].up;
}

void pair_expect_clean(const struct pair *pair)
{
	assert_true(pair_settled((void *)(uintptr_t)pair));
	for (uint32_t i = 0; i < 2; i++) {
		const struct end *end = &pair->ends[i];
		if (end->ups != 1 || end->downs != 0 || end->failed != 0)
			fail_msg("end %u: %u ups, %u downs, %u failed (%s)", i, end->ups, end->downs,
				 end->failed, end->why == NULL ? "" : end->why);
		assert_int_equal(end->links->figures.up, 1);
		assert_int_equal(end->links->handshaking, 0);
	}
}

void pair_say(struct pair *pair)
{
	for (uint32_t i = 0; i < 2; i++) {
		end_send(&pair->ends[i], 100, false);
		end_flush(&pair->ends[i]);
	}
}

bool pair_heard(void *argument)
{
	const struct pair *pair = argument;
	return pair->ends[0].seen == pair->ends[1].sent && pair->ends[1].seen == pair->ends[0].sent;
}

void pair_expect_frames(struct pair *pair)
{
	pair_say(pair);
	assert_true(net_until(pair->net, 2000, pair_heard, pair));
}
