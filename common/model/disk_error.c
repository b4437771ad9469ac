#include "common/model/disk_error.h"

#include <errno.h>
#include <string.h>

static const char *advice(int why)
{
	switch (why) {
	case ENOSPC:
	case EDQUOT:
		return "make room, then start the learner again";
	case EACCES:
	case EPERM:
	case EROFS:
		return "the learner must be able to write here";
	default:
		return "see to the disk, then start the learner again";
	}
}

int sl_disk_error(struct sl_error *error, const char *path, int why)
{
	return sl_err_set(error, SL_ERR_IO, "%s: %s; %s", path, strerror(why), advice(why));
}
