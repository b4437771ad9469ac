/* Preloaded into a program under test: each file system is of the type OTHER_DISK_TYPE (f_type of statfs(2)),
 * and with OTHER_DISK_NO_LOCKS, locks fail as where a network file system has none. Nothing else is as on
 * such a disk. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/vfs.h>

int statfs(const char *path, struct statfs *found)
{
	int (*next)(const char *, struct statfs *) =
		(int (*)(const char *, struct statfs *))dlsym(RTLD_NEXT, "statfs");
	const char *type = getenv("OTHER_DISK_TYPE");
	int rc = next(path, found);
	if (rc == 0 && type != NULL)
		found->f_type = strtol(type, NULL, 16);
	return rc;
}

int flock(int fd, int operation)
{
	int (*next)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "flock");
	if (getenv("OTHER_DISK_NO_LOCKS") == NULL)
		return next(fd, operation);
	errno = ENOLCK;
	return -1;
}
