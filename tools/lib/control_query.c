#include "tools/lib/control_query.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/base/err.h"

#define LINE_BYTES 65536u

struct line {
	char *bytes;
	size_t used;
};

/* A socket's address has room for 107 bytes, and folders may be deeper: through the folder's descriptor. */
static int connect_to(const struct sl_control_query *one)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int at = open(one->folder, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	int n = snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", at, one->socket);
	if (at >= 0 && n > 0 && (size_t)n < sizeof address.sun_path)
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
		int why = errno;
		close(fd);
		fd = -1;
		errno = why;
	}
	if (at >= 0)
		close(at);
	return fd;
}

static void begin(struct sl_control_query *one, struct pollfd *polled, const char *request)
{
	json_decref(one->reply);
	one->reply = NULL;
	one->error = 0;
	polled->fd = connect_to(one);
	polled->events = POLLIN;
	if (polled->fd < 0)
		one->error = errno;
	else
		dprintf(polled->fd, "%s\n", request); /* what is lost is not answered */
}

static void stop(struct pollfd *polled)
{
	if (polled->fd >= 0)
		close(polled->fd);
	polled->fd = -1;
}

static void take(struct sl_control_query *one, struct pollfd *polled, struct line *line)
{
	ssize_t got = read(polled->fd, line->bytes + line->used, LINE_BYTES - line->used);
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	line->used += got > 0 ? (size_t)got : 0;
	const char *end = memchr(line->bytes, '\n', line->used);
	if (end != NULL)
		one->reply = json_loadb(line->bytes, (size_t)(end - line->bytes), 0, NULL);
	if (end != NULL || got <= 0 || line->used == LINE_BYTES)
		stop(polled);
}

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool any_open(const struct pollfd *polls, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (polls[i].fd >= 0)
			return true;
	return false;
}

static void hear(struct sl_control_query *asked, struct pollfd *polls, struct line *lines, size_t count,
		 int wait_ms)
{
	int64_t end = now_ms() + wait_ms;
	for (int64_t left = wait_ms; any_open(polls, count) && left > 0; left = end - now_ms()) {
		if (poll(polls, count, (int)left) < 0 && errno != EINTR)
			return;
		for (size_t i = 0; i < count; i++)
			if (polls[i].fd >= 0 && polls[i].revents != 0)
				take(&asked[i], &polls[i], &lines[i]);
	}
}

int sl_control_query_all(struct sl_control_query *asked, size_t count, const json_t *request, int wait_ms)
{
	char *text = json_dumps(request, JSON_COMPACT), *bytes = calloc(count + 1, LINE_BYTES);
	struct pollfd *polls = calloc(count + 1, sizeof *polls);
	struct line *lines = calloc(count + 1, sizeof *lines);
	bool room = text != NULL && bytes != NULL && polls != NULL && lines != NULL;
	for (size_t i = 0; room && i < count; i++) {
		polls[i].fd = -1;
		lines[i].bytes = bytes + i * LINE_BYTES;
		if (!asked[i].skip)
			begin(&asked[i], &polls[i], text);
	}
	if (room)
		hear(asked, polls, lines, count, wait_ms);
	for (size_t i = 0; room && i < count; i++)
		stop(&polls[i]);
	free(lines);
	free(polls);
	free(bytes);
	free(text);
	return room ? SL_OK : SL_ERR_NOMEM;
}
