/* line_socket.h - lines of JSON over a Unix stream socket, one peer at a time.
 *
 *      listener  -- accept -->  peer (of the same user, or root)
 *
 * One thread waits, accepts and receives. Another may send, if a lock keeps it apart from all but the
 * waiting. A second peer gets one line that says so, and is closed. A peer is gone when its process has
 * ended, even if a child of that process still holds the connection. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "common/base/err.h"

#define SL_LINE_SOCKET_BYTES (32u << 20) /* of a line: the tensors of a large model */

struct sl_line_socket {
	int listener, peer; /* -1: none */
	pid_t pid;	    /* of the peer; 0: of a pid namespace that this process does not see */
	int life;	    /* pidfd of that process; -1: none */
	char *line;	    /* bytes received and not yet used up */
	size_t room, used;  /* of them */
	size_t taken;	    /* of the line that was returned last */
	size_t seen;	    /* bytes without a newline, from the begin */
	size_t lost;	    /* bytes of a line that is too long */
};

int sl_line_socket_open(struct sl_line_socket *socket, const char *path, struct sl_error *error);
void sl_line_socket_close(struct sl_line_socket *socket);

/* Wait at most `timeout_ms` for a connection, a line or bytes, or until `other` is readable (-1: none); not
 * if a line is pending. */
void sl_line_socket_wait(const struct sl_line_socket *socket, int other, int timeout_ms);
/* Return true if a further line has been received already. */
bool sl_line_socket_pending(const struct sl_line_socket *socket);
/* Return true if a connection waits. */
bool sl_line_socket_called(const struct sl_line_socket *socket);
/* Take a waiting connection, if there is one. Return true if there is a new peer. */
bool sl_line_socket_accept(struct sl_line_socket *socket);
/* Take what the peer has sent, and return its next complete line, of *size bytes without the newline; NULL:
 * none yet, or the peer is gone. The line is valid until the next call. A peer whose line is too long is
 * told, and dropped. */
const char *sl_line_socket_next(struct sl_line_socket *socket, size_t *size);
/* Send `object`, whose reference is taken over, and `count` descriptors, at most two. The
 * connection to a peer that does not read is ended. */
void sl_line_socket_send(struct sl_line_socket *socket, json_t *object, const int *fds, size_t count);
void sl_line_socket_drop(struct sl_line_socket *socket);
