/* trio.h - three learners with links over loopback: a relay, and two that reach no other one. */
#pragma once

#include "daemon/net/relay.h"
#include "test/net/pair.h"

#define COUNT 3u
#define R 0u /* the relay: the others reach it, and no other one */
#define A 1u
#define X 2u
#define WAIT_MS 15000

struct trio {
	struct net net;
	struct sl_member members[COUNT];
	struct sl_roster roster;
	struct sl_identity identities[COUNT];
	struct sl_tls tls[COUNT];
	struct side {
		struct trio *trio;
		uint32_t self;
		struct sl_links *links;
		uint16_t port;
		uint32_t ups[COUNT], downs[COUNT], frames[COUNT], wrong;
	} sides[COUNT];
};

/* Open all three; the first one relays if `relays` is set. Close checks that each frame was whole. */
struct trio *trio_open(bool relays);
void trio_close(struct trio *trio);
void open_side(struct trio *trio, uint32_t self, bool relays);
void set_address(struct trio *trio, uint32_t member, uint32_t port);

/* The link that is up at `self` to `peer`, or NULL. */
const struct sl_link *up_of(const struct trio *trio, uint32_t self, uint32_t peer);
/* For net_until: both have a link to the relay. */
bool both_reach_it(void *argument);
