/* join_server.h - requests of learners that join, on the port of the links (GROUP.md §12.9 Joining).
 *
 *   accepted, TLS with ALPN starling-join/1 --> one request --> one answer --> closed by the learner
 *
 * The peer is unknown: any Ed25519 key may ask. So there are at most SL_JOINS_MAX of these connections and
 * SL_JOINS_PER_SECOND_MAX requests a second; each has the time of a handshake from its first byte to its
 * request, and that time again to take the answer; a request has at most SL_JOIN_REQUEST_BYTES_MAX bytes.
 * Links are not disturbed: such a connection never has a slot.
 */
#pragma once

#include "common/config/roster.h"
#include "common/wire/join_codec.h"

/* The learner that asks. */
struct sl_join_peer {
	const char *address;		 /* of its end of the connection, without a port */
	const uint8_t *pin;		 /* of its key, whose possession it has proved; SL_HASH_BYTES */
	uint8_t exported[SL_HASH_BYTES]; /* derived from this connection; each proof includes it */
};

struct sl_join_handler {
	void *context;
	/* Write the answer. Its roster is borrowed until the function is called again. */
	void (*ask)(void *context, const struct sl_join_peer *peer, const struct sl_join_request *request,
		    struct sl_join_answer *answer);
};
