/* tls.h - TLS 1.3 over buffers: bytes in, bytes out, no sockets.
 *
 * Both sides show a self-signed certificate; what counts is that the SHA-256 of its key is a pin of the
 * roster, and whose. No tickets, no session cache, no early data: a resumed handshake would skip the pin
 * check. An SSL is never touched after a fatal error.
 */
#pragma once

#include <openssl/ssl.h>

#include "common/base/err.h"
#include "daemon/net/identity.h"
#include "common/config/roster.h"

struct sl_tls {
	SSL_CTX *context;
	const struct sl_roster *roster;
};

int sl_tls_open(struct sl_tls *tls, const struct sl_identity *identity, const struct sl_roster *roster,
		struct sl_error *error);
void sl_tls_close(struct sl_tls *tls);

#define SL_TLS_WRITE_BYTES (192u << 10) /* room is made for so much at once; more is possible, and slower */

/* One connection. `in` is what arrived and is not used yet (borrowed), `out` what has to be sent (owned). */
struct sl_tls_session {
	SSL *ssl;
	const uint8_t *in;
	size_t in_bytes;
	uint8_t *out;
	size_t out_bytes, out_room;
	uint64_t written; /* plaintext bytes under the present key */
	int member;	  /* roster index of the peer, -1 before the handshake has shown it */
	bool pinned;	  /* a key was shown that is in no roster line: its pin is in `stranger` */
	uint8_t unknown_pin[SL_HASH_BYTES];
	bool dead; /* a fatal error: close it */
};

/* server: who accepted. SL_ERR_NOMEM. */
int sl_tls_session_open(struct sl_tls_session *session, const struct sl_tls *tls, bool server);
void sl_tls_session_close(struct sl_tls_session *session);

/* SL_OK: done; SL_PENDING: needs more bytes; SL_ERR_CRYPTO: refused. Flush `out` after every call, whatever
 * it returns. */
int sl_tls_session_handshake(struct sl_tls_session *session);
/* Decrypts up to `size` bytes: SL_OK with *got > 0; SL_PENDING when `in` is used up; SL_ERR_CRYPTO;
 * SL_ERR_NOTFOUND at the peer's orderly end. */
int sl_tls_session_read(struct sl_tls_session *session, uint8_t *bytes, size_t size, size_t *got);
/* Encrypts all of `bytes` into `out`. */
int sl_tls_session_write(struct sl_tls_session *session, const uint8_t *bytes, size_t count);
/* What has to be sent is the caller's, who frees it. */
uint8_t *sl_tls_session_take(struct sl_tls_session *session);
/* Says goodbye (close_notify) into `out`. */
void sl_tls_session_end(struct sl_tls_session *session);
