#include "daemon/store/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "common/config/settings.h"
#include "common/model/disk_error.h"
#include "common/model/safetensors.h"

static int fail(const char *folder, int why, struct sl_error *error)
{
	char path[SL_PATH_BYTES + SL_FILE_NAME_BYTES];
	snprintf(path, sizeof path, "%s/" SL_STATE_FILE, folder);
	return sl_disk_error(error, path, why);
}

/* The same for an open folder. */
static int fail_open(const struct sl_state_file *state_file, int why, struct sl_error *error)
{
	char link[32], folder[SL_PATH_BYTES] = "?";
	snprintf(link, sizeof link, "/proc/self/fd/%d", state_file->folder);
	ssize_t size = readlink(link, folder, sizeof folder - 1);
	if (size > 0)
		folder[size] = '\0';
	return fail(folder, why, error);
}

static size_t bytes_of(const struct sl_state_file *state_file)
{
	return SL_STATE_FILE_KEY_ROOM + state_file->slots * state_file->slot_bytes;
}

/* Return 0, or -1 with errno. */
static int open_file(struct sl_state_file *state_file, const char *folder)
{
	struct stat status;
	state_file->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (state_file->folder < 0)
		return -1;
	state_file->fd =
		openat(state_file->folder, SL_STATE_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (state_file->fd < 0 || fstat(state_file->fd, &status) < 0)
		return -1;
	bool as_left = status.st_size == (off_t)bytes_of(state_file);
	return as_left || (ftruncate(state_file->fd, SL_STATE_FILE_KEY_ROOM) == 0 &&
			   ftruncate(state_file->fd, (off_t)bytes_of(state_file)) == 0)
		       ? 0
		       : -1;
}

static int map_file(struct sl_state_file *state_file)
{
	void *base = mmap(NULL, bytes_of(state_file), PROT_READ | PROT_WRITE, MAP_SHARED, state_file->fd, 0);
	if (base == MAP_FAILED)
		return -1;
	state_file->map = base;
	state_file->base = state_file->map + SL_STATE_FILE_KEY_ROOM;
	madvise(base, bytes_of(state_file),
		MADV_RANDOM); /* the neighbouring slots are holes: no read-ahead */
	return 0;
}

int sl_state_file_open(struct sl_state_file *state_file, const char *folder, uint32_t slots,
		       size_t slot_bytes, struct sl_error *error)
{
	*state_file =
		(struct sl_state_file){.slots = slots, .slot_bytes = slot_bytes, .folder = -1, .fd = -1};
	state_file->reserved = calloc(sl_bit_words(slots), sizeof *state_file->reserved);
	int rc = SL_OK;
	if (state_file->reserved == NULL)
		rc = sl_err_set(error, SL_ERR_NOMEM, "out of memory for the deposits of %" PRIu32 " learners",
				slots);
	else if (open_file(state_file, folder) < 0 || map_file(state_file) < 0)
		rc = fail(folder, errno, error);
	if (rc != SL_OK)
		sl_state_file_close(state_file);
	return rc;
}

void sl_state_file_close(struct sl_state_file *state_file)
{
	if (state_file->slots == 0)
		return;
	if (state_file->map != NULL)
		munmap(state_file->map, bytes_of(state_file));
	if (state_file->fd >= 0)
		close(state_file->fd);
	if (state_file->folder >= 0)
		close(state_file->folder);
	free(state_file->reserved);
	*state_file = (struct sl_state_file){0};
}

int sl_state_file_reserve(struct sl_state_file *state_file, uint32_t slot, struct sl_error *error)
{
	int why;
	size_t room = slot == 0 ? SL_STATE_FILE_KEY_ROOM : 0;
	size_t from = SL_STATE_FILE_KEY_ROOM + slot * state_file->slot_bytes - room;
	if (sl_bit(state_file->reserved, slot))
		return SL_OK;
	do
		why = posix_fallocate(state_file->fd, (off_t)from, (off_t)(room + state_file->slot_bytes));
	while (why == EINTR);
	if (why != 0)
		return fail_open(state_file, why, error);
	sl_bit_set(state_file->reserved, slot);
	return SL_OK;
}

const uint8_t *sl_state_file_key(const struct sl_state_file *state_file)
{
	return state_file->map;
}

void sl_state_file_put_key(struct sl_state_file *state_file, const uint8_t key[static SL_SEAL_KEY_BYTES])
{
	memcpy(state_file->map, key, SL_SEAL_KEY_BYTES);
}

void sl_state_file_write_out(const struct sl_state_file *state_file, size_t from, size_t to)
{
	(void)sync_file_range(state_file->fd, (off_t)(SL_STATE_FILE_KEY_ROOM + from), (off_t)(to - from),
			      SYNC_FILE_RANGE_WRITE);
}

int sl_state_file_sync(struct sl_state_file *state_file, struct sl_error *error)
{
	/* msync synchronises this part of the file and its metadata; the other slots may stay dirty. */
	if (msync(state_file->map, SL_STATE_FILE_KEY_ROOM + state_file->slot_bytes, MS_SYNC) < 0 ||
	    (!state_file->named && fsync(state_file->folder) < 0))
		return fail_open(state_file, errno, error);
	state_file->named = true;
	return SL_OK;
}
