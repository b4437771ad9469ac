#include "common/membership/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(struct sl_error *error, const char *path)
{
	return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
}

/* Give `path` to the owner of `folder`, if this is root and the folder another user's. */
static int give(int fd, const char *path, const char *folder, struct sl_error *error)
{
	struct stat st;
	if (geteuid() != 0)
		return SL_OK;
	if (stat(folder, &st) != 0)
		return fail(error, folder);
	int rc = fd >= 0 ? fchown(fd, st.st_uid, st.st_gid) : lchown(path, st.st_uid, st.st_gid);
	return rc == 0 ? SL_OK : fail(error, path);
}

/* Give the new file the mode and the owner of the earlier one at `path`. */
static int take_over(int fd, const char *path, const char *folder, struct sl_error *error)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return give(fd, path, folder, error);
	bool failed = fchmod(fd, st.st_mode & 0777) != 0 ||
		      (geteuid() == 0 && fchown(fd, st.st_uid, st.st_gid) != 0);
	return failed ? fail(error, path) : SL_OK;
}

static int sync_folder(const char *path, struct sl_error *error)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 || fsync(fd) != 0 ? fail(error, path) : SL_OK;
	if (fd >= 0)
		close(fd);
	return rc;
}

int sl_private_file_put(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t written = write(fd, bytes, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		bytes += written;
		size -= (size_t)written;
	}
	return fsync(fd);
}

/* Join FOLDER/NAME to `path`, and cut `place`, the folder that the file is in. */
static int join(const char *folder, const char *name, char path[static SL_PRIVATE_FILE_PATH_BYTES],
		char place[static SL_PRIVATE_FILE_PATH_BYTES], struct sl_error *error)
{
	int n = snprintf(path, SL_PRIVATE_FILE_PATH_BYTES, "%s/%s", folder, name);
	if (n < 0 || (size_t)n + 16 > SL_PRIVATE_FILE_PATH_BYTES)
		return sl_err_set(error, SL_ERR_RANGE, "%.64s...: the path is too long", folder);
	memcpy(place, path, (size_t)n + 1);
	*strrchr(place, '/') = '\0';
	return SL_OK;
}

static int make_place(const char *folder, const char *place, struct sl_error *error)
{
	if (mkdir(place, 0700) == 0)
		return give(-1, place, folder, error);
	return errno == EEXIST ? SL_OK : fail(error, place);
}

int sl_private_file_write(const char *folder, const char *name, const void *bytes, size_t size,
			  struct sl_error *error)
{
	char path[SL_PRIVATE_FILE_PATH_BYTES], place[SL_PRIVATE_FILE_PATH_BYTES],
		temporary[SL_PRIVATE_FILE_PATH_BYTES + 16];
	int rc = join(folder, name, path, place, error);
	if (rc == SL_OK && strchr(name, '/') != NULL)
		rc = make_place(folder, place, error);
	if (rc != SL_OK)
		return rc;
	snprintf(temporary, sizeof temporary, "%s/.new.XXXXXX", place);
	int fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
	if (fd < 0)
		return fail(error, path);
	rc = sl_private_file_put(fd, bytes, size) == 0 ? take_over(fd, path, folder, error)
						       : fail(error, path);
	if (close(fd) != 0 && rc == SL_OK)
		rc = fail(error, path);
	if (rc == SL_OK && rename(temporary, path) != 0)
		rc = fail(error, path);
	if (rc != SL_OK)
		unlink(temporary);
	return rc == SL_OK ? sync_folder(place, error) : rc;
}

int sl_private_file_replace(const char *path, const void *bytes, size_t size, struct sl_error *error)
{
	char folder[SL_PRIVATE_FILE_PATH_BYTES];
	const char *slash = strrchr(path, '/');
	snprintf(folder, sizeof folder, "%.*s", slash == NULL ? 1 : (int)(slash - path + (slash == path)),
		 slash == NULL ? "." : path);
	return sl_private_file_write(folder, slash == NULL ? path : slash + 1, bytes, size, error);
}

int sl_private_file_lock(const char *folder, bool wait, struct sl_error *error)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fail(error, folder);
	while (flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB)) != 0) {
		if (errno == EINTR)
			continue;
		int rc = errno == EWOULDBLOCK ? SL_ERR_BUSY : SL_ERR_IO;
		sl_err_set(error, rc, "%s: %s", folder, strerror(errno));
		close(fd);
		return rc;
	}
	return fd;
}

int sl_private_file_remove(const char *folder, const char *name, struct sl_error *error)
{
	char path[SL_PRIVATE_FILE_PATH_BYTES], place[SL_PRIVATE_FILE_PATH_BYTES];
	int rc = join(folder, name, path, place, error);
	if (rc != SL_OK)
		return rc;
	if (unlink(path) == 0)
		return sync_folder(place, error);
	return errno == ENOENT ? SL_OK : fail(error, path);
}
