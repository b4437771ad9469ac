/* A large roster of which most learners are off: dials are bounded, and the others are found. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/lib/test.h"
#include "test/net/pair.h"

#define MANY 1000u
#define EVERY 50u     /* one of so many is reachable, with the key of the second identity */
#define FOUND_MS 5000 /* four times as long as the dials of one turn take */

struct many {
	struct net net;
	struct sl_roster roster;
	struct sl_links *links, *peers[MANY / EVERY];
	struct sl_tls tls[1 + MANY / EVERY];
	struct sl_identity identities[1 + MANY / EVERY];
	int silent, fillers[2];
	uint32_t up;
	uint32_t most, begun; /* dials under way, and begun in a tick, at most */
};

static void on_up(void *context, uint32_t peer)
{
	struct many *many = context;
	assert_int_equal(peer % EVERY, EVERY - 1);
	many->up++;
}

static void ignore_up(void *context, uint32_t peer)
{
	(void)context, (void)peer;
}

static void ignore_down(void *context, uint32_t peer, bool dialled, const char *why)
{
	(void)context, (void)peer, (void)dialled, (void)why;
}

static int open_socket(struct sockaddr_in *name)
{
	*name = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Listen on loopback with a queue that is full: the kernel answers no further connection. Return the port. */
static uint16_t listen_silently(struct many *many)
{
	struct sockaddr_in name;
	socklen_t size = sizeof name;
	many->silent = open_socket(&name);
	assert_int_equal(bind(many->silent, (struct sockaddr *)&name, size), 0);
	assert_int_equal(listen(many->silent, 0), 0);
	assert_int_equal(getsockname(many->silent, (struct sockaddr *)&name, &size), 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct sockaddr_in unused;
		many->fillers[i] = open_socket(&unused);
		connect(many->fillers[i], (struct sockaddr *)&name, size);
	}
	return ntohs(name.sin_port);
}

static struct sl_links *open_links(struct many *many, uint32_t self, struct sl_tls *tls,
				   const struct sl_identity *identity)
{
	struct sl_links *links = NULL;
	struct sl_error error = {0};
	const struct sl_links_config config = {
		.loop = &many->net.loop,
		.roster = &many->roster,
		.self = self,
		.tls = tls,
		.listen = "127.0.0.1:0",
		.timing = &many->net.timing,
		.handler = {.context = many, .up = self == 0 ? on_up : ignore_up, .down = ignore_down}};
	assert_ok(sl_tls_open(tls, identity, &many->roster, &error), error);
	assert_ok(sl_links_open(&links, &config, &error), error);
	return links;
}

/* Make a roster whose learners give no answer, but for one of EVERY. */
static void open_many(struct many *many)
{
	struct sockaddr_in name;
	int size = sizeof name;
	net_open(&many->net);
	uint16_t port = listen_silently(many);
	many->roster =
		(struct sl_roster){.members = calloc(MANY, sizeof *many->roster.members), .size = MANY};
	for (uint32_t i = 0; i < MANY; i++) {
		struct sl_member *m = &many->roster.members[i];
		m->id = i + 1;
		memcpy(m->pin, &m->id, sizeof m->id);
		snprintf(m->address, sizeof m->address, "127.0.0.1:%u", port);
	}
	net_identify(&many->net, "many", 0, &many->identities[0], &many->roster.members[0]);
	for (uint32_t i = 0; i < MANY / EVERY; i++)
		net_identify(&many->net, "many", 1 + i, &many->identities[1 + i],
			     &many->roster.members[i * EVERY + EVERY - 1]);
	many->links = open_links(many, 0, &many->tls[0], &many->identities[0]);
	for (uint32_t i = 0; i < MANY / EVERY; i++) {
		uint32_t member = i * EVERY + EVERY - 1;
		many->peers[i] = open_links(many, member, &many->tls[1 + i], &many->identities[1 + i]);
		uv_tcp_getsockname(&many->peers[i]->listener, (struct sockaddr *)&name, &size);
		snprintf(many->roster.members[member].address, SL_ADDRESS_BYTES, "127.0.0.1:%u",
			 ntohs(name.sin_port));
	}
}

static void close_many(struct many *many)
{
	sl_links_close(many->links);
	for (uint32_t i = 0; i < MANY / EVERY; i++)
		sl_links_close(many->peers[i]);
	close(many->silent);
	close(many->fillers[0]);
	close(many->fillers[1]);
	net_elapse(&many->net, 100);
	net_close(&many->net);
	sl_links_free(many->links);
	for (uint32_t i = 0; i < MANY / EVERY; i++)
		sl_links_free(many->peers[i]);
	for (uint32_t i = 0; i < 1 + MANY / EVERY; i++) {
		sl_tls_close(&many->tls[i]);
		sl_identity_close(&many->identities[i]);
	}
	free(many->roster.members);
}

/* Return true once each reachable peer is linked. */
static bool all_found(void *argument)
{
	struct many *many = argument;
	const struct sl_links *links = many->links;
	many->most = links->dials > many->most ? links->dials : many->most;
	many->begun = links->begun > many->begun ? links->begun : many->begun;
	return many->up == MANY / EVERY;
}

/* A new request ends the back-off of each peer, also of those that must wait for their turn. */
static void expect_all_due(struct many *many, const uint64_t *set)
{
	uint64_t now = uv_now(&many->net.loop), least = many->net.timing.retry_least;
	sl_links_want(many->links, set);
	for (uint32_t i = 1; i < MANY; i++) {
		const struct sl_slot *slot = &many->links->slots[i];
		assert_true(slot->up != NULL || slot->dialling != NULL || slot->retry_at <= now ||
			    now < slot->dialled_at + least);
	}
}

TEST(most_are_off)
{
	static struct many many;
	uint64_t set[(MANY + 63) / 64];
	open_many(&many);
	many.net.timing.handshake = 1000;
	memset(set, 0xff, sizeof set);
	uint64_t since = uv_now(&many.net.loop);
	sl_links_want(many.links, set);
	assert_true(net_until(&many.net, FOUND_MS, all_found, &many));
	print_message("found after %.1f s and %lu dials; %u under way at most, %u begun in a tick\n",
		      (double)(uv_now(&many.net.loop) - since) / 1e3, (unsigned long)many.links->count,
		      many.most, many.begun);
	assert_int_equal(many.most, SL_DIALS_MAX);
	assert_int_equal(many.begun, SL_DIALS_PER_TICK_MAX);
	expect_all_due(&many, set);
	close_many(&many);
}
