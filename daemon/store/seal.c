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

int sl_seal_erase(struct sl_seal *seal, struct sl_error *error)
{
	if (!seal->known)
		return SL_OK;
	sodium_memzero(seal->key, sizeof seal->key);
	seal->known = false;
	return write_key(seal, error);
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
