/* identity.h - a learner's Ed25519 key in a self-signed X.509 container, and its pin.
 *
 * key.pem (mode 0600, refused otherwise) and cert.pem in one folder. Files of these names in
 * $CREDENTIALS_DIRECTORY, where the service manager guards them (LoadCredential= of systemd.exec(5)), come
 * first. The secret key is held in guarded memory (sodium_malloc), signs flooded records, and authenticates
 * TLS; it is never printed.
 */
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "common/base/err.h"
#include "common/base/types.h"

struct sl_identity {
	EVP_PKEY *key;
	X509 *certificate;
	uint8_t public_key[SL_KEY_BYTES];
	uint8_t *sign_key; /* libsodium secret key, crypto_sign_SECRETKEYBYTES on guarded pages */
	uint8_t pin[SL_HASH_BYTES];
	bool held; /* by a running learner */
	int lock;  /* descriptor of key.pem while held */
};

/* Create an identity in `folder`, which is made with mode 0700. SL_ERR_BUSY: there is one already. An error
 * leaves no partial files. */
int sl_identity_create(const char *folder, const char *name, struct sl_error *error);
int sl_identity_load(const char *folder, struct sl_identity *identity, struct sl_error *error);
/* Lock the identity for a running learner. SL_ERR_BUSY: another learner of this machine, on any state folder,
 * holds it. */
int sl_identity_hold(const char *folder, struct sl_identity *identity, struct sl_error *error);
void sl_identity_close(struct sl_identity *identity);

/* Compute the pin: SHA-256 of the DER SubjectPublicKeyInfo of an Ed25519 public key. */
void sl_identity_pin(const uint8_t public_key[static SL_KEY_BYTES], uint8_t pin[static SL_HASH_BYTES]);
/* Read the Ed25519 key of a certificate; SL_ERR_CRYPTO for any other kind. */
int sl_identity_certificate_key(X509 *certificate, uint8_t public_key[static SL_KEY_BYTES]);
