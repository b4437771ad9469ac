#include "tools/lib/control_query.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/clean.h"

#define LINE_BYTES (1u << 20) /* of a status with the most learners */

/* Connect to the socket, without waiting; return its descriptor, or -1 and errno. Its address has room for
 * 107 bytes, and folders may be deeper: through the folder's descriptor. */
static int dial(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	snprintf(folder, sizeof folder, "%.*s", slash == NULL || slash == path ? 1 : (int)(slash - path),
		 slash == NULL ? "." : path);
	int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	int n = snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", at, name);
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

static int64_t now_ms(void)
{
	return (int64_t)(uv_hrtime() / 1000000);
}

/* Read one line until `end_ms`; return NULL without a reply. A reply waits in the socket until it is read. */
static json_t *read_reply(int fd, int64_t end_ms)
{
	static char line[LINE_BYTES];
	size_t used = 0;
	while (used < sizeof line) {
		struct pollfd polled = {.fd = fd, .events = POLLIN};
		int64_t left = end_ms - now_ms();
		if (poll(&polled, 1, left > 0 ? (int)left : 0) == 0)
			return NULL;
		ssize_t got = read(fd, line + used, sizeof line - used);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		const char *end = got > 0 ? memchr(line + used, '\n', (size_t)got) : NULL;
		if (end != NULL)
			return json_loadb(line, (size_t)(end - line), 0, NULL);
		if (got <= 0)
			return NULL;
		used += (size_t)got;
	}
	return NULL;
}

static void clean_text(json_t *value)
{
	char *text = strdup(json_string_value(value));
	if (text == NULL)
		abort();
	sl_clean_text(text);
	if (strcmp(text, json_string_value(value)) != 0)
		json_string_set(value, text);
	free(text);
}

static void clean(json_t *value)
{
	const char *key;
	size_t index;
	json_t *one;
	if (json_is_string(value))
		clean_text(value);
	json_object_foreach(value, key, one) clean(one);
	json_array_foreach(value, index, one) clean(one);
}

json_t *sl_control_query(const char *path, json_t *request, int wait_ms, const char **problem)
{
	int64_t end_ms = now_ms() + wait_ms;
	json_t *reply = NULL;
	int fd = dial(path), error = fd < 0 ? errno : 0;
	char *text = json_dumps(request, JSON_COMPACT);
	if (fd >= 0) {
		dprintf(fd, "%s\n", text); /* a request that is lost is not answered */
		reply = read_reply(fd, end_ms);
		clean(reply);
		close(fd);
	}
	*problem = error == ENOENT || error == ECONNREFUSED || error == ENOTDIR ? SL_CONTROL_ABSENT
		   : error != 0 && error != EAGAIN /* EAGAIN: it accepts no connection */
			   ? strerror(error)
			   : "does not answer";
	free(text);
	json_decref(request);
	return reply;
}

const char *sl_control_query_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text == NULL ? "" : text;
}

long long sl_control_query_number(const json_t *object, const char *key)
{
	return (long long)json_integer_value(json_object_get(object, key));
}
