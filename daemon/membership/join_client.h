/* join_client.h - a request to a learner of a group, from a program that has no event loop (GROUP.md §12.9
 * Joining). One connection, one request, one answer, until a deadline. It may also be the beginning of a
 * link, to see whether there could be one.
 */
#pragma once

#include "common/wire/frame.h"
#include "common/wire/join_codec.h"
#include "daemon/net/identity.h"
#include "daemon/net/proxy.h"
#include "daemon/net/tls.h"

/* What has failed. */
enum sl_join_failure {
	SL_JOIN_FAILURE_NONE,
	SL_JOIN_FAILURE_RESOLVE, /* the host of the address */
	SL_JOIN_FAILURE_CONNECT,
	SL_JOIN_FAILURE_PROXY, /* the way through it */
	SL_JOIN_FAILURE_HANDSHAKE,
};

struct sl_join_client {
	struct sl_roster
		empty; /* of a joining learner, which checks the other end's key later, by the answer */
	struct sl_tls tls;
	struct sl_tls_session session;
	int fd;
	bool large;			 /* its packets are not kept small */
	uint64_t deadline_ms;		 /* monotonic */
	char local[SL_ADDRESS_BYTES];	 /* own address of the connection, without a port */
	uint8_t exported[SL_HASH_BYTES]; /* derived from the connection */
	uint8_t input[16384];		 /* received, used by TLS in part */
	uint8_t *bytes;			 /* of the answer; owned */
	enum sl_join_failure failure;
	int why; /* errno of the failure; 0: there is none */
};

/* What a connection is opened for. */
enum sl_join_purpose {
	SL_JOIN_FOR_ANSWER,
	SL_JOIN_FOR_LINK, /* the beginning of a link */
	SL_JOIN_FOR_LOOK, /* a link that is left as soon as the key of the other end is known: none comes up
			     there, and one that stands is not disturbed */
};

/* Connect to `address`, through the proxy if there is one, and complete the handshake, within `ms`. `roster`:
 * of a link; `session` tells which key the other end has shown. `large`: with packets as large as those of a
 * link, of which the first message fills some. SL_ERR_IO: it cannot be reached; SL_ERR_CRYPTO: the other end
 * is no learner, or serves no learners that join. Close it in any case. */
int sl_join_client_open(struct sl_join_client *client, enum sl_join_purpose purpose, bool large,
			const struct sl_identity *identity, const struct sl_roster *roster,
			const struct sl_proxy *proxy, const char *address, uint32_t ms,
			struct sl_error *error);
/* Return true if a connection has failed because nothing of what was sent arrives, after it was made. */
bool sl_join_client_is_stuck(const struct sl_join_client *client);
/* Receive the next frame of a link into a deframer that begins as zeros; take it with sl_deframer_next.
 * SL_ERR_FORMAT: it is none of this version (sl_deframer_version); SL_ERR_CRYPTO: the other end refuses the
 * own key; SL_ERR_NOTFOUND: it said goodbye, as it has another link; SL_ERR_IO: nothing came in time. */
int sl_join_client_frame(struct sl_join_client *client, struct sl_deframer *deframer);
/* Send the request and receive the answer, whose roster lasts as long as the client. */
int sl_join_client_ask(struct sl_join_client *client, const struct sl_join_request *request,
		       struct sl_join_answer *answer, struct sl_error *error);
/* Return the pin of the other end's key. */
const uint8_t *sl_join_client_pin(const struct sl_join_client *client);
void sl_join_client_close(struct sl_join_client *client);
