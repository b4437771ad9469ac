#include "daemon/store/state_file.h"

#include <dirent.h>
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
#include "common/model/disk_error.h"
#include "common/model/safetensors.h"
#include "common/config/settings.h"

static void name_of(sl_round t, sl_attempt a, char name[static SL_FILE_NAME_BYTES])
{
	snprintf(name, SL_FILE_NAME_BYTES, "attempt-%06" PRIu32 "-%06" PRIu32 ".states", t, a);
}

/* Parse the name of a state file. */
static bool name_parse(const char *name, sl_round *t, sl_attempt *a)
{
	char again[SL_FILE_NAME_BYTES];
	if (sscanf(name, "attempt-%7" SCNu32 "-%8" SCNu32, t, a) != 2)
		return false;
	name_of(*t, *a, again);
	return strcmp(name, again) == 0;
}

static int fail(const struct sl_state_file *state_file, const char *folder, int why, struct sl_error *error)
{
	char name[SL_FILE_NAME_BYTES], path[SL_PATH_BYTES + SL_FILE_NAME_BYTES];
	name_of(state_file->t, state_file->a, name);
	snprintf(path, sizeof path, "%s/%s", folder, name);
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
	return fail(state_file, folder, why, error);
}

static size_t bytes_of(const struct sl_state_file *state_file)
{
	return state_file->slots * state_file->slot_bytes;
}

/* Return 0, or -1 with errno. */
static int open_file(struct sl_state_file *state_file, const char *folder)
{
	char name[SL_FILE_NAME_BYTES];
	struct stat status;
	name_of(state_file->t, state_file->a, name);
	state_file->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (state_file->folder < 0)
		return -1;
	state_file->fd = openat(state_file->folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (state_file->fd < 0 || fstat(state_file->fd, &status) < 0)
		return -1;
	bool as_left = status.st_size == (off_t)bytes_of(state_file);
	return as_left || (ftruncate(state_file->fd, 0) == 0 &&
			   ftruncate(state_file->fd, (off_t)bytes_of(state_file)) == 0)
		       ? 0
		       : -1;
}

static int map_file(struct sl_state_file *state_file)
{
	void *base = mmap(NULL, bytes_of(state_file), PROT_READ | PROT_WRITE, MAP_SHARED, state_file->fd, 0);
	if (base == MAP_FAILED)
		return -1;
	state_file->base = base;
	madvise(base, bytes_of(state_file),
		MADV_RANDOM); /* the neighbouring slots are holes: no read-ahead */
	return 0;
}

int sl_state_file_open(struct sl_state_file *state_file, const char *folder, sl_round t, sl_attempt a,
		       uint32_t slots, size_t slot_bytes, struct sl_error *error)
{
	*state_file = (struct sl_state_file){
		.t = t, .a = a, .slots = slots, .slot_bytes = slot_bytes, .folder = -1, .fd = -1};
	state_file->reserved = calloc(sl_bit_words(slots), sizeof *state_file->reserved);
	int rc = SL_OK;
	if (state_file->reserved == NULL)
		rc = sl_err_set(error, SL_ERR_NOMEM, "out of memory for the deposits of %" PRIu32 " learners",
				slots);
	else if (open_file(state_file, folder) < 0 || map_file(state_file) < 0)
		rc = fail(state_file, folder, errno, error);
	if (rc != SL_OK)
		sl_state_file_close(state_file);
	return rc;
}

int sl_state_file_reuse(struct sl_state_file *state_file, sl_round t, sl_attempt a, struct sl_error *error)
{
	char from[SL_FILE_NAME_BYTES], to[SL_FILE_NAME_BYTES];
	name_of(state_file->t, state_file->a, from);
	name_of(t, a, to);
	if (renameat(state_file->folder, from, state_file->folder, to) < 0)
		return fail_open(state_file, errno, error);
	state_file->t = t;
	state_file->a = a;
	return SL_OK;
}

void sl_state_file_close(struct sl_state_file *state_file)
{
	if (state_file->t == 0)
		return;
	if (state_file->base != NULL)
		munmap(state_file->base, bytes_of(state_file));
	if (state_file->fd >= 0)
		close(state_file->fd);
	if (state_file->folder >= 0)
		close(state_file->folder);
	free(state_file->reserved);
	*state_file = (struct sl_state_file){0};
}

void sl_state_file_remove(struct sl_state_file *state_file)
{
	char name[SL_FILE_NAME_BYTES];
	if (state_file->t == 0)
		return;
	name_of(state_file->t, state_file->a, name);
	unlinkat(state_file->folder, name, 0);
	sl_state_file_close(state_file);
}

int sl_state_file_reserve(struct sl_state_file *state_file, uint32_t slot, struct sl_error *error)
{
	int why;
	if (sl_bit(state_file->reserved, slot))
		return SL_OK;
	do
		why = posix_fallocate(state_file->fd, (off_t)(slot * state_file->slot_bytes),
				      (off_t)state_file->slot_bytes);
	while (why == EINTR);
	if (why != 0)
		return fail_open(state_file, why, error);
	sl_bit_set(state_file->reserved, slot);
	return SL_OK;
}

int sl_state_file_sync(struct sl_state_file *state_file, uint32_t slot, struct sl_error *error)
{
	/* msync synchronises this part of the file and its metadata; the other slots may stay dirty. */
	if (msync(state_file->base + slot * state_file->slot_bytes, state_file->slot_bytes, MS_SYNC) < 0 ||
	    fsync(state_file->folder) < 0)
		return fail_open(state_file, errno, error);
	return SL_OK;
}

void sl_state_file_sweep(const char *folder, bool (*keep)(const void *context, sl_round t, sl_attempt a),
			 const void *context)
{
	DIR *entries = opendir(folder);
	const struct dirent *entry;
	sl_round t;
	sl_attempt a;
	while (entries != NULL && (entry = readdir(entries)) != NULL)
		if (name_parse(entry->d_name, &t, &a) && !keep(context, t, a))
			unlinkat(dirfd(entries), entry->d_name, 0);
	if (entries != NULL)
		closedir(entries);
}
