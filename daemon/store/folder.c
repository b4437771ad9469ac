/* The folder of a store: its lock, the count of starts kept before there was a store, and durable renames. */
#include "daemon/store/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/model/disk_error.h"

#define COUNT_FILE "incarnation"
#define MOVED "in " SL_STORE_FILE "\n" /* not a number: a program that expects a count refuses it */

void sl_store_path(const struct sl_store *store, const char *name, char path[static SL_STORE_PATH_BYTES])
{
	snprintf(path, SL_STORE_PATH_BYTES, "%s/%s", store->folder, name);
}

int sl_store_fail_file(struct sl_store *store, const char *path)
{
	return sl_disk_error(&store->error, path, errno);
}

static int sync_path(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		return -1;
	int rc = fsync(fd), why = errno;
	close(fd);
	errno = why;
	return rc;
}

/* ---- the lock ---- */

/* Write the process id into the lock file, for error messages; it may fail. */
static void sign_lock(int fd)
{
	if (ftruncate(fd, 0) == 0)
		dprintf(fd, "%ld\n", (long)getpid());
}

static int fail_held(struct sl_store *store, const char *path, int fd)
{
	char text[32] = "";
	ssize_t size = pread(fd, text, sizeof text - 1, 0);
	long pid = size > 0 ? strtol(text, NULL, 10) : 0;
	char which[48] = "";
	if (pid > 0)
		snprintf(which, sizeof which, ", as process %ld", pid);
	return sl_err_set(&store->error, SL_ERR_BUSY,
			  "%s: another starlingd is running on this state folder%s; end it first", path,
			  which);
}

/* Make the folder and its entry durable. */
static int make_folder(const struct sl_store *store)
{
	char parent[SL_STORE_PATH_BYTES];
	sl_store_path(store, "..", parent);
	if (mkdir(store->folder, 0700) < 0)
		return errno == EEXIST ? 0 : -1;
	return sync_path(parent, O_RDONLY | O_DIRECTORY);
}

int sl_store_lock(struct sl_store *store)
{
	char path[SL_STORE_PATH_BYTES];
	if (make_folder(store) < 0)
		return sl_store_fail_file(store, store->folder);
	sl_store_path(store, "lock", path);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return sl_store_fail_file(store, path);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		sign_lock(fd);
		store->lock = fd;
		return SL_OK;
	}
	int rc = errno == EWOULDBLOCK ? fail_held(store, path, fd) : sl_store_fail_file(store, path);
	close(fd);
	return rc;
}

/* ---- durable rename ---- */

int sl_store_name_file(struct sl_store *store, const char *from, const char *name)
{
	char old[SL_STORE_PATH_BYTES], path[SL_STORE_PATH_BYTES];
	sl_store_path(store, from, old);
	sl_store_path(store, name, path);
	if (sync_path(old, O_RDWR) < 0 || rename(old, path) < 0 ||
	    sync_path(store->folder, O_RDONLY | O_DIRECTORY) < 0)
		return sl_store_fail_file(store, path);
	return SL_OK;
}

/* ---- count of starts before there was a store ---- */

int sl_store_read_count(struct sl_store *store, uint32_t *count, bool *moved)
{
	char path[SL_STORE_PATH_BYTES], text[32] = "", *end = text;
	*count = 0;
	*moved = false;
	sl_store_path(store, COUNT_FILE, path);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return errno == ENOENT ? SL_OK : sl_store_fail_file(store, path);
	bool read = fgets(text, sizeof text, file) != NULL;
	fclose(file);
	*moved = strcmp(text, MOVED) == 0;
	unsigned long value = strtoul(text, &end, 10);
	bool number = read && end != text && (*end == '\n' || *end == '\0') && value < UINT32_MAX;
	if (!number && !*moved)
		return sl_err_set(&store->error, SL_ERR_FORMAT, "%s: line 1: not a count of starts", path);
	*count = (uint32_t)value;
	return SL_OK;
}

static int write_moved(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	ssize_t wrote = write(fd, MOVED, strlen(MOVED));
	if (wrote >= 0 && wrote < (ssize_t)strlen(MOVED))
		errno = ENOSPC;
	return close(fd) == 0 && wrote == (ssize_t)strlen(MOVED) ? 0 : -1;
}

int sl_store_move_count(struct sl_store *store)
{
	char path[SL_STORE_PATH_BYTES];
	sl_store_path(store, COUNT_FILE SL_TEMPORARY, path);
	if (write_moved(path) < 0)
		return sl_store_fail_file(store, path);
	return sl_store_name_file(store, COUNT_FILE SL_TEMPORARY, COUNT_FILE);
}
