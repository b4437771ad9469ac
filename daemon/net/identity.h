/* identity.h - a learner's Ed25519 key in a self-signed X.509 container, and its pin.
 *
 * key.pem (mode 0600, refused otherwise) and cert.pem in one folder. The secret key is held in guarded memory
 * (sodium_malloc), signs flooded records, and authenticates TLS; it is never printed.
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
	bool held; /* by a learner that runs */
	int lock;  /* descriptor of key.pem while it is */
};

/* Makes a new identity in `folder` (created 0700). SL_ERR_BUSY if it holds one already; nothing half-written.
 */
int sl_identity_create(const char *folder, const char *name, struct sl_error *error);
int sl_identity_load(const char *folder, struct sl_identity *identity, struct sl_error *error);
/* For a learner that runs: SL_ERR_BUSY when another one, on any state folder of this machine, holds it. */
int sl_identity_hold(const char *folder, struct sl_identity *identity, struct sl_error *error);
void sl_identity_close(struct sl_identity *identity);

/* SHA-256 of the DER SubjectPublicKeyInfo of an Ed25519 public key. */
void sl_identity_pin(const uint8_t public_key[static SL_KEY_BYTES], uint8_t pin[static SL_HASH_BYTES]);
/* The raw Ed25519 key of a certificate; SL_ERR_CRYPTO if it is of another kind. */
int sl_identity_certificate_key(X509 *certificate, uint8_t public_key[static SL_KEY_BYTES]);
