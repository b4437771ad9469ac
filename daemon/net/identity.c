#include "daemon/net/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/membership/private_file.h"

#define KEY_FILE "key.pem"
#define CERTIFICATE_FILE "cert.pem"
#define FILE_BYTES_MAX 16384
#define VALID_DAYS (20 * 365 + 5)

static int crypto_failure(struct sl_error *error, const char *what)
{
	char reason[160] = "no reason given";
	unsigned long code = ERR_peek_last_error();
	if (code != 0)
		ERR_error_string_n(code, reason, sizeof reason);
	ERR_clear_error();
	return sl_err_set(error, SL_ERR_CRYPTO, "%s: %s", what, reason);
}

void sl_identity_pin(const uint8_t public_key[static SL_KEY_BYTES], uint8_t pin[static SL_HASH_BYTES])
{
	/* SEQUENCE { SEQUENCE { OID 1.3.101.112 } BIT STRING } of RFC 8410: fixed but for the key itself */
	static const uint8_t head[] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
				       0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
	uint8_t der[sizeof head + SL_KEY_BYTES];
	memcpy(der, head, sizeof head);
	memcpy(der + sizeof head, public_key, SL_KEY_BYTES);
	crypto_hash_sha256(pin, der, sizeof der);
}

static int raw_public(const EVP_PKEY *key, uint8_t public_key[static SL_KEY_BYTES])
{
	size_t n = SL_KEY_BYTES;
	if (key == NULL || EVP_PKEY_get_id(key) != EVP_PKEY_ED25519)
		return SL_ERR_CRYPTO;
	if (EVP_PKEY_get_raw_public_key(key, public_key, &n) != 1 || n != SL_KEY_BYTES)
		return SL_ERR_CRYPTO;
	return SL_OK;
}

int sl_identity_certificate_key(X509 *certificate, uint8_t public_key[static SL_KEY_BYTES])
{
	return raw_public(X509_get0_pubkey(certificate), public_key);
}

/* ---- files ---- */

static int set_serial(X509 *certificate)
{
	uint64_t serial;
	randombytes_buf(&serial, sizeof serial);
	return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1;
}

static int set_subject(X509 *certificate, const char *name)
{
	X509_NAME *subject = X509_get_subject_name(certificate);
	return X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)name, -1, -1,
					  0) == 1 &&
	       X509_set_issuer_name(certificate, subject) == 1;
}

static X509 *self_signed(EVP_PKEY *key, const char *name)
{
	X509 *c = X509_new();
	/* valid from yesterday, because clocks differ, and for 20 years, because trust rests on the pin and
	 * not on the date */
	if (c && X509_set_version(c, X509_VERSION_3) == 1 && set_serial(c) && set_subject(c, name) &&
	    X509_gmtime_adj(X509_getm_notBefore(c), -86400L) &&
	    X509_time_adj_ex(X509_getm_notAfter(c), VALID_DAYS, 0, NULL) && X509_set_pubkey(c, key) == 1 &&
	    X509_sign(c, key, NULL) > 0)
		return c;
	X509_free(c);
	return NULL;
}

static void path_in(char *out, const char *folder, const char *name)
{
	snprintf(out, PATH_MAX, "%s/%s", folder, name);
}

/* Write folder/name completely or not at all, over another file only without RENAME_NOREPLACE in `flags`. */
static int write_file(const char *folder, const char *name, BIO *pem, mode_t mode, unsigned flags,
		      struct sl_error *error)
{
	char path[PATH_MAX], temporary[PATH_MAX], *bytes = NULL;
	long n = BIO_get_mem_data(pem, &bytes);
	path_in(path, folder, name);
	snprintf(temporary, sizeof temporary, "%s/.%s.XXXXXX", folder, name);
	int fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	bool bad = fchmod(fd, mode) != 0 || sl_private_file_put(fd, bytes, (size_t)n) != 0;
	int reason = errno;
	if (close(fd) != 0 && !bad) {
		bad = true;
		reason = errno;
	}
	if (!bad && renameat2(AT_FDCWD, temporary, AT_FDCWD, path, flags) == 0)
		return SL_OK;
	reason = bad ? reason : errno;
	unlink(temporary);
	return sl_err_set(error, reason == EEXIST ? SL_ERR_BUSY : SL_ERR_IO, "%s: %s", path,
			  strerror(reason));
}

static int sync_folder(const char *folder, struct sl_error *error)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int code = SL_OK;
	if (fd < 0 || fsync(fd) != 0)
		code = sl_err_set(error, SL_ERR_IO, "%s: %s", folder, strerror(errno));
	if (fd >= 0)
		close(fd);
	return code;
}

/* Write certificate and key; NULL: it is there, and its certificate is replaced. A key that is left alone
 * gets its certificate later. */
static int write_both(const char *folder, EVP_PKEY *key, X509 *certificate, struct sl_error *error)
{
	BIO *secret = BIO_new(BIO_s_secmem()), *public = BIO_new(BIO_s_mem());
	int code = SL_OK;
	if (!secret || !public || PEM_write_bio_X509(public, certificate) != 1 ||
	    (key && PEM_write_bio_PrivateKey(secret, key, NULL, NULL, 0, NULL, NULL) != 1))
		code = crypto_failure(error, "cannot write the identity");
	if (code == SL_OK && key)
		code = write_file(folder, KEY_FILE, secret, 0600, RENAME_NOREPLACE, error);
	if (code == SL_OK)
		code = write_file(folder, CERTIFICATE_FILE, public, 0644, key ? RENAME_NOREPLACE : 0, error);
	BIO_free(secret);
	BIO_free(public);
	return code == SL_OK ? sync_folder(folder, error) : code;
}

static int refuse_existing(const char *folder, struct sl_error *error)
{
	static const char *const names[] = {KEY_FILE, CERTIFICATE_FILE};
	char path[PATH_MAX];
	struct stat st;
	for (size_t i = 0; i < 2; i++) {
		path_in(path, folder, names[i]);
		if (lstat(path, &st) == 0)
			return sl_err_set(error, SL_ERR_BUSY, "%s: exists; an identity is never overwritten",
					  path);
	}
	return SL_OK;
}

static int make_folder(const char *folder, bool *made, struct sl_error *error)
{
	*made = mkdir(folder, 0700) == 0;
	if (!*made && errno != EEXIST)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", folder, strerror(errno));
	return *made ? SL_OK : refuse_existing(folder, error);
}

/* ---- load ---- */

/* Write the path of file `name` of the identity: among the credentials of the service manager, if it is
 * there, else in `folder`. Return true for a credential. */
static bool find_file(char *out, const char *folder, const char *name)
{
	const char *credentials = getenv("CREDENTIALS_DIRECTORY");
	if (credentials != NULL && strlen(credentials) + 32 <= PATH_MAX) {
		path_in(out, credentials, name);
		if (access(out, F_OK) == 0)
			return true;
	}
	path_in(out, folder, name);
	return false;
}

static int check_mode(int fd, const char *path, struct sl_error *error)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return sl_err_set(error, SL_ERR_FORMAT, "%s: is not a file", path);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return sl_err_set(error, SL_ERR_REFUSED,
				  "%s: mode %04o lets others read the secret key; run chmod 600 on it", path,
				  (unsigned)(st.st_mode & 07777));
	return SL_OK;
}

/* Read a small file into guarded pages, if `secret` after a look at its mode; the caller frees *bytes with
 * sodium_free. */
static int read_file(const char *path, bool secret, char **bytes, int *n, struct sl_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* do not block on a pipe of that name */
	if (fd < 0)
		return sl_err_set(error, errno == ENOENT ? SL_ERR_NOTFOUND : SL_ERR_IO, "%s: %s", path,
				  strerror(errno));
	int code = secret ? check_mode(fd, path, error) : SL_OK;
	*bytes = code == SL_OK ? sodium_malloc(FILE_BYTES_MAX) : NULL;
	ssize_t got = *bytes ? read(fd, *bytes, FILE_BYTES_MAX) : -1;
	if (code == SL_OK && got < 0)
		code = sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	close(fd);
	*n = (int)got;
	return code;
}

/* Refuse an encrypted key: OpenSSL would prompt on the terminal. */
static int no_password(char *buffer, int size, int writing, void *context)
{
	(void)buffer, (void)size, (void)writing, (void)context;
	return -1;
}

/* Load the secret key. `check`: its mode; that of a credential shows the access that the service manager
 * gives. */
static int load_key(const char *path, bool check, struct sl_identity *identity, struct sl_error *error)
{
	char *bytes = NULL;
	int n = 0;
	int code = read_file(path, check, &bytes, &n, error);
	BIO *pem = code == SL_OK ? BIO_new_mem_buf(bytes, n) : NULL;
	if (pem)
		identity->key = PEM_read_bio_PrivateKey(pem, NULL, no_password, NULL);
	BIO_free(pem);
	sodium_free(bytes);
	if (code == SL_OK && raw_public(identity->key, identity->public_key) != SL_OK)
		code = sl_err_set(error, SL_ERR_FORMAT, "%s: holds no unencrypted Ed25519 key", path);
	ERR_clear_error();
	return code;
}

static int load_certificate(const char *path, struct sl_identity *identity, struct sl_error *error)
{
	char *bytes = NULL;
	uint8_t key[SL_KEY_BYTES];
	int n = 0;
	int code = read_file(path, false, &bytes, &n, error);
	BIO *pem = code == SL_OK ? BIO_new_mem_buf(bytes, n) : NULL;
	if (pem)
		identity->certificate = PEM_read_bio_X509(pem, NULL, no_password, NULL);
	BIO_free(pem);
	sodium_free(bytes);
	if (code == SL_ERR_NOTFOUND || (code == SL_OK && identity->certificate == NULL))
		code = sl_err_set(error, SL_ERR_INVALID, "%s: %s", path,
				  code == SL_OK ? "holds no certificate" : strerror(ENOENT));
	else if (code == SL_OK && (sl_identity_certificate_key(identity->certificate, key) != SL_OK ||
				   sodium_memcmp(key, identity->public_key, sizeof key) != 0))
		code = sl_err_set(error, SL_ERR_CRYPTO,
				  "%s: belongs to another key than " KEY_FILE "; move it elsewhere, then "
				  "'starling keygen --dir' makes one for that key",
				  path);
	ERR_clear_error();
	return code;
}

/* Copy the secret key for libsodium, which signs the flooded records. */
static int derive_sign_key(struct sl_identity *identity, struct sl_error *error)
{
	uint8_t public_key[SL_KEY_BYTES];
	size_t n = crypto_sign_SEEDBYTES;
	uint8_t *seed = sodium_malloc(n);
	identity->sign_key = sodium_malloc(crypto_sign_SECRETKEYBYTES);
	int code = SL_OK;
	if (seed == NULL || identity->sign_key == NULL)
		code = sl_err_set(error, SL_ERR_NOMEM, "no guarded memory for the secret key: %s",
				  strerror(errno));
	else if (EVP_PKEY_get_raw_private_key(identity->key, seed, &n) != 1 || n != crypto_sign_SEEDBYTES)
		code = crypto_failure(error, "cannot read the secret key");
	else
		crypto_sign_seed_keypair(public_key, identity->sign_key, seed);
	if (code == SL_OK && sodium_memcmp(public_key, identity->public_key, sizeof public_key) != 0)
		code = sl_err_set(error, SL_ERR_CRYPTO, "%s: its two halves do not belong together",
				  KEY_FILE);
	if (code == SL_OK)
		sodium_mprotect_readonly(identity->sign_key);
	sodium_free(seed);
	return code;
}

static int load(const char *folder, bool credentials, struct sl_identity *identity, struct sl_error *error)
{
	char path[PATH_MAX];
	*identity = (struct sl_identity){0};
	if (strlen(folder) + 32 > sizeof path)
		return sl_err_set(error, SL_ERR_RANGE, "%.64s...: the path is too long", folder);
	if (sodium_init() < 0)
		return sl_err_set(error, SL_ERR_CRYPTO, "libsodium does not start");
	bool guarded = credentials && find_file(path, folder, KEY_FILE);
	if (!guarded)
		path_in(path, folder, KEY_FILE);
	int code = load_key(path, !guarded, identity, error);
	if (!credentials || !find_file(path, folder, CERTIFICATE_FILE))
		path_in(path, folder, CERTIFICATE_FILE);
	if (code == SL_OK)
		code = load_certificate(path, identity, error);
	if (code == SL_OK)
		code = derive_sign_key(identity, error);
	if (code == SL_OK && (!set_serial(identity->certificate) ||
			      X509_sign(identity->certificate, identity->key, NULL) <= 0))
		code = crypto_failure(error, "cannot sign the certificate");
	if (code != SL_OK)
		sl_identity_close(identity);
	else
		sl_identity_pin(identity->public_key, identity->pin);
	return code;
}

int sl_identity_load(const char *folder, struct sl_identity *identity, struct sl_error *error)
{
	return load(folder, true, identity, error);
}

/* ---- create ---- */

/* Give the key of an identity whose certificate is lost or damaged; NULL: there is no such one. The error is
 * that of another certificate, which stays. */
static int left_key(const char *folder, EVP_PKEY **key, struct sl_error *error)
{
	char path[PATH_MAX];
	struct sl_identity identity = {0};
	path_in(path, folder, KEY_FILE);
	bool has_key = load_key(path, true, &identity, NULL) == SL_OK;
	path_in(path, folder, CERTIFICATE_FILE);
	int code = has_key ? load_certificate(path, &identity, error) : SL_OK;
	if (code == SL_ERR_INVALID) {
		*key = identity.key;
		identity.key = NULL;
	}
	sl_identity_close(&identity);
	return code == SL_ERR_INVALID ? SL_OK : code;
}

int sl_identity_create(const char *folder, const char *name, struct sl_error *error)
{
	bool made = false;
	EVP_PKEY *left = NULL;
	if (sodium_init() < 0)
		return sl_err_set(error, SL_ERR_CRYPTO, "libsodium does not start");
	if (strlen(folder) + 32 > PATH_MAX)
		return sl_err_set(error, SL_ERR_RANGE, "%.64s...: the path is too long", folder);
	int code = left_key(folder, &left, error);
	if (code == SL_OK && left == NULL)
		code = make_folder(folder, &made, error);
	if (code != SL_OK)
		return code;
	ERR_clear_error();
	EVP_PKEY *key = left != NULL ? left : EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	X509 *certificate = key ? self_signed(key, name) : NULL;
	if (certificate == NULL)
		code = crypto_failure(error, "cannot make an identity");
	else
		code = write_both(folder, left == NULL ? key : NULL, certificate, error);
	X509_free(certificate);
	EVP_PKEY_free(key);
	if (code != SL_OK && made)
		rmdir(folder);
	return code;
}

/* ---- the next key ---- */

static int next_folder(const char *folder, const char *suffix, char path[static PATH_MAX],
		       struct sl_error *error)
{
	int n = snprintf(path, PATH_MAX, "%s%s", folder, suffix);
	return n > 0 && n + 32 < PATH_MAX
		       ? SL_OK
		       : sl_err_set(error, SL_ERR_RANGE, "%.64s...: the path is too long", folder);
}

static bool is_of(const struct sl_identity *identity, const uint8_t pin[static SL_HASH_BYTES])
{
	return identity->key != NULL && memcmp(identity->pin, pin, SL_HASH_BYTES) == 0;
}

/* Replace `identity` by that of `folder` alone, if it has the key. */
static bool take_instead(const char *folder, const uint8_t pin[static SL_HASH_BYTES],
			 struct sl_identity *identity)
{
	struct sl_identity other;
	bool found = load(folder, false, &other, NULL) == SL_OK && is_of(&other, pin);
	sl_identity_close(found ? identity : &other);
	if (found)
		*identity = other;
	return found;
}

int sl_identity_load_pinned(const char *folder, const uint8_t pin[static SL_HASH_BYTES],
			    struct sl_identity *identity, struct sl_error *error)
{
	char path[PATH_MAX];
	int rc = sl_identity_load(folder, identity, error);
	if (is_of(identity, pin) || next_folder(folder, SL_IDENTITY_NEXT, path, error) != SL_OK)
		return rc;
	if (take_instead(path, pin, identity)) {
		identity->next = true;
		return SL_OK;
	}
	return take_instead(folder, pin, identity) ? SL_OK : rc; /* a credential of before the last renewal */
}

bool sl_identity_has(const char *folder, const uint8_t pin[static SL_HASH_BYTES])
{
	struct sl_identity identity;
	bool has = sl_identity_load_pinned(folder, pin, &identity, NULL) == SL_OK && is_of(&identity, pin);
	sl_identity_close(&identity);
	return has;
}

/* Remove the files of a folder that has an identity, and the folder if nothing else is in it. */
static void remove_identity(const char *folder)
{
	static const char *const names[] = {KEY_FILE, CERTIFICATE_FILE, "member.yaml"};
	char path[PATH_MAX + 16];
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
}

int sl_identity_promote(const char *folder, struct sl_error *error)
{
	char next[PATH_MAX], old[PATH_MAX];
	int rc = next_folder(folder, SL_IDENTITY_NEXT, next, error);
	if (rc == SL_OK)
		rc = next_folder(folder, ".old", old, error);
	if (rc != SL_OK)
		return rc;
	remove_identity(old); /* of a promotion that was cut short */
	if (access(next, F_OK) == 0 && rename(folder, old) != 0 && errno != ENOENT)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", old, strerror(errno));
	if (rename(next, folder) != 0)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", folder, strerror(errno));
	remove_identity(old);
	return SL_OK;
}

/* On a file system without locks, the lock of the state folder must do. */
int sl_identity_hold(const char *folder, struct sl_identity *identity, struct sl_error *error)
{
	char path[PATH_MAX];
	find_file(path, folder, KEY_FILE);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		if (identity->held)
			close(identity->lock);
		identity->held = true;
		identity->lock = fd;
		return SL_OK;
	}
	int why = errno;
	close(fd);
	if (why != EWOULDBLOCK)
		return SL_OK;
	return sl_err_set(
		error, SL_ERR_BUSY,
		"%s: another starlingd is running as this learner, on another state folder; end it first",
		path);
}

void sl_identity_close(struct sl_identity *identity)
{
	if (identity->held)
		close(identity->lock);
	sodium_free(identity->sign_key); /* wipes */
	EVP_PKEY_free(identity->key);
	X509_free(identity->certificate);
	*identity = (struct sl_identity){0};
}
