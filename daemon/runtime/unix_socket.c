#include "daemon/runtime/unix_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 16

int sl_unix_socket_check(const char *path, const char *setting, struct sl_error *error)
{
	struct stat status;
	if (lstat(path, &status) < 0 || S_ISSOCK(status.st_mode))
		return SL_OK;
	return sl_err_set(error, SL_ERR_IO, "%s: %s is not a socket; choose another path", setting, path);
}

/* Remove a socket that a learner which was killed has left: no process listens at it. */
static void remove_dead(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) < 0 &&
	    errno == ECONNREFUSED)
		unlink(address->sun_path);
	if (fd >= 0)
		close(fd);
}

static int bind_path(int fd, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof address.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(address.sun_path, path);
	remove_dead(&address);
	return bind(fd, (struct sockaddr *)&address, sizeof address);
}

int sl_unix_socket_listen(const char *path, const char *setting, int *fd, struct sl_error *error)
{
	if (sl_unix_socket_check(path, setting, error) != SL_OK)
		return SL_ERR_IO;
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t mask = umask(0177); /* 0600 from the first moment */
	int rc = *fd < 0 ? -1 : bind_path(*fd, path);
	umask(mask);
	if (rc == 0 && listen(*fd, BACKLOG) == 0)
		return SL_OK;
	int saved = errno;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return sl_err_set(error, SL_ERR_IO, "%s: %s: %s", setting, path,
			  saved != EADDRINUSE ? strerror(saved)
					      : "another program listens there; choose another path");
}
