#include "daemon/store/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/model/disk_error.h"
#include "common/model/safetensors.h"

#define MARK_FILE "has-records"

void sl_folder_path(const char *folder, const char *name, char path[static SL_FOLDER_PATH_BYTES])
{
	snprintf(path, SL_FOLDER_PATH_BYTES, "%s/%s", folder, name);
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

/* ---- the file system ---- */

const char *sl_folder_kind(const char *folder, bool *remote)
{
	static const struct {
		uint32_t type;
		bool remote;
		const char *name;
	} kinds[] = {{TMPFS_MAGIC, false, "tmpfs"},
		     {OVERLAYFS_SUPER_MAGIC, false, "overlay"},
		     {NFS_SUPER_MAGIC, true, "NFS"},
		     {FUSE_SUPER_MAGIC, true, "FUSE (which may be on another machine)"},
		     {CIFS_SUPER_MAGIC, true, "CIFS"},
		     {SMB2_SUPER_MAGIC, true, "SMB"},
		     {V9FS_MAGIC, true, "9p"},
		     {0x0bd00bd0, true, "Lustre"}};
	char above[SL_FOLDER_PATH_BYTES];
	struct statfs found;
	snprintf(above, sizeof above, "%s", folder);
	if (statfs(folder, &found) != 0 && statfs(dirname(above), &found) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		*remote = kinds[i].remote;
		if ((uint32_t)found.f_type == kinds[i].type)
			return kinds[i].name;
	}
	return NULL;
}

/* ---- the lock ---- */

/* Write the process id into the lock file, for error messages; it may fail. */
static void sign_lock(int fd)
{
	if (ftruncate(fd, 0) == 0)
		dprintf(fd, "%ld\n", (long)getpid());
}

static int fail_held(const char *path, int fd, struct sl_error *error)
{
	char text[32] = "";
	ssize_t size = pread(fd, text, sizeof text - 1, 0);
	long pid = size > 0 ? strtol(text, NULL, 10) : 0;
	char which[48] = "";
	if (pid > 0)
		snprintf(which, sizeof which, ", as process %ld", pid);
	return sl_err_set(error, SL_ERR_BUSY,
			  "%s: another starlingd is running on this state folder%s; end it first", path,
			  which);
}

int sl_folder_make(const char *folder, struct sl_error *error)
{
	char parent[SL_FOLDER_PATH_BYTES + 4];
	snprintf(parent, sizeof parent, "%s/..", folder);
	if (mkdir(folder, 0700) < 0 ? errno == EEXIST : sync_path(parent, O_RDONLY | O_DIRECTORY) == 0)
		return SL_OK;
	return sl_disk_error(error, folder, errno);
}

int sl_folder_lock(const char *folder, int *lock, struct sl_error *error)
{
	char path[SL_FOLDER_PATH_BYTES];
	int rc = sl_folder_make(folder, error);
	if (rc != SL_OK)
		return rc;
	sl_folder_path(folder, "lock", path);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return sl_disk_error(error, path, errno);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		sign_lock(fd);
		*lock = fd;
		return SL_OK;
	}
	rc = errno == EWOULDBLOCK ? fail_held(path, fd, error) : sl_disk_error(error, path, errno);
	close(fd);
	return rc;
}

/* ---- durable names ---- */

int sl_folder_rename(const char *folder, const char *from, const char *name, struct sl_error *error)
{
	char old[SL_FOLDER_PATH_BYTES], path[SL_FOLDER_PATH_BYTES];
	sl_folder_path(folder, from, old);
	sl_folder_path(folder, name, path);
	if (sync_path(old, O_RDWR) < 0 || rename(old, path) < 0 ||
	    sync_path(folder, O_RDONLY | O_DIRECTORY) < 0)
		return sl_disk_error(error, path, errno);
	return SL_OK;
}

void sl_folder_sync(const char *folder, const char *name)
{
	char path[SL_FOLDER_PATH_BYTES + SL_FILE_NAME_BYTES];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	if (sync_path(path, O_RDONLY) == 0)
		sync_path(folder, O_RDONLY | O_DIRECTORY);
}

bool sl_folder_marked(const char *folder)
{
	char path[SL_FOLDER_PATH_BYTES];
	sl_folder_path(folder, MARK_FILE, path);
	return access(path, F_OK) == 0;
}

int sl_folder_mark(const char *folder, struct sl_error *error)
{
	char path[SL_FOLDER_PATH_BYTES];
	sl_folder_path(folder, MARK_FILE, path);
	int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return sl_disk_error(error, path, errno);
	close(fd);
	return sync_path(folder, O_RDONLY | O_DIRECTORY) == 0 ? SL_OK : sl_disk_error(error, path, errno);
}

int sl_folder_open_mark(const char *folder, bool *copied)
{
	char path[SL_FOLDER_PATH_BYTES], text[24] = "";
	struct stat mark;
	struct statfs kind; /* FAT numbers its files anew at each mount */
	sl_folder_path(folder, MARK_FILE, path);
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	bool known = fd >= 0 && fstat(fd, &mark) == 0 && pread(fd, text, sizeof text - 1, 0) >= 0 &&
		     statfs(path, &kind) == 0 && kind.f_type != MSDOS_SUPER_MAGIC &&
		     kind.f_type != EXFAT_SUPER_MAGIC;
	unsigned long long named = strtoull(text, NULL, 10); /* 0: an earlier program wrote nothing */
	bool other = known && named != mark.st_ino;
	*copied = other && named != 0;
	if (fd >= 0 && !other)
		close(fd);
	return other ? fd : -1;
}

void sl_folder_own(int mark)
{
	struct stat own;
	if (mark < 0)
		return;
	if (fstat(mark, &own) == 0 && ftruncate(mark, 0) == 0)
		dprintf(mark, "%llu\n", (unsigned long long)own.st_ino);
	close(mark);
}
