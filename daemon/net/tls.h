/* tls.h - TLS 1.3 over buffers: bytes in, bytes out, no sockets.
 *
 * Both ends present a self-signed certificate. A peer is accepted if the SHA-256 of its key is a pin of the
 * roster, and the pin identifies the member (LINKS.md §6.2 Links). There are no tickets, no session cache
 * and no early data: a resumed handshake would skip the pin check. An SSL is not used after a fatal error.
 *
 * A client that offers the application protocol SL_TLS_JOIN is no link but a learner that joins
 * (join_server.h): each end accepts any Ed25519 key of the other, and what it may do depends on more than
 * that.
 */
#pragma once

#include <openssl/ssl.h>

#include "common/base/err.h"
#include "common/config/roster.h"
#include "daemon/net/identity.h"

#define SL_TLS_JOIN "starling-join/1" /* ALPN */

struct sl_tls {
	SSL_CTX *context;
	const struct sl_roster *roster;
	uint64_t start; /* serial number of the own certificate */
	bool joins;	/* learners that join are served; set by the caller after sl_tls_open */
};

/* Why TLS ended a connection: X(cause, name) */
#define SL_TLS_FAILURES(X)                                                                                   \
	X(HANDSHAKE, "handshake")     /* it failed for another reason than the next three */                 \
	X(UNKNOWN_KEY, "unknown_key") /* the peer showed a key that is not in the roster */                  \
	X(OTHER_KEY, "other_key")     /* the peer showed the key of another learner */                       \
	X(REFUSED, "refused")	      /* the peer refused the own key */                                     \
	X(BROKEN, "broken")	      /* a record of an established link could not be read or written */

enum sl_tls_failure {
#define X(cause, name) SL_TLS_FAILURE_##cause,
	SL_TLS_FAILURES(X)
#undef X
		SL_TLS_FAILURE_COUNT
};

int sl_tls_open(struct sl_tls *tls, const struct sl_identity *identity, const struct sl_roster *roster,
		struct sl_error *error);
void sl_tls_close(struct sl_tls *tls);

#define SL_TLS_WRITE_BYTES                                                                                   \
	(192u << 10) /* plaintext for which the output buffer is sized; larger writes are slower */

/* Have the first message of clients fill packets of any size up to 12,000 bytes, by an extension that no
 * server reads. false: out of memory. */
bool sl_tls_pad(struct sl_tls *tls);

/* One connection. `in`: received bytes that are not used yet (borrowed). `out`: bytes to send (owned). */
struct sl_tls_session {
	SSL *ssl;
	const uint8_t *in;
	size_t in_bytes;
	uint8_t *out;
	size_t out_bytes, out_room;
	uint64_t written; /* plaintext bytes under the present key */
	int member;	  /* roster index of the peer; -1 before the handshake has verified it */
	bool pinned;	  /* the peer presented a key, in the roster or not; `pin` is its pin */
	uint8_t pin[SL_HASH_BYTES];
	uint64_t start; /* of its certificate's serial number, which each start of a learner draws */
	bool join;	/* no link: a learner that joins */
	bool dead;	/* set after a fatal error; the session must be closed */
};

/* Open a session; `server`: true at the accepting end. SL_ERR_NOMEM. */
int sl_tls_session_open(struct sl_tls_session *session, const struct sl_tls *tls, bool server);
void sl_tls_session_close(struct sl_tls_session *session);
/* Make the session of a client, before its handshake, that of a learner that joins. SL_ERR_NOMEM. */
int sl_tls_session_join(struct sl_tls_session *session);
/* Derive bytes that only the two ends of this connection know. SL_ERR_CRYPTO. */
int sl_tls_session_export(struct sl_tls_session *session, uint8_t exported[static SL_HASH_BYTES]);

/* Leave at the end of the handshake, as a client that has not sent its part of it: at the other end there was
 * no link. */
void sl_tls_session_leave(struct sl_tls_session *session);

/* Continue the handshake. SL_OK: done; SL_PENDING: needs more bytes; SL_ERR_CRYPTO: refused. Send `out` after
 * every call, independent of the result. */
int sl_tls_session_handshake(struct sl_tls_session *session);
/* Decrypt up to `size` bytes. SL_OK: *got > 0; SL_PENDING: `in` is used up; SL_ERR_CRYPTO; SL_ERR_NOTFOUND:
 * the peer said goodbye. */
int sl_tls_session_read(struct sl_tls_session *session, uint8_t *bytes, size_t size, size_t *got);
/* Encrypt `bytes` into `out`. */
int sl_tls_session_write(struct sl_tls_session *session, const uint8_t *bytes, size_t count);
/* Return `out`, which the caller sends and frees. */
uint8_t *sl_tls_session_take(struct sl_tls_session *session);
/* Append the goodbye (close_notify) to `out`. */
void sl_tls_session_end(struct sl_tls_session *session);
