/* unix_socket.h - a listening Unix stream socket that only the owner of the process can connect to. */
#pragma once

#include "common/base/err.h"

/* Listen on `path` with mode 0600 and return the descriptor, not blocking and closed on exec, in *fd. A
 * socket that no process listens at is replaced; any other file stays, and is an error, which begins with
 * `what`. */
int sl_unix_socket_listen(const char *path, const char *what, int *fd, struct sl_error *error);
