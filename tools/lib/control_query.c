#include "tools/lib/control_query.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* Connect to the socket, whose operations wait for `wait_s` each; return its descriptor, or -1. Its address
 * has room for 107 bytes, and folders may be deeper: through the folder's descriptor. */
static int dial(const char *path, int wait_s)
{
	const struct timeval most = {.tv_sec = wait_s};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	snprintf(folder, sizeof folder, "%.*s", slash == NULL || slash == path ? 1 : (int)(slash - path),
		 slash == NULL ? "." : path);
	int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int n = snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", at, name);
	bool good = at >= 0 && n > 0 && (size_t)n < sizeof address.sun_path &&
		    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) == 0 &&
		    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most) == 0 &&
		    connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
	if (at >= 0)
		close(at);
	if (!good && fd >= 0)
		close(fd);
	return good ? fd : -1;
}

json_t *sl_control_query(const char *path, json_t *request, int wait_s)
{
	json_t *reply = NULL;
	errno = 0;
	int fd = dial(path, wait_s);
	if (fd >= 0 && json_dumpfd(request, fd, JSON_COMPACT) == 0 && write(fd, "\n", 1) == 1)
		reply = json_loadfd(fd, JSON_DISABLE_EOF_CHECK, NULL);
	if (fd >= 0)
		close(fd);
	json_decref(request);
	return reply;
}
