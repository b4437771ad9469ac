/* pair.h - two learners' links in one loop, each reached through an emulator; many pairs share a loop.
 *
 * The handlers check their contract as they are called: up and down by turns, and frames only while a link
 * stands, in the order in which they were sent.
 */
#pragma once

#include "daemon/net/link.h"
#include "test/net/network_emulator.h"

struct net {
	char folder[32];
	uv_loop_t loop;
	struct sl_worker crypto;       /* of both ends */
	struct sl_links_timing timing; /* of the pairs that are opened from now on: a tenth of the usual one,
					  but for pings, silence and handshakes */
	struct emulators emulators;
	struct sl_identity identities[2];
	struct sl_member members[2]; /* keys; the addresses are each pair's own */
	struct sl_roster roster;
	struct sl_tls tls[2];
	size_t descriptors;   /* before the first pair */
	uint64_t attended_ms; /* processor time of the loop: a turn counts for at most 3 ms, however long the
				 process waited for a processor */
};

/* true (the default): both ends have a crypto worker. */
extern bool pair_offloads;

struct end {
	struct pair *pair;
	struct sl_links *links;
	bool up;
	bool lazy;		     /* received frames wait for end_consume */
	uint32_t left;		     /* frames that wait */
	uint32_t ups, downs, failed; /* calls of the handler */
	uint32_t sent, seen;	     /* the last frame's number, 0: none */
	uint32_t received;
	uint32_t controls, ahead; /* control frames received; those before the first vector */
	const char *why;
	char lost[SL_ADDRESS_BYTES]; /* the address whose dial has failed last */
	uint32_t refused;	     /* keys */
	int expected;		     /* roster index in whose place the last of them answered; -1: none */
};

/* The first end has the smaller index. Emulator i leads to end i. */
struct pair {
	struct net *net;
	struct sl_member members[2];
	struct sl_roster roster;
	struct end ends[2];
	struct emulator emulators[2];
};

void net_open(struct net *net);
/* Expect that every descriptor is closed. */
void net_close(struct net *net);
void net_turn(struct net *net);
/* Turn the loop for `ms`, and at least a few times. */
void net_elapse(struct net *net, uint64_t ms);
/* Turn the loop until the condition holds; false: not within `ms` of attended time. */
bool net_until(struct net *net, uint64_t ms, bool (*condition)(void *), void *argument);

/* Make identity i of the folder of `net`, and give its key to a member. */
void net_identify(const struct net *net, const char *name, uint32_t i, struct sl_identity *identity,
		  struct sl_member *member);

void pair_open(struct pair *pair, struct net *net);
/* With another TLS for one end, which may know other keys. */
void pair_open_with(struct pair *pair, struct net *net, uint32_t end, const struct sl_tls *tls);
void pair_close(struct pair *pair);
/* A pair in a loop of its own; one at a time. */
struct pair *pair_alone(void);
void pair_end(struct pair *pair);
/* Turn until the condition holds of the pair; fail the test after `ms`. */
void pair_await(struct pair *pair, uint64_t ms, bool (*condition)(void *));
void pair_want(struct pair *pair, int end, bool wanted);
/* Queue a numbered frame of `size` payload bytes, at least 4; end_flush sends. */
void end_send(struct end *end, size_t size, bool vector);
void end_flush(struct end *end);
void end_consume(struct end *end);
/* Return the link that is up, the dial under way; NULL: none. */
const struct sl_link *end_link(const struct end *end);
const struct sl_link *end_dial(const struct end *end);

/* Exactly one link at each end, up, and the same one (an end dialled it, the other accepted it); nothing else
 * open. */
bool pair_settled(void *pair);
/* pair_settled, and each end was told of one up and nothing else. */
void pair_expect_clean(const struct pair *pair);
/* Send a frame each way; pair_heard: the last frame of each end has arrived. */
void pair_say(struct pair *pair);
bool pair_heard(void *pair);
void pair_expect_frames(struct pair *pair);
