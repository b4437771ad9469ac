/* unix_socket.h - a listening Unix stream socket that only the owner of the process can connect to. */
#pragma once

#include "common/base/err.h"

/* Refuse a path at which there is another file than a socket. The error names the setting. */
int sl_unix_socket_check(const char *path, const char *setting, struct sl_error *error);
/* Check the path, listen on it with mode 0600 and return the descriptor, not blocking and closed on exec, in
 * *fd. A socket that no process listens at is replaced; that of another program stays, and is an error. */
int sl_unix_socket_listen(const char *path, const char *setting, int *fd, struct sl_error *error);
