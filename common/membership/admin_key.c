#include "common/membership/admin_key.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/config/roster.h"

#define PREFIX "ed25519:"
#define LINE_BYTES (sizeof PREFIX - 1 + 2 * crypto_sign_SEEDBYTES + 1) /* with the newline */
#define PATH_BYTES 1200

static void path_of(const char *folder, char path[static PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/" SL_ADMIN_KEY_FILE, folder);
}

static int write_line(const char *path, const char *line, struct sl_error *error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return sl_err_set(error, errno == EEXIST ? SL_ERR_BUSY : SL_ERR_IO, "%s: %s", path,
				  strerror(errno));
	bool failed = write(fd, line, LINE_BYTES) != (ssize_t)LINE_BYTES || fsync(fd) != 0;
	int why = errno;
	failed |= close(fd) != 0;
	if (!failed)
		return SL_OK;
	unlink(path);
	return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(why));
}

int sl_admin_key_create(const char *folder, uint8_t public_key[static SL_KEY_BYTES], struct sl_error *error)
{
	char path[PATH_BYTES], line[LINE_BYTES + 1];
	uint8_t seed[crypto_sign_SEEDBYTES], key[SL_SECRET_KEY_BYTES];
	randombytes_buf(seed, sizeof seed);
	crypto_sign_seed_keypair(public_key, key, seed);
	memcpy(line, PREFIX, sizeof PREFIX - 1);
	sodium_bin2hex(line + sizeof PREFIX - 1, 2 * sizeof seed + 1, seed, sizeof seed);
	memcpy(line + LINE_BYTES - 1, "\n", 2);
	path_of(folder, path);
	int rc = write_line(path, line, error);
	sodium_memzero(seed, sizeof seed);
	sodium_memzero(key, sizeof key);
	sodium_memzero(line, sizeof line);
	return rc;
}

/* Read the line of the file `fd`, with a check of its mode. */
static int read_line(int fd, const char *path, char line[static LINE_BYTES + 1], struct sl_error *error)
{
	struct stat status;
	if (fstat(fd, &status) != 0)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	if ((status.st_mode & 077) != 0)
		return sl_err_set(error, SL_ERR_REFUSED,
				  "%s: others can read this secret key; run chmod 600 on it", path);
	ssize_t got = read(fd, line, LINE_BYTES + 1);
	if (got != (ssize_t)LINE_BYTES || strncmp(line, PREFIX, sizeof PREFIX - 1) != 0)
		return sl_err_set(error, SL_ERR_FORMAT, "%s: not the key of an admin", path);
	return SL_OK;
}

uint8_t *sl_admin_key_load(const char *folder, struct sl_error *error)
{
	char path[PATH_BYTES], line[LINE_BYTES + 1] = {0};
	uint8_t seed[crypto_sign_SEEDBYTES], public_key[SL_KEY_BYTES];
	path_of(folder, path);
	if (sodium_init() < 0) {
		sl_err_set(error, SL_ERR_CRYPTO, "libsodium does not start");
		return NULL;
	}
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		sl_err_set(error, errno == ENOENT ? SL_ERR_NOTFOUND : SL_ERR_IO, "%s: %s", path,
			   strerror(errno));
		return NULL;
	}
	int rc = read_line(fd, path, line, error);
	close(fd);
	line[LINE_BYTES - 1] = '\0';
	if (rc == SL_OK && !sl_roster_digits(line + sizeof PREFIX - 1, seed, sizeof seed))
		rc = sl_err_set(error, SL_ERR_FORMAT, "%s: not the key of an admin", path);
	uint8_t *key = rc == SL_OK ? sodium_malloc(SL_SECRET_KEY_BYTES) : NULL;
	if (rc == SL_OK && key == NULL)
		sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	if (key != NULL)
		crypto_sign_seed_keypair(public_key, key, seed);
	sodium_memzero(seed, sizeof seed);
	sodium_memzero(line, sizeof line);
	return key;
}

void sl_admin_key_close(uint8_t *key)
{
	sodium_free(key);
}

/* ---- the public key as text ---- */

void sl_admin_key_text(const uint8_t admin[static SL_KEY_BYTES], char text[static SL_ADMIN_TEXT_BYTES])
{
	memcpy(text, SL_ADMIN_PREFIX, sizeof SL_ADMIN_PREFIX);
	sodium_bin2hex(text + sizeof SL_ADMIN_PREFIX - 1, 2 * SL_KEY_BYTES + 1, admin, SL_KEY_BYTES);
}

/* The text is not repeated in the error: it might be a secret key. */
int sl_admin_key_parse(const char *text, uint8_t admin[static SL_KEY_BYTES], struct sl_error *error)
{
	size_t prefix = sizeof SL_ADMIN_PREFIX - 1;
	if (strncmp(text, SL_ADMIN_PREFIX, prefix) == 0 &&
	    sl_roster_digits(text + prefix, admin, SL_KEY_BYTES))
		return SL_OK;
	return sl_err_set(error, SL_ERR_INVALID,
			  "not the public key of an admin, " SL_ADMIN_PREFIX
			  " and 64 digits; 'starling group admins --key' prints it on the admin's machine");
}
