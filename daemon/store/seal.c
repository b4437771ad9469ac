#include "daemon/store/seal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/model/disk_error.h"

#define KEY_FILE "attempt.key"

static int fail(const struct sl_seal *seal, struct sl_error *error)
{
	return sl_disk_error(error, seal->path, errno);
}

int sl_seal_open(struct sl_seal *seal, const char *folder, struct sl_error *error)
{
	sl_folder_path(folder, KEY_FILE, seal->path);
	sl_folder_path(folder, SL_STATE_FILE, seal->states);
	seal->fd = open(seal->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	ssize_t size = seal->fd < 0 ? -1 : pread(seal->fd, seal->key, sizeof seal->key, 0);
	if (size < 0)
		return fail(seal, error);
	seal->known = size == sizeof seal->key && !sodium_is_zero(seal->key, sizeof seal->key);
	return SL_OK;
}

void sl_seal_close(struct sl_seal *seal)
{
	sodium_memzero(seal->key, sizeof seal->key);
	seal->known = false;
	if (seal->fd >= 0)
		close(seal->fd);
	seal->fd = -1;
}

static int write_key(const struct sl_seal *seal, struct sl_error *error)
{
	ssize_t size = pwrite(seal->fd, seal->key, sizeof seal->key, 0);
	if (size >= 0 && size < (ssize_t)sizeof seal->key)
		errno = ENOSPC;
	return size == sizeof seal->key ? SL_OK : fail(seal, error);
}

int sl_seal_take(struct sl_seal *seal, const uint8_t *key, struct sl_error *error)
{
	if (key != NULL)
		memcpy(seal->key, key, sizeof seal->key);
	else
		crypto_secretbox_keygen(seal->key);
	seal->known = true;
	return write_key(seal, error);
}

/* Overwrite the key at the front of a file, if there is one. */
static int overwrite(const char *path, int flags, struct sl_error *error)
{
	static const uint8_t zeros[SL_SEAL_KEY_BYTES];
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | flags);
	if (fd < 0 && errno == ENOENT)
		return SL_OK;
	ssize_t size = fd < 0 ? -1 : pwrite(fd, zeros, sizeof zeros, 0);
	int rc = size == sizeof zeros ? SL_OK : sl_disk_error(error, path, size < 0 ? errno : ENOSPC);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Erase the key in memory and in both files; `flags` of open(2). */
static int erase(struct sl_seal *seal, int flags, struct sl_error *error)
{
	sodium_memzero(seal->key, sizeof seal->key);
	seal->known = false;
	int rc = overwrite(seal->path, flags, error);
	return rc == SL_OK ? overwrite(seal->states, flags, error) : rc;
}

int sl_seal_erase(struct sl_seal *seal, struct sl_error *error)
{
	return erase(seal, 0, error);
}

int sl_seal_discard(struct sl_seal *seal, struct sl_error *error)
{
	/* O_DSYNC synchronises what is written here, and not the deposits of the state file. */
	int rc = erase(seal, O_DSYNC, error);
	if (rc == SL_OK && unlink(seal->states) < 0 && errno != ENOENT)
		rc = sl_disk_error(error, seal->states, errno);
	return rc;
}

void sl_seal_shut(const struct sl_seal *seal, const uint8_t *text, size_t size, uint8_t *sealed)
{
	assert(seal->known);
	randombytes_buf(sealed, crypto_secretbox_NONCEBYTES);
	crypto_secretbox_easy(sealed + crypto_secretbox_NONCEBYTES, text, size, sealed, seal->key);
}

bool sl_seal_break(const uint8_t key[static SL_SEAL_KEY_BYTES], const uint8_t *sealed, size_t size,
		   uint8_t *text)
{
	return size >= SL_SEAL_BYTES &&
	       crypto_secretbox_open_easy(text, sealed + crypto_secretbox_NONCEBYTES,
					  size - crypto_secretbox_NONCEBYTES, sealed, key) == 0;
}
