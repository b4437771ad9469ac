/* relay.h - links through a third learner (LINKS.md §6.2 Links, "Relays"): private to the files of links.
 *
 *   asker A                        relay R                        other end X
 *     | <------------ OFFER -------- | ------------ OFFER -------> |     when a link to R comes up
 *     | ---- ASK X ----------------> |                             |     no address of X answers
 *     | <--- DIAL X, token a ------- | ------ TAKE A, token x ---> |
 *     | === new connection: preface, a, TLS ...                    |
 *     |                              | <=== new connection: preface, x
 *     | <--- bytes, unread --------> | <----- bytes, unread -----> |     A is the client of TLS, X the server
 *
 * The orders are frames of the links of R. R keeps a splice for a pair: it waits for both connections, then
 * passes bytes on, and ends both when one ends. It cannot read them: TLS is between A and X, with their pins.
 */
#pragma once

#include "daemon/net/link.h"

enum sl_relay_verb { SL_RELAY_OFFER = 1, SL_RELAY_ASK, SL_RELAY_DIAL, SL_RELAY_TAKE };

struct sl_relay_order {
	uint32_t verb;
	sl_id id;			     /* of the other end; OFFER: 0 */
	uint8_t token[SL_RELAY_TOKEN_BYTES]; /* of DIAL and TAKE; else zeros */
};

/* Read the payload of a frame; return false if it is none. */
bool sl_relay_read(const uint8_t *payload, size_t size, struct sl_relay_order *order);
/* Queue an order on an established link. */
void sl_relay_send(struct sl_link *link, const struct sl_relay_order *order);
/* Begin a splice between the peer of `link`, which asks for it, and the learner `other`: tell both, if the
 * limits allow it. */
void sl_relay_grant(struct sl_link *link, uint32_t other);
/* Take the first bytes of an accepted connection that are not TLS: a preface. */
void sl_relay_leg(struct sl_link *link, const uint8_t *bytes, size_t count);
/* A connection has closed: end its splice. Return false if it was in none. */
bool sl_relay_lost(struct sl_link *link);
/* End the splices that have waited too long for a connection, or carry nothing any more. */
void sl_relay_look(struct sl_links *links, uint64_t now);
/* Return the state of a relay, which free() ends; NULL: out of memory. */
struct sl_relay *sl_relay_open(void);
