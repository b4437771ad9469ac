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
	snprintf(name, SL_FILE_NAME_BYTES, "attempt-%06" PRIu32 "-%06" PRIu32 ".spool", t, a);
}

/* Exactly as we name it. */
static bool name_parse(const char *name, sl_round *t, sl_attempt *a)
{
	char again[SL_FILE_NAME_BYTES];
	if (sscanf(name, "attempt-%7" SCNu32 "-%8" SCNu32, t, a) != 2)
		return false;
	name_of(*t, *a, again);
	return strcmp(name, again) == 0;
}

static int fail(const struct sl_spool_file *spool, const char *folder, int why, struct sl_error *error)
{
	char name[SL_FILE_NAME_BYTES], path[SL_PATH_BYTES + SL_FILE_NAME_BYTES];
	name_of(spool->t, spool->a, name);
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return sl_disk_fail(error, path, why);
}

/* The same where the folder's path is not at hand. */
static int fail_open(const struct sl_spool_file *spool, int why, struct sl_error *error)
{
	char link[32], folder[SL_PATH_BYTES] = "?";
	snprintf(link, sizeof link, "/proc/self/fd/%d", spool->folder);
	ssize_t size = readlink(link, folder, sizeof folder - 1);
	if (size > 0)
		folder[size] = '\0';
	return fail(spool, folder, why, error);
}

static size_t bytes_of(const struct sl_spool_file *spool)
{
	return spool->slots * spool->slot_bytes;
}

/* 0, or -1 with errno. */
static int open_file(struct sl_spool_file *spool, const char *folder)
{
	char name[SL_FILE_NAME_BYTES];
	struct stat status;
	name_of(spool->t, spool->a, name);
	spool->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (spool->folder < 0)
		return -1;
	spool->fd = openat(spool->folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (spool->fd < 0 || fstat(spool->fd, &status) < 0)
		return -1;
	bool as_left = status.st_size == (off_t)bytes_of(spool);
	return as_left || (ftruncate(spool->fd, 0) == 0 && ftruncate(spool->fd, (off_t)bytes_of(spool)) == 0) ? 0 : -1;
}

static int map_file(struct sl_spool_file *spool)
{
	void *base = mmap(NULL, bytes_of(spool), PROT_READ | PROT_WRITE, MAP_SHARED, spool->fd, 0);
	if (base == MAP_FAILED)
		return -1;
	spool->base = base;
	madvise(base, bytes_of(spool), MADV_RANDOM); /* the slots around one are holes, and reading them ahead is for nothing */
	return 0;
}

int sl_spool_open(struct sl_spool_file *spool, const char *folder, sl_round t, sl_attempt a, uint32_t slots,
		  size_t slot_bytes, struct sl_error *error)
{
	*spool = (struct sl_spool_file){
		.t = t, .a = a, .slots = slots, .slot_bytes = slot_bytes, .folder = -1, .fd = -1};
	spool->reserved = calloc(sl_bits_words(slots), sizeof *spool->reserved);
	int rc = SL_OK;
	if (spool->reserved == NULL)
		rc = sl_fail(error, SL_ERR_NOMEM, "out of memory for the masked states of %" PRIu32 " learners", slots);
	else if (open_file(spool, folder) < 0 || map_file(spool) < 0)
		rc = fail(spool, folder, errno, error);
	if (rc != SL_OK)
		sl_spool_close(spool);
	return rc;
}

int sl_spool_reuse(struct sl_spool_file *spool, sl_round t, sl_attempt a, struct sl_error *error)
{
	char from[SL_FILE_NAME_BYTES], to[SL_FILE_NAME_BYTES];
	name_of(spool->t, spool->a, from);
	name_of(t, a, to);
	if (renameat(spool->folder, from, spool->folder, to) < 0)
		return fail_open(spool, errno, error);
	spool->t = t;
	spool->a = a;
	for (uint32_t i = 0; i < spool->slots; i++)
		if (sl_bit(spool->reserved, i)) /* another one is a hole */
			memset(spool->base + i * spool->slot_bytes, 0, SL_NONCE_BYTES);
	return SL_OK;
}

void sl_spool_close(struct sl_spool_file *spool)
{
	if (spool->t == 0)
		return;
	if (spool->base != NULL)
		munmap(spool->base, bytes_of(spool));
	if (spool->fd >= 0)
		close(spool->fd);
	if (spool->folder >= 0)
		close(spool->folder);
	free(spool->reserved);
	*spool = (struct sl_spool_file){0};
}

void sl_spool_remove(struct sl_spool_file *spool)
{
	char name[SL_FILE_NAME_BYTES];
	if (spool->t == 0)
		return;
	name_of(spool->t, spool->a, name);
	unlinkat(spool->folder, name, 0);
	sl_spool_close(spool);
}

int sl_spool_reserve(struct sl_spool_file *spool, uint32_t slot, struct sl_error *error)
{
	int why;
	if (sl_bit(spool->reserved, slot))
		return SL_OK;
	do
		why = posix_fallocate(spool->fd, (off_t)(slot * spool->slot_bytes), (off_t)spool->slot_bytes);
	while (why == EINTR);
	if (why != 0)
		return fail_open(spool, why, error);
	sl_bit_set(spool->reserved, slot);
	return SL_OK;
}

int sl_spool_sync(struct sl_spool_file *spool, uint32_t slot, struct sl_error *error)
{
	/* msync is an fsync of that part of the file, with what it takes to read it back; the other slots may be dirty. */
	if (msync(spool->base + slot * spool->slot_bytes, spool->slot_bytes, MS_SYNC) < 0 || fsync(spool->folder) < 0)
		return fail_open(spool, errno, error);
	return SL_OK;
}

void sl_spool_sweep(const char *folder, bool (*keep)(const void *context, sl_round t, sl_attempt a), const void *context)
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
