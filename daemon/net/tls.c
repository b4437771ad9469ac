#include "daemon/net/tls.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

/* RFC 8446 section 5.5 limits an AES-GCM key to about 380 GB. */
#define KEY_UPDATE_BYTES (UINT64_C(64) << 30)

/* Sizes of the output buffer: a handshake flight or a few control frames; a write of vectors. */
#define OUT_SMALL 4096u
#define OUT_LARGE (SL_TLS_WRITE_BYTES + SL_TLS_WRITE_BYTES / 64)

#define PADDING 65000u /* an extension without a meaning */

#define EXPORT_LABEL "EXPORTER-starling-join"

/* SL_TLS_JOIN with its length before it. */
static const unsigned char join_protocol[] = {'\x0f', 's', 't', 'a', 'r', 'l', 'i', 'n',
					      'g',    '-', 'j', 'o', 'i', 'n', '/', '1'};
static_assert(sizeof join_protocol == sizeof SL_TLS_JOIN, "one length byte in place of the zero");

/* The BIO reads from session->in and appends to session->out. */

static int bio_read(BIO *bio, char *bytes, int size)
{
	struct sl_tls_session *session = BIO_get_data(bio);
	BIO_clear_retry_flags(bio);
	if (session->in_bytes == 0) {
		BIO_set_retry_read(bio);
		return -1;
	}
	size_t n = session->in_bytes < (size_t)size ? session->in_bytes : (size_t)size;
	memcpy(bytes, session->in, n);
	session->in += n;
	session->in_bytes -= n;
	return (int)n;
}

static bool make_room(struct sl_tls_session *session, size_t more)
{
	size_t need = session->out_bytes + more;
	if (need <= session->out_room)
		return true;
	size_t room = need <= OUT_SMALL ? OUT_SMALL : need < OUT_LARGE ? OUT_LARGE : need;
	uint8_t *out = realloc(session->out, room);
	if (out == NULL)
		return false;
	session->out = out;
	session->out_room = room;
	return true;
}

static int bio_write(BIO *bio, const char *bytes, int size)
{
	struct sl_tls_session *session = BIO_get_data(bio);
	BIO_clear_retry_flags(bio);
	if (size <= 0 || !make_room(session, (size_t)size))
		return -1;
	memcpy(session->out + session->out_bytes, bytes, (size_t)size);
	session->out_bytes += (size_t)size;
	return size;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
	(void)bio;
	(void)number;
	(void)pointer;
	return command == BIO_CTRL_FLUSH || command == BIO_CTRL_PUSH || command == BIO_CTRL_POP;
}

static int bio_create(BIO *bio)
{
	BIO_set_init(bio, 1);
	return 1;
}

static BIO_METHOD *bio_method(void)
{
	static BIO_METHOD *method; /* one table per process, constant once made */
	if (method != NULL)
		return method;
	method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "starling buffers");
	if (method == NULL)
		return NULL;
	BIO_meth_set_read(method, bio_read);
	BIO_meth_set_write(method, bio_write);
	BIO_meth_set_ctrl(method, bio_control);
	BIO_meth_set_create(method, bio_create);
	return method;
}

/* Take a client that offers SL_TLS_JOIN as a learner that joins. Other offers do not matter: a link makes
 * none.
 */
static int select_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_bytes,
			   const unsigned char *in, unsigned in_bytes, void *argument)
{
	const struct sl_tls *tls = argument;
	struct sl_tls_session *session = SSL_get_app_data(ssl);
	unsigned char *chosen;
	if (SSL_select_next_proto(&chosen, out_bytes, join_protocol, sizeof join_protocol, in, in_bytes) !=
	    OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_NOACK;
	*out = chosen;
	session->join = tls->joins;
	return tls->joins ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* Return true if the peer has shown the key of a member, or joins and has shown any. */
static bool is_accepted(const struct sl_tls_session *session)
{
	return session->member >= 0 || (session->join && session->pinned);
}

/* Verify the peer by its pin, in place of OpenSSL's chain building. */
static int verify(X509_STORE_CTX *store, void *argument)
{
	struct sl_tls *tls = argument;
	SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
	struct sl_tls_session *session = SSL_get_app_data(ssl);
	X509 *certificate = X509_STORE_CTX_get0_cert(store);
	uint8_t key[SL_KEY_BYTES];
	session->member = -1;
	if (certificate != NULL && sl_identity_certificate_key(certificate, key) == SL_OK) {
		sl_identity_pin(key, session->pin);
		session->pinned = true;
		session->member = sl_roster_find_pin(tls->roster, session->pin);
		ASN1_INTEGER_get_uint64(&session->start, X509_get0_serialNumber(certificate));
		ERR_clear_error(); /* one of another form: 0 */
	}
	bool accepted = is_accepted(session);
	X509_STORE_CTX_set_error(store, accepted ? X509_V_OK : X509_V_ERR_CERT_REJECTED);
	return accepted;
}

static bool configure(SSL_CTX *context, const struct sl_identity *identity, struct sl_tls *tls)
{
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	SSL_CTX_set_cert_verify_callback(context, verify, tls);
	SSL_CTX_set_alpn_select_cb(context, select_protocol, tls);
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
	SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_read_ahead(context, 1);
	return SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
	       SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
	       SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") ==
		       1 &&
	       SSL_CTX_set_num_tickets(context, 0) == 1 && SSL_CTX_set_max_early_data(context, 0) == 1 &&
	       SSL_CTX_use_certificate(context, identity->certificate) == 1 &&
	       SSL_CTX_use_PrivateKey(context, identity->key) == 1 && SSL_CTX_check_private_key(context) == 1;
}

int sl_tls_open(struct sl_tls *tls, const struct sl_identity *identity, const struct sl_roster *roster,
		struct sl_error *error)
{
	tls->roster = roster;
	tls->joins = false;
	ASN1_INTEGER_get_uint64(&tls->start, X509_get0_serialNumber(identity->certificate));
	tls->context = SSL_CTX_new(TLS_method());
	if (tls->context == NULL || bio_method() == NULL || !configure(tls->context, identity, tls)) {
		sl_tls_close(tls);
		return sl_err_set(error, SL_ERR_CRYPTO, "cannot set up TLS: %s",
				  ERR_reason_error_string(ERR_get_error()));
	}
	return SL_OK;
}

static int add_padding(SSL *ssl, unsigned type, unsigned context, const unsigned char **out, size_t *bytes,
		       X509 *certificate, size_t index, int *alert, void *argument)
{
	static const unsigned char zeros[12000];
	(void)ssl, (void)type, (void)context, (void)certificate, (void)index, (void)alert, (void)argument;
	*out = zeros;
	*bytes = sizeof zeros;
	return 1;
}

bool sl_tls_pad(struct sl_tls *tls)
{
	return SSL_CTX_add_custom_ext(tls->context, PADDING, SSL_EXT_CLIENT_HELLO, add_padding, NULL, NULL,
				      NULL, NULL) == 1;
}

void sl_tls_close(struct sl_tls *tls)
{
	SSL_CTX_free(tls->context);
	tls->context = NULL;
}

uint8_t *sl_tls_session_take(struct sl_tls_session *session)
{
	uint8_t *out = session->out;
	session->out = NULL;
	session->out_bytes = session->out_room = 0;
	return out;
}

int sl_tls_session_open(struct sl_tls_session *session, const struct sl_tls *tls, bool server)
{
	*session = (struct sl_tls_session){.member = -1};
	session->ssl = SSL_new(tls->context);
	BIO *bio = BIO_new(bio_method());
	if (session->ssl == NULL || bio == NULL) {
		SSL_free(session->ssl);
		BIO_free(bio);
		session->ssl = NULL;
		return SL_ERR_NOMEM;
	}
	BIO_set_data(bio, session);
	SSL_set_bio(session->ssl, bio, bio);
	SSL_set_app_data(session->ssl, session);
	if (server)
		SSL_set_accept_state(session->ssl);
	else
		SSL_set_connect_state(session->ssl);
	return SL_OK;
}

void sl_tls_session_close(struct sl_tls_session *session)
{
	SSL_free(session->ssl);
	free(session->out);
	*session = (struct sl_tls_session){.member = -1, .dead = true};
}

int sl_tls_session_join(struct sl_tls_session *session)
{
	session->join = true;
	return SSL_set_alpn_protos(session->ssl, join_protocol, sizeof join_protocol) == 0 ? SL_OK
											   : SL_ERR_NOMEM;
}

int sl_tls_session_export(struct sl_tls_session *session, uint8_t exported[static SL_HASH_BYTES])
{
	ERR_clear_error();
	int rc = SSL_export_keying_material(session->ssl, exported, SL_HASH_BYTES, EXPORT_LABEL,
					    sizeof EXPORT_LABEL - 1, NULL, 0, 0);
	return rc == 1 ? SL_OK : SL_ERR_CRYPTO;
}

/* Translate the failure of an SSL call; after a fatal one the SSL is not used again. */
static int outcome(struct sl_tls_session *session, int rc)
{
	switch (SSL_get_error(session->ssl, rc)) {
	case SSL_ERROR_WANT_READ:
		return SL_PENDING;
	case SSL_ERROR_ZERO_RETURN:
		return SL_ERR_NOTFOUND;
	default:
		session->dead = true;
		ERR_clear_error();
		return SL_ERR_CRYPTO;
	}
}

void sl_tls_session_leave(struct sl_tls_session *session)
{
	free(sl_tls_session_take(session));
	session->dead = true;
}

int sl_tls_session_handshake(struct sl_tls_session *session)
{
	if (session->dead)
		return SL_ERR_CRYPTO;
	ERR_clear_error();
	int rc = SSL_do_handshake(session->ssl);
	if (rc == 1)
		return is_accepted(session) ? SL_OK : SL_ERR_CRYPTO;
	rc = outcome(session, rc);
	return rc == SL_PENDING ? SL_PENDING : SL_ERR_CRYPTO;
}

int sl_tls_session_read(struct sl_tls_session *session, uint8_t *bytes, size_t size, size_t *got)
{
	if (session->dead)
		return SL_ERR_CRYPTO;
	ERR_clear_error();
	int rc = SSL_read_ex(session->ssl, bytes, size, got);
	return rc == 1 ? SL_OK : outcome(session, rc);
}

int sl_tls_session_write(struct sl_tls_session *session, const uint8_t *bytes, size_t count)
{
	if (session->dead)
		return SL_ERR_CRYPTO;
	size_t written = 0;
	ERR_clear_error();
	session->written += count;
	if (session->written > KEY_UPDATE_BYTES) {
		session->written = 0;
		SSL_key_update(session->ssl, SSL_KEY_UPDATE_REQUESTED);
	}
	int rc = SSL_write_ex(session->ssl, bytes, count, &written);
	return rc == 1 && written == count ? SL_OK : outcome(session, rc);
}

void sl_tls_session_end(struct sl_tls_session *session)
{
	if (session->dead || !SSL_is_init_finished(session->ssl))
		return;
	ERR_clear_error();
	SSL_shutdown(session->ssl);
}
