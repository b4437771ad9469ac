#include "tools/lib/control_query.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/clean.h"
#include "daemon/runtime/log.h"
#include "tools/lib/command.h"

#define LINE_BYTES (1u << 20) /* of a status with the most learners */

/* Connect to the socket `name` in `folder`, without waiting; return its descriptor, or -1 and errno. Its
 * address has room for 107 bytes, and folders may be deeper: through the folder's descriptor. */
static int dial(const char *folder, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
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

void sl_control_query_clean(json_t *value)
{
	const char *key;
	size_t index;
	json_t *one;
	if (json_is_string(value))
		clean_text(value);
	json_object_foreach(value, key, one) sl_control_query_clean(one);
	json_array_foreach(value, index, one) sl_control_query_clean(one);
}

void sl_control_query_all(struct sl_control_query *asked, size_t count, const json_t *request, int wait_ms)
{
	int64_t end_ms = now_ms() + wait_ms;
	char *text = json_dumps(request, JSON_COMPACT);
	int *fds = sl_command_memory(count + 1, sizeof *fds);
	for (size_t i = 0; i < count; i++) {
		fds[i] = -1;
		if (asked[i].skip)
			continue;
		json_decref(asked[i].reply);
		asked[i].reply = NULL;
		fds[i] = dial(asked[i].folder, asked[i].socket);
		asked[i].error = fds[i] < 0 ? errno : 0;
		if (fds[i] >= 0)
			dprintf(fds[i], "%s\n", text); /* a request that is lost is not answered */
	}
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0) {
			asked[i].reply = read_reply(fds[i], end_ms);
			sl_control_query_clean(asked[i].reply);
			close(fds[i]);
		}
	free(fds);
	free(text);
}

bool sl_control_query_absent(const struct sl_control_query *asked)
{
	return asked->error == ENOENT || asked->error == ECONNREFUSED || asked->error == ENOTDIR;
}

const char *sl_control_query_problem(const struct sl_control_query *asked)
{
	if (sl_control_query_absent(asked))
		return "is not running";
	if (asked->error != 0 && asked->error != EAGAIN) /* EAGAIN: it accepts no connection */
		return strerror(asked->error);
	return asked->reply == NULL ? "does not answer" : NULL;
}
