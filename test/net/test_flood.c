/* Connections that say nothing make room for each other, and for a learner. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>

#include "daemon/net/link.h"
#include "test/lib/test.h"
#include "tools/lib/ports.h"

#define STRANGERS 300
#define WAIT_MS 60000u

struct end {
	struct sl_identity identity;
	struct sl_tls tls;
	struct sl_links *links;
	bool up;
};

struct pair {
	char folder[32];
	uv_loop_t loop;
	struct sl_member members[2];
	struct sl_roster roster;
	struct end ends[2]; /* the first dials the second */
	int unknown_peers[STRANGERS];
	uint32_t most;
};

static void on_up(void *context, uint32_t peer)
{
	(void)peer;
	((struct end *)context)->up = true;
}

static void on_down(void *context, uint32_t peer, bool dialled, const char *why)
{
	(void)peer;
	(void)dialled;
	(void)why;
	((struct end *)context)->up = false;
}

static void on_frame(void *context, uint32_t peer, uint32_t kind, uint8_t *payload, size_t size)
{
	(void)context;
	(void)peer;
	(void)kind;
	(void)size;
	free(payload);
}

static void on_refused(void *context, const char *address, int expected, const uint8_t *pin)
{
	(void)context;
	(void)address;
	(void)expected;
	(void)pin;
}

static void identify(struct pair *p, uint32_t i, uint16_t port)
{
	struct sl_error error = {0};
	struct sl_member *m = &p->members[i];
	char folder[64];
	snprintf(folder, sizeof folder, "%s/%u", p->folder, i);
	m->id = i + 1;
	snprintf(m->name, sizeof m->name, "site-%u", i);
	snprintf(m->address, sizeof m->address, "127.0.0.1:%u", port);
	if (sl_identity_create(folder, m->name, &error) != SL_OK ||
	    sl_identity_load(folder, &p->ends[i].identity, &error) != SL_OK)
		fail_msg("%s", error.text);
	memcpy(m->pin, p->ends[i].identity.pin, sizeof m->pin);
}

static void listen_as(struct pair *p, uint32_t i)
{
	struct sl_error error = {0};
	struct end *end = &p->ends[i];
	struct sl_links_config config = {.loop = &p->loop,
					 .roster = &p->roster,
					 .self = i,
					 .tls = &end->tls,
					 .listen = p->members[i].address,
					 .handler = {end, on_up, on_down, on_frame, on_refused}};
	if (sl_tls_open(&end->tls, &end->identity, &p->roster, &error) != SL_OK ||
	    sl_links_open(&end->links, &config, &error) != SL_OK)
		fail_msg("%s", error.text);
}

static struct pair *open_pair(void)
{
	struct pair *p = calloc(1, sizeof *p);
	struct sl_error error = {0};
	uint16_t ports[2];
	assert_int_equal(sl_ports_find(ports, 2, &error), SL_OK);
	snprintf(p->folder, sizeof p->folder, "/tmp/starling-test-XXXXXX");
	assert_non_null(mkdtemp(p->folder));
	p->roster = (struct sl_roster){.members = p->members, .size = 2};
	uv_loop_init(&p->loop);
	for (uint32_t i = 0; i < 2; i++)
		identify(p, i, ports[i]);
	for (uint32_t i = 0; i < 2; i++)
		listen_as(p, i);
	return p;
}

static void turn(struct pair *p)
{
	uv_run(&p->loop, UV_RUN_ONCE); /* the links' tick ends it */
	if (p->ends[1].links->handshaking > p->most)
		p->most = p->ends[1].links->handshaking;
}

static void close_pair(struct pair *p)
{
	char command[64];
	for (size_t k = 0; k < STRANGERS; k++)
		close(p->unknown_peers[k]);
	for (uint32_t i = 0; i < 2; i++)
		sl_links_close(p->ends[i].links);
	uv_run(&p->loop, UV_RUN_DEFAULT);
	for (uint32_t i = 0; i < 2; i++) {
		sl_links_free(p->ends[i].links);
		sl_tls_close(&p->ends[i].tls);
		sl_identity_close(&p->ends[i].identity);
	}
	assert_int_equal(uv_loop_close(&p->loop), 0);
	snprintf(command, sizeof command, "rm -r %s", p->folder);
	assert_int_equal(system(command), 0);
	free(p);
}

/* `burst`: so many come before the learner looks. */
static void flood(struct pair *p, size_t burst)
{
	struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	name.sin_port = htons((uint16_t)atoi(strchr(p->members[1].address, ':') + 1));
	for (size_t k = 0; k < STRANGERS; k++) {
		p->unknown_peers[k] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		assert_true(p->unknown_peers[k] >= 0);
		connect(p->unknown_peers[k], (struct sockaddr *)&name, sizeof name);
		if (k % burst == burst - 1)
			turn(p);
	}
}

static bool rejected(const struct pair *p, size_t k)
{
	char byte;
	return recv(p->unknown_peers[k], &byte, 1, MSG_DONTWAIT) == 0;
}

static size_t count_rejected(const struct pair *p)
{
	size_t count = 0;
	for (size_t k = 0; k < STRANGERS; k++)
		count += rejected(p, k);
	return count;
}

static void flood_leaves_room(size_t burst)
{
	struct pair *p = open_pair();
	uint64_t set = 1u << 1;
	flood(p, burst);
	uint64_t end = uv_now(&p->loop) + WAIT_MS;
	while (count_rejected(p) < STRANGERS - SL_HANDSHAKING_MAX && uv_now(&p->loop) < end)
		turn(p);
	assert_in_range(p->most, 2, SL_HANDSHAKING_MAX);
	assert_true(count_rejected(p) >= STRANGERS - SL_HANDSHAKING_MAX);
	assert_true(rejected(p, 0) && !rejected(p, STRANGERS - 1)); /* the oldest go */
	sl_links_want(p->ends[0].links, &set);
	set = 1u << 0;
	sl_links_want(p->ends[1].links, &set);
	end = uv_now(&p->loop) + WAIT_MS;
	while (!(p->ends[0].up && p->ends[1].up) && uv_now(&p->loop) < end)
		turn(p);
	assert_true(p->ends[0].up && p->ends[1].up);
	assert_int_equal(p->ends[1].links->figures.up, 1);
	assert_true(p->ends[1].links->handshaking < SL_HANDSHAKING_MAX); /* it is none of them any more */
	assert_in_range(p->most, 2, SL_HANDSHAKING_MAX);
	close_pair(p);
}

static int prepare(void **state)
{
	(void)state;
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	return 0;
}
TEST_SETUP(prepare, NULL)

TEST(one_after_the_other)
{
	flood_leaves_room(1);
}

TEST(a_hundred_at_once)
{
	flood_leaves_room(100);
}
