#include "tools/libstarling/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/uio.h>
#include <unistd.h>

#define LINE_BYTES_FIRST 4096u
#define SEND_S 10 /* for the longest line */

int sl_connection_open(struct sl_connection *c, const char *path)
{
	struct epoll_event event = {.events = EPOLLIN};
	*c = (struct sl_connection){.path = strdup(path), .socket = -1};
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (c->path == NULL || c->epoll < 0 || c->timer < 0)
		return -1;
	return epoll_ctl(c->epoll, EPOLL_CTL_ADD, c->timer, &event);
}

void sl_connection_close(struct sl_connection *c)
{
	sl_connection_disconnect(c);
	if (c->timer >= 0)
		close(c->timer);
	if (c->epoll >= 0)
		close(c->epoll);
	free(c->line);
	free(c->path);
}

/* Connect through the folder, whose path may be longer than a socket address. Return -1 with errno. */
static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
	int at = folder != NULL ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	free(folder);
	if (at < 0)
		return -1;
	int fd = -1, rc = -1, why = ENAMETOOLONG;
	if ((size_t)snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", at, name) <
	    sizeof address.sun_path) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		rc = fd < 0 ? -1 : connect(fd, (const struct sockaddr *)&address, sizeof address);
		why = errno;
	}
	close(at);
	if (rc < 0 && fd >= 0)
		close(fd);
	errno = why;
	return rc < 0 ? -1 : fd;
}

int sl_connection_connect(struct sl_connection *c)
{
	const struct timeval longest = {.tv_sec = SEND_S};
	struct epoll_event event = {.events = EPOLLIN};
	c->socket = connect_to(c->path);
	if (c->socket < 0)
		return -1;
	c->keeps_fds = true;
	setsockopt(c->socket, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
	return epoll_ctl(c->epoll, EPOLL_CTL_ADD, c->socket, &event);
}

void sl_connection_close_fds(struct sl_connection *c)
{
	for (unsigned i = 0; i < c->received; i++)
		close(c->fds[i]);
	c->received = 0;
	c->keeps_fds = false;
}

void sl_connection_disconnect(struct sl_connection *c)
{
	if (c->socket >= 0)
		close(c->socket); /* leaves the epoll set with it */
	sl_connection_close_fds(c);
	c->socket = -1;
	c->used = c->taken = 0;
}

void sl_connection_set_timer(const struct sl_connection *c, int first_ms, int again_ms)
{
	const struct itimerspec when = {.it_value = {0, first_ms * 1000000L},
					.it_interval = {0, again_ms * 1000000L}};
	timerfd_settime(c->timer, 0, &when, NULL);
}

bool sl_connection_tick(const struct sl_connection *c)
{
	uint64_t times;
	return read(c->timer, &times, sizeof times) >= 0;
}

static bool send_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
		if (sent < 0 && errno != EINTR)
			return false;
		bytes += sent > 0 ? sent : 0;
		size -= sent > 0 ? (size_t)sent : 0;
	}
	return true;
}

void sl_connection_send(const struct sl_connection *c, const char *text)
{
	if (text == NULL || !send_all(c->socket, text, strlen(text)) || !send_all(c->socket, "\n", 1))
		shutdown(c->socket, SHUT_RDWR); /* its end is read like any other */
}

/* Take the descriptors that came with `message`. */
static void take_fds(struct sl_connection *c, struct msghdr *message)
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL; part = CMSG_NXTHDR(message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= part->cmsg_len; at += sizeof(int)) {
			int fd;
			memcpy(&fd, CMSG_DATA(part) + at, sizeof fd);
			if (c->keeps_fds && c->received < SL_CONNECTION_FDS)
				c->fds[c->received++] = fd;
			else
				close(fd);
		}
	}
}

static bool make_room(struct sl_connection *c)
{
	c->used -= c->taken;
	if (c->used > 0)
		memmove(c->line, c->line + c->taken, c->used);
	c->taken = 0;
	if (c->used < c->room)
		return true;
	size_t room = c->room == 0 ? LINE_BYTES_FIRST : 2 * c->room;
	char *grown = room <= SL_CONNECTION_LINE_BYTES_MAX ? realloc(c->line, room) : NULL;
	if (grown == NULL)
		return false;
	c->line = grown;
	c->room = room;
	return true;
}

/* Receive some bytes. 0: there are none; -1: the connection has ended. */
static ssize_t receive(struct sl_connection *c)
{
	union {
		struct cmsghdr aligned;
		char bytes[CMSG_SPACE(SL_CONNECTION_FDS * sizeof(int))];
	} control;
	if (!make_room(c))
		return -1;
	struct iovec part = {c->line + c->used, c->room - c->used};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof control.bytes};
	ssize_t got = recvmsg(c->socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0)
		return -1;
	take_fds(c, &message);
	c->used += (size_t)got;
	return got;
}

const char *sl_connection_line(struct sl_connection *c, bool *lost)
{
	char *newline;
	while ((newline = c->used > c->taken ? memchr(c->line + c->taken, '\n', c->used - c->taken) : NULL) ==
	       NULL) {
		ssize_t got = receive(c);
		*lost = got < 0;
		if (got <= 0)
			return NULL;
	}
	const char *line = c->line + c->taken;
	*newline = '\0';
	c->taken = (size_t)(newline - c->line) + 1;
	return line;
}
