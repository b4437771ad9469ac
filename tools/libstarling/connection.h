/* connection.h - the connection of an application to its learner: lines both ways, and the descriptors of the
 * shared vectors, which come with the first lines.
 *
 * One epoll descriptor stands for the socket and for a timer, so that it stays the same when the learner is
 * started again. The connection knows no messages: starling.c does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SL_CONNECTION_FDS 2u
#define SL_CONNECTION_LINE_BYTES_MAX (32u << 20) /* with its newline */

struct sl_connection {
	char *path; /* of the learner's socket */
	int epoll, timer;
	int socket; /* -1: not connected */
	int fds[SL_CONNECTION_FDS];
	unsigned received; /* of fds */
	bool keeps_fds;	   /* from connecting until sl_connection_close_fds */
	char *line;	   /* bytes received and not yet taken */
	size_t used, taken, room;
};

#pragma GCC visibility push(hidden)

/* Prepare for `path`, not connected. Return 0, or -1 with errno; in either case it must be closed. */
int sl_connection_open(struct sl_connection *c, const char *path);
void sl_connection_close(struct sl_connection *c);

/* Connect. Return 0, or -1 with errno. */
int sl_connection_connect(struct sl_connection *c);
void sl_connection_disconnect(struct sl_connection *c);
/* Let the timer end after `first_ms`, then every `again_ms`; 0: never. */
void sl_connection_set_timer(const struct sl_connection *c, int first_ms, int again_ms);
/* Return true if the timer has ended since the last call. */
bool sl_connection_tick(const struct sl_connection *c);

/* Send `text` as a line; NULL: out of memory, the connection ends. A learner that does not read it within 10
 * s loses the connection. */
void sl_connection_send(const struct sl_connection *c, const char *text);
/* Return the next complete line without its newline, or NULL: then *lost tells whether the connection has
 * ended. The line lasts until the next call. */
const char *sl_connection_line(struct sl_connection *c, bool *lost);
/* Close the descriptors that were received, and those that are still to come. */
void sl_connection_close_fds(struct sl_connection *c);

#pragma GCC visibility pop
