/* An identity is made whole or not at all, and is not loaded when others may read it. */
#include "test/config/settings_folder.h"
#include "test/lib/test.h"

#include <openssl/pem.h>
#include <sodium.h>

#include "daemon/net/identity.h"

static void make(const char *folder)
{
	struct sl_error error = {0};
	assert_ok(sl_identity_create(folder, "clinic-c", &error), error);
}

#define OF_ANOTHER_KEY                                                                                       \
	"id/cert.pem: belongs to another key than key.pem; move it elsewhere, then 'starling keygen --dir' " \
	"makes one for that key"

static void expect_load_error(int code, const char *message)
{
	struct sl_identity identity;
	struct sl_error error = {0};
	assert_int_equal(sl_identity_load("id", &identity, &error), code);
	assert_string_equal(error.text, message);
	assert_null(identity.key);
	assert_null(identity.sign_key);
}

TEST_WITH(modes_keep_the_key_secret, folder_enter, folder_leave)
{
	struct stat st;
	make("id");
	assert_int_equal(stat("id", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat("id/key.pem", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

TEST_WITH(signs_with_the_key_of_its_certificate, folder_enter, folder_leave)
{
	struct sl_identity id;
	uint8_t signature[SL_SIG_BYTES], public_key[SL_KEY_BYTES], pin[SL_HASH_BYTES], *der = NULL;
	const uint8_t message[] = "link state";
	make("id");
	assert_int_equal(sl_identity_load("id", &id, NULL), SL_OK);
	assert_int_equal(sl_identity_certificate_key(id.certificate, public_key), SL_OK);
	assert_memory_equal(public_key, id.public_key, sizeof public_key);
	crypto_sign_detached(signature, NULL, message, sizeof message, id.sign_key);
	assert_int_equal(crypto_sign_verify_detached(signature, message, sizeof message, public_key), 0);

	/* the pin, against OpenSSL's own encoding of the public key */
	int n = i2d_PUBKEY(id.key, &der);
	assert_true(n > 0);
	crypto_hash_sha256(pin, der, (unsigned long long)n);
	OPENSSL_free(der);
	assert_memory_equal(pin, id.pin, sizeof pin);
	assert_int_equal(X509_verify(id.certificate, id.key), 1);
	sl_identity_close(&id);
	assert_null(id.sign_key);
}

TEST_WITH(never_overwrites, folder_enter, folder_leave)
{
	struct sl_error error = {0};
	char before[1024], after[1024];
	make("id");
	folder_get("id/key.pem", before, sizeof before);
	assert_int_equal(sl_identity_create("id", "other", &error), SL_ERR_BUSY);
	assert_string_equal(error.text, "id/key.pem: exists; an identity is never overwritten");
	assert_string_equal(folder_get("id/key.pem", after, sizeof after), before);
}

static void expect_create_error(int code, const char *message)
{
	struct sl_error error = {0};
	assert_int_equal(sl_identity_create("id", "x", &error), code);
	assert_string_equal(error.text, message);
}

/* The key is what counts: a certificate that is lost or damaged is made again. That of another key stays. */
TEST_WITH(makes_a_lost_certificate_again, folder_enter, folder_leave)
{
	struct sl_identity before, after;
	make("id");
	make("other");
	assert_int_equal(sl_identity_load("id", &before, NULL), SL_OK);
	for (int k = 0; k < 3; k++) {
		if (k == 0)
			assert_int_equal(unlink("id/cert.pem"), 0);
		else
			folder_put("id/cert.pem", k == 1 ? "" : "-----BEGIN CERTIFICATE-----\nMIIB");
		make("id");
		assert_int_equal(sl_identity_load("id", &after, NULL), SL_OK);
		assert_memory_equal(after.pin, before.pin, sizeof after.pin);
		sl_identity_close(&after);
	}
	sl_identity_close(&before);
	expect_create_error(SL_ERR_BUSY, "id/key.pem: exists; an identity is never overwritten");
	assert_int_equal(rename("other/cert.pem", "id/cert.pem"), 0);
	expect_create_error(SL_ERR_CRYPTO, OF_ANOTHER_KEY);
	folder_put("id/key.pem", "nonsense");
	assert_int_equal(unlink("id/cert.pem"), 0);
	assert_int_equal(sl_identity_create("id", "x", NULL), SL_ERR_BUSY);
}

/* Another kind of certificate is one of another key. */
TEST_WITH(keeps_a_certificate_of_another_kind, folder_enter, folder_leave)
{
	char before[4096], after[4096];
	X509 *certificate = X509_new();
	EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
	make("id");
	FILE *file = fopen("id/cert.pem", "we");
	X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
	X509_gmtime_adj(X509_getm_notAfter(certificate), 60);
	assert_int_equal(X509_set_pubkey(certificate, key), 1);
	assert_int_equal(X509_sign(certificate, key, EVP_sha256()) > 0, 1);
	assert_int_equal(PEM_write_X509(file, certificate), 1);
	fclose(file);
	X509_free(certificate);
	EVP_PKEY_free(key);
	folder_get("id/cert.pem", before, sizeof before);
	expect_load_error(SL_ERR_CRYPTO, OF_ANOTHER_KEY);
	expect_create_error(SL_ERR_CRYPTO, OF_ANOTHER_KEY);
	assert_string_equal(folder_get("id/cert.pem", after, sizeof after), before);
	assert_int_equal(unlink("id/cert.pem"), 0);
	assert_int_equal(mkdir("id/cert.pem", 0700), 0);
	expect_create_error(SL_ERR_IO, "id/cert.pem: Is a directory");
}

TEST_WITH(leaves_nothing_half_written, folder_enter, folder_leave)
{
	struct sl_error error = {0};
	struct stat st;
	mkdir("id", 0700);
	folder_put("id/cert.pem", "mine");
	assert_int_equal(sl_identity_create("id", "x", &error), SL_ERR_BUSY);
	assert_int_equal(stat("id/key.pem", &st), -1);
	assert_int_equal(sl_identity_create("no/such", "x", &error), SL_ERR_IO);
	assert_string_equal(error.text, "no/such: No such file or directory");
}

TEST_WITH(refuses_open_modes, folder_enter, folder_leave)
{
	make("id");
	assert_int_equal(chmod("id/key.pem", 0644), 0);
	expect_load_error(SL_ERR_REFUSED,
			  "id/key.pem: mode 0644 lets others read the secret key; run chmod 600 on it");
	assert_int_equal(chmod("id/key.pem", 0640), 0);
	expect_load_error(SL_ERR_REFUSED,
			  "id/key.pem: mode 0640 lets others read the secret key; run chmod 600 on it");
	assert_int_equal(chmod("id/key.pem", 0400), 0);
	struct sl_identity id;
	assert_int_equal(sl_identity_load("id", &id, NULL), SL_OK);
	sl_identity_close(&id);
}

TEST_WITH(refuses_what_does_not_match, folder_enter, folder_leave)
{
	make("id");
	make("other");
	assert_int_equal(rename("other/cert.pem", "id/cert.pem"), 0);
	expect_load_error(SL_ERR_CRYPTO, OF_ANOTHER_KEY);
	folder_put("id/cert.pem", "nonsense");
	expect_load_error(SL_ERR_INVALID, "id/cert.pem: holds no certificate");
	assert_int_equal(unlink("id/cert.pem"), 0);
	expect_load_error(SL_ERR_INVALID, "id/cert.pem: No such file or directory");
}

static void write_key(EVP_PKEY *key, const char *password)
{
	FILE *file = fopen("id/key.pem", "we");
	assert_non_null(file);
	assert_non_null(key);
	assert_int_equal(PEM_write_PrivateKey(file, key, password ? EVP_aes_128_cbc() : NULL, NULL, 0, NULL,
					      (void *)(uintptr_t)password),
			 1);
	fclose(file);
	EVP_PKEY_free(key);
}

TEST_WITH(refuses_other_keys, folder_enter, folder_leave)
{
	make("id");
	write_key(EVP_PKEY_Q_keygen(NULL, NULL, "ED448"), NULL);
	expect_load_error(SL_ERR_FORMAT, "id/key.pem: holds no unencrypted Ed25519 key");
	write_key(EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"), "secret");
	expect_load_error(SL_ERR_FORMAT, "id/key.pem: holds no unencrypted Ed25519 key");
	folder_put("id/key.pem", "");
	expect_load_error(SL_ERR_FORMAT, "id/key.pem: holds no unencrypted Ed25519 key");
}

/* One learner at a time, whatever folders it is given. */
TEST_WITH(held_by_one, folder_enter, folder_leave)
{
	struct sl_identity first, second;
	struct sl_error error = {0};
	make("id");
	assert_int_equal(sl_identity_load("id", &first, NULL), SL_OK);
	assert_int_equal(sl_identity_load("id", &second, NULL), SL_OK);
	assert_int_equal(sl_identity_hold("id", &first, &error), SL_OK);
	assert_int_equal(sl_identity_hold("id", &second, &error), SL_ERR_BUSY);
	assert_string_equal(error.text, "id/key.pem: another starlingd is running as this learner, on "
					"another state folder; end it first");
	sl_identity_close(&second);
	assert_int_equal(sl_identity_load("id", &second, NULL), SL_OK);
	assert_int_equal(sl_identity_hold("id", &second, &error), SL_ERR_BUSY);
	sl_identity_close(&first);
	assert_int_equal(sl_identity_hold("id", &second, &error), SL_OK);
	sl_identity_close(&second);
}

static void load_pinned(const uint8_t *pin, struct sl_identity *id)
{
	struct sl_error error = {0};
	assert_ok(sl_identity_load_pinned("id", pin, id, &error), error);
}

/* While a learner has two keys, the pin tells which one is loaded; afterwards the next one has the place of
 * the first, and the first is gone. */
TEST_WITH(next_key, folder_enter, folder_leave)
{
	static const uint8_t none[SL_HASH_BYTES];
	struct sl_identity first, next, got;
	struct stat st;
	make("id");
	make("id" SL_IDENTITY_NEXT);
	assert_int_equal(sl_identity_load("id", &first, NULL), SL_OK);
	assert_int_equal(sl_identity_load("id" SL_IDENTITY_NEXT, &next, NULL), SL_OK);
	load_pinned(first.pin, &got);
	assert_true(!got.next && memcmp(got.pin, first.pin, SL_HASH_BYTES) == 0);
	sl_identity_close(&got);
	load_pinned(none, &got);
	assert_memory_equal(got.pin, first.pin, SL_HASH_BYTES);
	sl_identity_close(&got);
	load_pinned(next.pin, &got);
	assert_true(got.next && memcmp(got.pin, next.pin, SL_HASH_BYTES) == 0);
	assert_true(sl_identity_has("id", first.pin) && sl_identity_has("id", next.pin));
	assert_false(sl_identity_has("id", none));

	assert_int_equal(sl_identity_hold("id", &got, NULL), SL_OK);
	assert_int_equal(sl_identity_promote("id", NULL), SL_OK);
	assert_int_equal(sl_identity_hold("id", &got, NULL),
			 SL_OK); /* the lock of the key in its new place */
	assert_int_equal(sl_identity_hold("id", &first, NULL), SL_ERR_BUSY);
	sl_identity_close(&got);
	assert_false(sl_identity_has("id", first.pin));
	assert_true(stat("id" SL_IDENTITY_NEXT, &st) != 0 && stat("id.old", &st) != 0);
	load_pinned(next.pin, &got);
	assert_false(got.next);
	sl_identity_close(&got);

	/* the service manager still gives a key of before */
	make("credentials");
	assert_int_equal(setenv("CREDENTIALS_DIRECTORY", "credentials", 1), 0);
	load_pinned(next.pin, &got);
	assert_true(!got.next && memcmp(got.pin, next.pin, SL_HASH_BYTES) == 0);
	sl_identity_close(&got);
	unsetenv("CREDENTIALS_DIRECTORY");

	/* cut short between the two renames */
	assert_int_equal(rename("id", "id" SL_IDENTITY_NEXT), 0);
	assert_true(sl_identity_has("id", next.pin));
	make("id.old");
	assert_int_equal(sl_identity_promote("id", NULL), SL_OK);
	assert_true(sl_identity_has("id", next.pin) && stat("id.old", &st) != 0);
	sl_identity_close(&first);
	sl_identity_close(&next);
}
