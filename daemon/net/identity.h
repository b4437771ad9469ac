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
	bool next; /* it was loaded from FOLDER.next */
	bool held; /* by a running learner */
	int lock;  /* descriptor of key.pem while held */
};

/* Create an identity in `folder`, which is made with mode 0700. If there is a key whose certificate is
 * lost or damaged, make that again. SL_ERR_BUSY: there is an identity already; SL_ERR_CRYPTO: the certificate
 * is of another key. An error leaves no partial file, but maybe the key. */
int sl_identity_create(const char *folder, const char *name, struct sl_error *error);
/* SL_ERR_INVALID: the certificate of the key is lost or damaged. */
int sl_identity_load(const char *folder, struct sl_identity *identity, struct sl_error *error);

/* A learner that gets another key has both for a while: the next one in the folder FOLDER.next, made like
 * that of FOLDER. The roster says which of the two is in use. */
#define SL_IDENTITY_NEXT ".next"
/* Load the identity with the key `pin`, the present or the next one. Without one that has it, load the
 * present one: the caller compares. */
int sl_identity_load_pinned(const char *folder, const uint8_t pin[static SL_HASH_BYTES],
			    struct sl_identity *identity, struct sl_error *error);
/* Return true if the present or the next identity has the key `pin`. */
bool sl_identity_has(const char *folder, const uint8_t pin[static SL_HASH_BYTES]);
/* Make the next identity the present one, and delete the key of before. A crash in between leaves the next
 * one in FOLDER.next, or both renamed. */
int sl_identity_promote(const char *folder, struct sl_error *error);

/* Lock the identity for a running learner, in place of a lock that it has. SL_ERR_BUSY: another learner of
 * this machine, on any state folder, holds it. */
int sl_identity_hold(const char *folder, struct sl_identity *identity, struct sl_error *error);
void sl_identity_close(struct sl_identity *identity);

/* Compute the pin: SHA-256 of the DER SubjectPublicKeyInfo of an Ed25519 public key. */
void sl_identity_pin(const uint8_t public_key[static SL_KEY_BYTES], uint8_t pin[static SL_HASH_BYTES]);
/* Read the Ed25519 key of a certificate; SL_ERR_CRYPTO for any other kind. */
int sl_identity_certificate_key(X509 *certificate, uint8_t public_key[static SL_KEY_BYTES]);
