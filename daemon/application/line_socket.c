#include "daemon/application/line_socket.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/runtime/unix_socket.h"

#define FDS_MAX 2u
#define LINE_BYTES_FIRST (64u << 10) /* room for lines; more only while a longer one is there */
#define LOST_BYTES_MAX (64u << 20)   /* of a line that is too long */

int sl_line_socket_open(struct sl_line_socket *s, const char *path, struct sl_error *error)
{
	*s = (struct sl_line_socket){.listener = -1,
				     .peer = -1,
				     .life = -1,
				     .line = malloc(LINE_BYTES_FIRST),
				     .room = LINE_BYTES_FIRST};
	if (s->line == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	return sl_unix_socket_listen(path, "application", &s->listener, error);
}

void sl_line_socket_close(struct sl_line_socket *s)
{
	sl_line_socket_drop(s);
	if (s->listener >= 0)
		close(s->listener);
	free(s->line);
	*s = (struct sl_line_socket){.listener = -1, .peer = -1, .life = -1};
}

void sl_line_socket_drop(struct sl_line_socket *s)
{
	if (s->peer >= 0)
		close(s->peer);
	if (s->life >= 0)
		close(s->life);
	s->peer = s->life = -1;
	s->used = s->taken = s->seen = s->lost = 0;
}

/* Return the end of the next line, or NULL. Bytes are searched once: a long line comes in many parts. */
static char *newline_of(const struct sl_line_socket *s)
{
	size_t from = s->seen > s->taken ? s->seen : s->taken;
	return memchr(s->line + from, '\n', s->used - from);
}

bool sl_line_socket_pending(const struct sl_line_socket *s)
{
	return s->peer >= 0 && newline_of(s) != NULL;
}

void sl_line_socket_wait(const struct sl_line_socket *s, int other, int timeout_ms)
{
	struct pollfd fds[] = {{.fd = s->listener, .events = POLLIN},
			       {.fd = s->peer, .events = POLLIN},
			       {.fd = s->life, .events = POLLIN},
			       {.fd = other, .events = POLLIN}};
	if (!sl_line_socket_pending(s))
		poll(fds, sizeof fds / sizeof *fds, timeout_ms);
}

static bool is_readable(int fd)
{
	return poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 0) > 0;
}

bool sl_line_socket_called(const struct sl_line_socket *s)
{
	return is_readable(s->listener);
}

/* Return true if the process of the peer has ended. Kernels before 5.3 have no pidfd. */
static bool has_ended(const struct sl_line_socket *s)
{
	return s->life >= 0 ? is_readable(s->life) : s->pid > 0 && kill(s->pid, 0) < 0 && errno == ESRCH;
}

/* ---- sending ---- */

static void put_fds(struct msghdr *message, const int *fds, size_t count)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(count * sizeof *fds);
	memcpy(CMSG_DATA(header), fds, count * sizeof *fds);
}

/* Send a line at once; the descriptors go with its first byte. */
static bool send_line(int fd, const char *text, size_t size, const int *fds, size_t count)
{
	union {
		struct cmsghdr aligned;
		char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control = {0};
	struct iovec part = {(void *)text, size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	if (count > 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(count * sizeof *fds);
		put_fds(&message, fds, count);
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size;
}

static bool send_object(int fd, json_t *object, const int *fds, size_t count)
{
	char *text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	if (text == NULL)
		return false;
	size_t size = strlen(text);
	text[size] = '\n'; /* in the place of the terminating zero */
	bool sent = send_line(fd, text, size + 1, fds, count);
	free(text);
	return sent;
}

void sl_line_socket_send(struct sl_line_socket *s, json_t *object, const int *fds, size_t count)
{
	if (s->peer < 0)
		json_decref(object);
	else if (!send_object(s->peer, object, fds, count))
		shutdown(s->peer, SHUT_RDWR); /* the thread that receives drops it */
}

/* ---- receiving ---- */

static void refuse(int fd, const char *why)
{
	send_object(fd, json_pack("{s:s, s:s}", "type", "error", "text", why), NULL, 0);
	close(fd);
}

bool sl_line_socket_accept(struct sl_line_socket *s)
{
	struct ucred who = {0};
	socklen_t size = sizeof who;
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return false;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0 ||
	    (who.uid != geteuid() && who.uid != 0)) {
		refuse(fd, "this learner belongs to another user");
		return false;
	}
	if (s->peer >= 0) {
		refuse(fd, "another application has joined this learner");
		return false;
	}
	s->peer = fd;
	s->pid = who.pid;
	s->life = who.pid > 0 ? (int)syscall(SYS_pidfd_open, who.pid, 0) : -1;
	return true;
}

/* Have room for `room` bytes. */
static void set_room(struct sl_line_socket *s, size_t room)
{
	char *line = realloc(s->line, room);
	if (line == NULL)
		abort(); /* out of memory */
	s->line = line;
	s->room = room;
}

/* Move what follows the line that was returned last to the front. */
static void drop_taken(struct sl_line_socket *s)
{
	if (s->taken == 0)
		return;
	s->used -= s->taken;
	memmove(s->line, s->line + s->taken, s->used);
	s->taken = s->seen = 0;
	if (s->room > LINE_BYTES_FIRST && s->used < LINE_BYTES_FIRST)
		set_room(s, LINE_BYTES_FIRST);
}

/* Make room for further bytes of a line. Of one that is too long, forget what came. */
static void make_room(struct sl_line_socket *s)
{
	s->seen = s->used;
	if (s->used == s->room && s->room < SL_LINE_SOCKET_BYTES) {
		set_room(s, 2 * s->room);
	} else if (s->used == s->room) { /* go on: many peers listen only after sending */
		s->lost += s->used;
		s->used = s->seen = 0;
	}
}

static void refuse_line(struct sl_line_socket *s)
{
	refuse(s->peer, "a line has at most 32 MiB: fewer tensors, or shorter names");
	s->peer = -1;
	sl_line_socket_drop(s);
}

const char *sl_line_socket_next(struct sl_line_socket *s, size_t *size)
{
	char *newline;
	if (s->peer < 0)
		return NULL;
	drop_taken(s);
	bool ended = has_ended(s); /* first: the process may still send before it ends */
	while ((newline = newline_of(s)) == NULL && s->lost < LOST_BYTES_MAX) {
		make_room(s);
		ssize_t got = recv(s->peer, s->line + s->used, s->room - s->used, MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0 || (got < 0 && (errno != EAGAIN || ended)))
			sl_line_socket_drop(s);
		if (got <= 0)
			return NULL;
		s->used += (size_t)got;
	}
	if (s->lost > 0) {
		refuse_line(s);
		return NULL;
	}
	*size = (size_t)(newline - s->line);
	s->taken = *size + 1;
	return s->line;
}
