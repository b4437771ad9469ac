/* Handshakes without sockets: which keys are accepted, and that no handshake helps another one. */
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>

#include "test/lib/test.h"
#include "test/net/pair.h"

/* Another program: plain OpenSSL, which connects to learner 1 of a net. */
struct unknown_pin {
	SSL_CTX *context;
	SSL *ssl;
	BIO *in, *out;
};

static int sessions; /* that it was offered */

static int on_session(SSL *ssl, SSL_SESSION *session)
{
	(void)ssl;
	(void)session;
	sessions++;
	return 0;
}

/* `identity` NULL: no certificate. */
static void stranger_open(struct unknown_pin *s, const struct sl_identity *identity)
{
	s->context = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_verify(s->context, SSL_VERIFY_NONE, NULL);
	SSL_CTX_set_session_cache_mode(s->context, SSL_SESS_CACHE_CLIENT);
	SSL_CTX_sess_set_new_cb(s->context, on_session);
	if (identity != NULL) {
		assert_int_equal(SSL_CTX_use_certificate(s->context, identity->certificate), 1);
		assert_int_equal(SSL_CTX_use_PrivateKey(s->context, identity->key), 1);
	}
	s->ssl = NULL;
}

static void stranger_connect(struct unknown_pin *s)
{
	SSL_free(s->ssl);
	s->ssl = SSL_new(s->context);
	s->in = BIO_new(BIO_s_mem());
	s->out = BIO_new(BIO_s_mem());
	BIO_set_mem_eof_return(s->in, -1);
	SSL_set_bio(s->ssl, s->in, s->out);
	SSL_set_connect_state(s->ssl);
}

static void stranger_close(struct unknown_pin *s)
{
	SSL_free(s->ssl);
	SSL_CTX_free(s->context);
	ERR_clear_error();
}

/* Return the result at the learner. */
static int handshake(struct unknown_pin *s, struct sl_tls_session *learner)
{
	uint8_t byte;
	int rc = SL_PENDING;
	for (int turn = 0; turn < 8; turn++) {
		char *bytes;
		SSL_read(s->ssl, &byte, 1); /* the handshake, and what comes after it */
		long count = BIO_get_mem_data(s->out, &bytes);
		learner->in = (const uint8_t *)bytes;
		learner->in_bytes = (size_t)count;
		if (rc == SL_PENDING)
			rc = sl_tls_session_handshake(learner);
		BIO_reset(s->out);
		BIO_write(s->in, learner->out, (int)learner->out_bytes);
		learner->out_bytes = 0;
	}
	return rc;
}

static int meet(struct unknown_pin *s, const struct sl_tls *tls, struct sl_tls_session *learner)
{
	stranger_connect(s);
	assert_int_equal(sl_tls_session_open(learner, tls, true), SL_OK);
	return handshake(s, learner);
}

TEST_WITH(who_is_in_the_roster, NULL, NULL)
{
	const struct net *net = *state;
	struct sl_tls_session learner;
	struct unknown_pin s;
	stranger_open(&s, &net->identities[0]);
	assert_int_equal(meet(&s, &net->tls[1], &learner), SL_OK);
	assert_int_equal(learner.member, 0);
	sl_tls_session_close(&learner);
	stranger_close(&s);
}

/* A resumed session would skip the check of the key. */
TEST_WITH(no_session_comes_back, NULL, NULL)
{
	const struct net *net = *state;
	struct sl_tls_session learner;
	struct unknown_pin s;
	stranger_open(&s, &net->identities[0]);
	sessions = 0;
	assert_int_equal(meet(&s, &net->tls[1], &learner), SL_OK);
	assert_int_equal(sessions, 0);
	SSL_SESSION *session = SSL_get1_session(s.ssl);
	sl_tls_session_close(&learner);
	stranger_connect(&s);
	assert_int_equal(SSL_set_session(s.ssl, session), 1);
	assert_int_equal(sl_tls_session_open(&learner, &net->tls[1], true), SL_OK);
	assert_int_equal(handshake(&s, &learner), SL_OK);
	assert_int_equal(SSL_session_reused(s.ssl), 0);
	assert_int_equal(learner.member, 0);
	SSL_SESSION_free(session);
	sl_tls_session_close(&learner);
	stranger_close(&s);
}

static void refuse(const struct sl_identity *identity, const struct sl_tls *tls, int version, bool pinned)
{
	struct sl_tls_session learner;
	struct unknown_pin s;
	stranger_open(&s, identity);
	SSL_CTX_set_max_proto_version(s.context, version);
	assert_int_equal(meet(&s, tls, &learner), SL_ERR_CRYPTO);
	assert_int_equal(learner.member, -1);
	assert_int_equal(learner.pinned, pinned);
	sl_tls_session_close(&learner);
	stranger_close(&s);
}

TEST_WITH(nobody_without_a_key, NULL, NULL)
{
	const struct net *net = *state;
	refuse(NULL, &net->tls[1], TLS1_3_VERSION, false);
}

TEST_WITH(nobody_with_a_key_of_his_own, NULL, NULL)
{
	const struct net *net = *state;
	struct sl_member members[2];
	struct sl_roster roster = {.members = members, .size = 2};
	struct sl_error error;
	struct sl_tls tls;
	memcpy(members, net->members, sizeof members);
	memset(members[0].pin, 0, sizeof members[0].pin);
	assert_int_equal(sl_tls_open(&tls, &net->identities[1], &roster, &error), SL_OK);
	refuse(&net->identities[0], &tls, TLS1_3_VERSION, true);
	sl_tls_close(&tls);
}

TEST_WITH(nobody_of_an_older_version, NULL, NULL)
{
	const struct net *net = *state;
	refuse(&net->identities[0], &net->tls[1], TLS1_2_VERSION, false);
}

static int open_net(void **state)
{
	struct net *net = *state = malloc(sizeof *net);
	net_open(net);
	return 0;
}

static int close_net(void **state)
{
	net_close(*state);
	free(*state);
	return 0;
}
TEST_SETUP(open_net, close_net)
