/* join_client.h - a request to a learner of a group, from a program that has no event loop (PROTOCOL.md §12.9
 * Joining). One connection, one request, one answer, until a deadline.
 */
#pragma once

#include "common/wire/join_codec.h"
#include "daemon/net/identity.h"
#include "daemon/net/tls.h"

struct sl_join_client {
	struct sl_roster
		nobody; /* empty: the key of the other end is checked against the roster of its answer */
	struct sl_tls tls;
	struct sl_tls_session session;
	int fd;
	uint64_t deadline_ms;		 /* monotonic */
	char local[SL_ADDRESS_BYTES];	 /* own address of the connection, without a port */
	uint8_t exported[SL_HASH_BYTES]; /* derived from the connection */
	uint8_t input[16384];		 /* received, used by TLS in part */
	uint8_t *bytes;			 /* of the answer; owned */
};

/* Connect to `address` and complete the handshake, within `ms`. SL_ERR_IO: it cannot be reached;
 * SL_ERR_CRYPTO: the other end is no learner, or serves no learners that join. Close it in any case. */
int sl_join_client_open(struct sl_join_client *client, const struct sl_identity *identity,
			const char *address, uint32_t ms, struct sl_error *error);
/* Send the request and receive the answer, whose roster lasts as long as the client. */
int sl_join_client_ask(struct sl_join_client *client, const struct sl_join_request *request,
		       struct sl_join_answer *answer, struct sl_error *error);
/* Return the pin of the other end's key. */
const uint8_t *sl_join_client_pin(const struct sl_join_client *client);
void sl_join_client_close(struct sl_join_client *client);
