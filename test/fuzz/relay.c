/* Send orders to a relay and to the other end of a way, and prefaces with bytes after them to the relay.
 * Three learners are linked on loopback; A and X note the orders of the relay R, and the input says what
 * comes of them. Whatever comes, no connection without a key is left, and the two links stay. */
#include <arpa/inet.h>
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/net/identity.h"
#include "daemon/net/relay.h"
#include "test/fuzz/fuzz.h"

#define COUNT 3u
#define R 0u
#define A 1u
#define X 2u
#define CALLERS 4u
#define TURNS_MOST 100000u

static uv_loop_t loop;
static struct sl_links_timing timing = {.tick = 1,
					.ping = 600000,
					.silence = 600000,
					.handshake = 60000,
					.retry_least = 1,
					.retry_most = 4,
					.head_start = 1,
					.steady = 1,
					.direct = 600000,
					.hint = 1};
static struct sl_member members[COUNT];
static struct sl_roster roster = {.members = members, .size = COUNT};
static struct sl_identity identities[COUNT];
static struct sl_tls tls[COUNT];
static struct sl_links *all[COUNT];
static struct sl_link_reports noting[COUNT];
static uint8_t tokens[COUNT][SL_RELAY_TOKEN_BYTES]; /* that A and X have got last */
static int callers[CALLERS];

static void on_up(void *context, uint32_t peer)
{
	(void)context, (void)peer;
}

static void on_down(void *context, uint32_t peer, bool dialled, const char *why)
{
	(void)context, (void)peer, (void)dialled;
	assert(why != NULL);
}

static void on_frame(void *context, uint32_t peer, uint32_t kind, uint8_t *payload, size_t size)
{
	(void)context, (void)peer, (void)kind, (void)size;
	free(payload);
}

static void take_note(struct sl_link *link, const uint8_t *payload, size_t size)
{
	struct sl_relay_order order;
	assert(sl_relay_read(payload, size, &order));
	if (order.verb == SL_RELAY_OFFER)
		all[R]->reports->order(link, payload, size);
	else
		memcpy(tokens[link->links->config.self], order.token, sizeof order.token);
}

static void open_one(uint32_t i)
{
	struct sl_error error;
	struct sockaddr_in name;
	int size = sizeof name;
	const struct sl_links_config config = {.loop = &loop,
					       .timing = &timing,
					       .roster = &roster,
					       .self = i,
					       .tls = &tls[i],
					       .listen = "127.0.0.1:0",
					       .relays = i == R,
					       .handler = {NULL, on_up, on_down, on_frame, NULL, NULL}};
	if (sl_tls_open(&tls[i], &identities[i], &roster, &error) != SL_OK ||
	    sl_links_open(&all[i], &config, &error) != SL_OK ||
	    uv_tcp_getsockname(&all[i]->listener, (struct sockaddr *)&name, &size) != 0)
		abort();
	snprintf(members[i].address, SL_ADDRESS_BYTES, "127.0.0.1:%u", i == R ? ntohs(name.sin_port) : 1);
	noting[i] = *all[i]->reports;
	noting[i].order = take_note;
	if (i != R)
		all[i]->reports = &noting[i];
}

static void make_identity(uint32_t i)
{
	struct sl_error error;
	char folder[128];
	snprintf(folder, sizeof folder, "%s/%u", fuzz_folder(), i);
	if (sl_identity_create(folder, "fuzz", &error) != SL_OK ||
	    sl_identity_load(folder, &identities[i], &error) != SL_OK)
		abort();
	members[i].id = 10 + i;
	memcpy(members[i].pin, identities[i].pin, SL_HASH_BYTES);
}

static bool linked(void)
{
	return all[R]->slots[A].up != NULL && all[R]->slots[X].up != NULL && all[A]->slots[R].up != NULL &&
	       all[X]->slots[R].up != NULL;
}

static void open_all(void)
{
	const uint64_t relay = 1, both = 3;
	signal(SIGPIPE, SIG_IGN);
	uv_loop_init(&loop);
	for (uint32_t i = 0; i < COUNT; i++)
		make_identity(i);
	for (uint32_t i = 0; i < COUNT; i++)
		open_one(i);
	sl_links_want(all[A], &relay);
	sl_links_want(all[X], &both);
	memset(callers, -1, sizeof callers);
}

static void call(int *fd)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct linger reset = {.l_onoff = 1}; /* or the ports run out */
	*fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	at.sin_port = htons((uint16_t)atoi(strrchr(members[R].address, ':') + 1));
	if (*fd < 0 || connect(*fd, (struct sockaddr *)&at, sizeof at) != 0)
		abort();
	setsockopt(*fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}

static void hang_up(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Give the learner `at` an order of `from`, with its verb if it is none of the input. */
static void give(uint32_t at, uint32_t from, uint32_t verb, const uint8_t *bytes, size_t count)
{
	uint8_t payload[256] = {0};
	size_t size = count < sizeof payload ? count : sizeof payload;
	struct sl_link *link = all[at]->slots[from].up;
	if (link == NULL)
		return;
	if (size > 0)
		memcpy(payload, bytes, size);
	if (verb != 0) { /* about the third learner */
		payload[0] = (uint8_t)verb;
		payload[4] = (uint8_t)(10 + COUNT - at - from);
		memset(payload + 1, 0, 3);
		memset(payload + 5, 0, 3);
		size = 8 + SL_RELAY_TOKEN_BYTES;
	}
	all[R]->reports->order(link, payload, size); /* A and X take notes */
}

/* Say a preface with the token that `whose` has got, and bytes after it. */
static void say_preface(int fd, uint32_t whose, const uint8_t *bytes, size_t count)
{
	uint8_t preface[SL_RELAY_PREFACE_BYTES + 256];
	memcpy(preface, SL_RELAY_MAGIC, sizeof SL_RELAY_MAGIC - 1);
	memcpy(preface + sizeof SL_RELAY_MAGIC - 1, tokens[whose], SL_RELAY_TOKEN_BYTES);
	memcpy(preface + SL_RELAY_PREFACE_BYTES, bytes, count);
	(void)!send(fd, preface, SL_RELAY_PREFACE_BYTES + count, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void follow(uint8_t command, const uint8_t *bytes, size_t count)
{
	int *caller = &callers[(command >> 3) % CALLERS];
	uint32_t who = command & 32 ? A : X;
	if (command % 8 >= 4 && *caller < 0)
		call(caller);
	switch (command % 8) {
	case 0:
		give(R, who, 0, bytes, count);
		break;
	case 1:
		give(R, who, SL_RELAY_ASK, bytes, count);
		break;
	case 2:
		give(X, R, 0, bytes, count);
		break;
	case 3:
		give(X, R, command & 32 ? SL_RELAY_TAKE : SL_RELAY_DIAL, bytes, count);
		break;
	case 4:
	case 5:
		(void)!send(*caller, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
		break;
	case 6:
		say_preface(*caller, who, bytes, count);
		break;
	default:
		hang_up(caller);
	}
	for (int i = 0; i < 3; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
	assert(all[X]->handshaking <= SL_TAKEN_MAX + 1);
}

/* Connections that wait for another one end. A link that an order has ended comes back first. */
static bool quiet(void)
{
	timing.handshake = linked() ? 1 : 60000;
	return linked() && all[R]->handshaking == 0 && all[X]->handshaking == 0 && all[R]->open == 2;
}

static void settle(void)
{
	for (uint32_t i = 0; !quiet(); i++) {
		assert(i < TURNS_MOST);
		uv_run(&loop, UV_RUN_ONCE);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	if (all[R] == NULL)
		open_all();
	settle();
	timing.handshake = 40; /* a fourth of it is the pause between two ways of a pair */
	for (size_t n; count >= 2; bytes += 2 + n, count -= 2 + n) {
		n = bytes[1] < count - 2 ? bytes[1] : count - 2;
		follow(bytes[0], bytes + 2, n);
	}
	for (uint32_t i = 0; i < CALLERS; i++)
		hang_up(&callers[i]);
	settle();
	return 0;
}
