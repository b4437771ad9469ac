#include "common/model/disk_error.h"

#include <errno.h>
#include <string.h>

const char *sl_disk_error_advice(int why)
{
	switch (why) {
	case ENOSPC:
	case EDQUOT:
		return "make room (df -h and df -i show what is full), then start the learner again";
	case EACCES:
	case EPERM:
		return "give the learner permission to write there";
	case EROFS:
		return "mount its file system writable, or set 'state' to a folder elsewhere";
	case ENOENT:
		return "make the folder";
	case ENOLCK:
	case ENOSYS:
	case EOPNOTSUPP:
		return "its file system has no locks: mount it with them, or set 'state' to a folder on a "
		       "local disk";
	case EMFILE:
	case ENFILE:
		return "allow more open files (ulimit -n, LimitNOFILE= of the unit), then start the learner "
		       "again";
	case EFBIG:
		return "allow larger files (ulimit -f, LimitFSIZE= of the unit), then start the learner "
		       "again";
	case ENOMEM:
		return "free memory, or raise its limit, then start the learner again";
	default:
		return "check the disk, then start the learner again";
	}
}

int sl_disk_error(struct sl_error *error, const char *path, int why)
{
	return sl_err_set(error, SL_ERR_IO, "%s: %s; %s", path, strerror(why), sl_disk_error_advice(why));
}
