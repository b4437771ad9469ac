/* Lines and records over the control socket: what a client may send, and leave unread. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/learner/control.h"
#include "test/lib/folder.h"
#include "test/lib/process.h"
#include "test/lib/test.h"

#define LINE_BYTES (64u << 10)	  /* of a request */
#define BACKLOG_BYTES (4u << 20)  /* of records that a client leaves unread */
#define RECORD_BYTES (256u << 10) /* of one of the test */

static uv_loop_t loop;
static struct sl_log *log_of_it;
static struct sl_control *control;
static char path[256];
static size_t longest; /* request */

static json_t *serve(void *context, const char *line, size_t bytes, bool *watch)
{
	assert_ptr_equal(context, &loop);
	longest = bytes > longest ? bytes : longest;
	*watch = bytes == 5 && memcmp(line, "watch", 5) == 0;
	return json_pack("{s:I}", "bytes", (json_int_t)bytes);
}

static int setup(void **state)
{
	struct sl_settings settings = {.id = 1};
	struct sl_error error = {0};
	folder_setup(state);
	longest = 0;
	snprintf(settings.log, sizeof settings.log, "%s", folder_path(*state, "log"));
	snprintf(path, sizeof path, "%s", folder_path(*state, "control.sock"));
	uv_loop_init(&loop);
	if (sl_log_open(&log_of_it, &settings, &error) != SL_OK ||
	    sl_control_open(&control, &loop, log_of_it, path, serve, &loop, &error) != SL_OK)
		fail_msg("%s", error.text);
	return 0;
}

static int teardown(void **state)
{
	sl_control_close(control);
	uv_run(&loop, UV_RUN_DEFAULT);
	sl_control_free(control);
	sl_log_close(log_of_it);
	assert_int_equal(uv_loop_close(&loop), 0);
	return folder_teardown(state);
}

static int dial(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(strlen(path) < sizeof at.sun_path);
	strcpy(at.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
	return fd;
}

/* Turn the loop while bytes are sent. Return how many were taken before the learner closed the connection. */
static size_t say(int fd, const char *bytes, size_t size)
{
	double until = process_now() + PATIENCE_S;
	for (size_t sent = 0; sent < size;) {
		ssize_t n = send(fd, bytes + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN)
			return sent;
		sent += n > 0 ? (size_t)n : 0;
		uv_run(&loop, UV_RUN_NOWAIT);
		assert_true(process_now() < until);
	}
	return size;
}

/* Turn the loop and read until `text` has come, or, for NULL, until the end. Return the bytes read. */
static size_t hear(int fd, const char *text)
{
	static char got[RECORD_BYTES];
	double until = process_now() + PATIENCE_S;
	size_t all = 0;
	for (ssize_t n = 1; n != 0;) {
		assert_true(process_now() < until);
		uv_run(&loop, UV_RUN_NOWAIT);
		poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 1);
		n = recv(fd, got, sizeof got - 1, MSG_DONTWAIT);
		if (n < 0 && errno == ECONNRESET)
			break;
		all += n > 0 ? (size_t)n : 0;
		got[n > 0 ? n : 0] = '\0';
		if (text != NULL && strstr(got, text) != NULL)
			return all;
	}
	assert_null(text);
	return all;
}

TEST_WITH(requests_have_a_longest_line, setup, teardown)
{
	static char line[LINE_BYTES + 1];
	memset(line, 'x', sizeof line);
	int fd = dial();
	line[LINE_BYTES - 1] = '\n';
	assert_int_equal(say(fd, line, LINE_BYTES), LINE_BYTES);
	hear(fd, "{\"bytes\":65535}\n");
	line[LINE_BYTES - 1] = 'x';
	say(fd, line, LINE_BYTES);
	hear(fd, NULL); /* without an end, it is closed */
	assert_int_equal(longest, LINE_BYTES - 1);
	close(fd);
}

TEST_WITH(records_that_are_not_read_are_bounded, setup, teardown)
{
	static char text[RECORD_BYTES];
	int slow = dial(), quick = dial();
	memset(text, 'x', sizeof text - 1);
	say(slow, "watch\n", 6);
	hear(slow, "{\"bytes\":5}");
	say(quick, "watch\n", 6);
	hear(quick, "{\"bytes\":5}");
	for (size_t said = 0; said < 4 * BACKLOG_BYTES; said += sizeof text) {
		sl_log(log_of_it, SL_INFO, "e", text, NULL);
		sl_log(log_of_it, SL_INFO, "e", "after it", NULL);
		hear(quick, "after it");
	}
	size_t got = hear(slow, NULL); /* its end: it was disconnected */
	assert_true(got < 2 * BACKLOG_BYTES);
	sl_log(log_of_it, SL_INFO, "e", "still there", NULL);
	hear(quick, "still there");
	close(slow);
	close(quick);
}
