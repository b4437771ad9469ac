#include "test/net/trio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/lib/test.h"

static void on_up(void *context, uint32_t peer)
{
	((struct side *)context)->ups[peer]++;
}

static void on_down(void *context, uint32_t peer, bool dialled, const char *why)
{
	struct side *side = context;
	(void)why;
	side->downs[peer] += !dialled;
}

/* Each frame has bytes that follow from its size. */
static void on_frame(void *context, uint32_t peer, uint32_t kind, uint8_t *payload, size_t size)
{
	struct side *side = context;
	(void)kind;
	for (size_t i = 0; i < size; i++)
		side->wrong += payload[i] != (uint8_t)(i * 7 + size);
	side->frames[peer]++;
	free(payload);
	sl_links_consumed(side->links, peer);
}

void open_side(struct trio *trio, uint32_t self, bool relays)
{
	struct sl_error error = {0};
	struct sockaddr_in name;
	int size = sizeof name;
	struct side *side = &trio->sides[self];
	*side = (struct side){.trio = trio, .self = self};
	const struct sl_links_config config = {.loop = &trio->net.loop,
					       .timing = &trio->net.timing,
					       .roster = &trio->roster,
					       .self = self,
					       .tls = &trio->tls[self],
					       .listen = "127.0.0.1:0",
					       .relays = relays,
					       .handler = {side, on_up, on_down, on_frame, NULL, NULL}};
	assert_ok(sl_links_open(&side->links, &config, &error), error);
	assert_int_equal(uv_tcp_getsockname(&side->links->listener, (struct sockaddr *)&name, &size), 0);
	side->port = ntohs(name.sin_port);
}

void set_address(struct trio *trio, uint32_t member, uint32_t port)
{
	snprintf(trio->members[member].address, SL_ADDRESS_BYTES, "127.0.0.1:%u", port);
}

struct trio *trio_open(bool relays)
{
	struct trio *trio = calloc(1, sizeof *trio); /* that of a test that has failed has threads */
	struct sl_error error = {0};
	assert_non_null(trio);
	net_open(&trio->net);
	trio->roster = (struct sl_roster){.members = trio->members, .size = COUNT};
	for (uint32_t i = 0; i < COUNT; i++) {
		trio->members[i].id = 10 + i;
		net_identify(&trio->net, "trio", i, &trio->identities[i], &trio->members[i]);
	}
	for (uint32_t i = 0; i < COUNT; i++) {
		assert_int_equal(sl_tls_open(&trio->tls[i], &trio->identities[i], &trio->roster, &error),
				 SL_OK);
		open_side(trio, i, relays && i == R);
		set_address(trio, i, 1); /* no program listens there */
	}
	set_address(trio, R, trio->sides[R].port);
	return trio;
}

static void close_side(struct side *side)
{
	if (side->links != NULL)
		sl_links_close(side->links);
}

static bool all_freed(void *argument)
{
	const struct trio *trio = argument;
	uint32_t open = 0;
	for (uint32_t i = 0; i < COUNT; i++)
		open += trio->sides[i].links == NULL ? 0 : trio->sides[i].links->open;
	return open == 0;
}

void trio_close(struct trio *trio)
{
	for (uint32_t i = 0; i < COUNT; i++)
		close_side(&trio->sides[i]);
	assert_true(net_until(&trio->net, WAIT_MS, all_freed, trio));
	net_elapse(&trio->net, 5);
	for (uint32_t i = 0; i < COUNT; i++) {
		assert_int_equal(trio->sides[i].wrong, 0);
		sl_links_free(trio->sides[i].links);
		sl_tls_close(&trio->tls[i]);
		sl_identity_close(&trio->identities[i]);
	}
	net_close(&trio->net);
	free(trio);
}

const struct sl_link *up_of(const struct trio *trio, uint32_t self, uint32_t peer)
{
	return trio->sides[self].links->slots[peer].up;
}

bool both_reach_it(void *argument)
{
	const struct trio *trio = argument;
	return up_of(trio, R, A) != NULL && up_of(trio, R, X) != NULL;
}
