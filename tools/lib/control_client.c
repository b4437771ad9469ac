#include "tools/lib/control_client.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 65536u

struct request {
	uv_write_t write;
	char *line;
};

void sl_control_client_init(struct sl_control_client *control, uv_loop_t *loop,
			    const struct sl_control_client_events *events, void *context)
{
	*control =
		(struct sl_control_client){.loop = loop, .events = events, .context = context, .folder = -1};
}

static void on_closed(uv_handle_t *handle)
{
	struct sl_control_client *c = handle->data;
	free(c->bytes);
	c->bytes = NULL;
	c->used = c->room = 0;
	c->state = SL_CONTROL_CLIENT_IDLE;
}

void sl_control_client_close(struct sl_control_client *control)
{
	if (control->state != SL_CONTROL_CLIENT_CONNECTING && control->state != SL_CONTROL_CLIENT_OPEN)
		return;
	control->state = SL_CONTROL_CLIENT_CLOSING;
	uv_close((uv_handle_t *)&control->pipe, on_closed);
}

static void end(struct sl_control_client *c, const char *reason)
{
	if (c->state != SL_CONTROL_CLIENT_OPEN)
		return;
	sl_control_client_close(c);
	c->events->ended(c->context, reason);
}

/* One line without its newline. */
static void take_line(struct sl_control_client *c, const char *line, size_t count)
{
	json_error_t error;
	json_t *object = json_loadb(line, count, 0, &error);
	if (json_is_object(object))
		c->events->heard(c->context, object);
	else
		end(c, "it said something that is not a JSON object");
	json_decref(object);
}

static void take_lines(struct sl_control_client *c)
{
	size_t from = 0;
	char *newline;
	while (c->state == SL_CONTROL_CLIENT_OPEN &&
	       (newline = memchr(c->bytes + from, '\n', c->used - from)) != NULL) {
		size_t to = (size_t)(newline - c->bytes);
		take_line(c, c->bytes + from, to - from);
		from = to + 1;
	}
	memmove(c->bytes, c->bytes + from, c->used - from);
	c->used -= from;
	if (c->used > SL_CONTROL_CLIENT_LINE_BYTES_MAX)
		end(c, "it said a line without end");
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct sl_control_client *c = handle->data;
	(void)suggested;
	if (c->room - c->used < READ_BYTES) {
		char *bytes = realloc(c->bytes, c->used + 2 * READ_BYTES);
		if (bytes == NULL) {
			*buf = uv_buf_init(NULL, 0); /* libuv reports it as UV_ENOBUFS */
			return;
		}
		c->bytes = bytes;
		c->room = c->used + 2 * READ_BYTES;
	}
	*buf = uv_buf_init(c->bytes + c->used, (unsigned)(c->room - c->used));
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
	struct sl_control_client *c = stream->data;
	(void)buf;
	if (count < 0) {
		end(c, count == UV_EOF ? "it closed the connection" : uv_strerror((int)count));
		return;
	}
	c->used += (size_t)count;
	take_lines(c);
}

static void on_connect(uv_connect_t *connect, int status)
{
	struct sl_control_client *c = connect->data;
	close(c->folder);
	c->folder = -1;
	if (c->state != SL_CONTROL_CLIENT_CONNECTING)
		return; /* closed meanwhile */
	if (status != 0 || uv_read_start((uv_stream_t *)&c->pipe, on_room, on_read) != 0) {
		sl_control_client_close(c);
		return;
	}
	c->state = SL_CONTROL_CLIENT_OPEN;
	c->events->opened(c->context);
}

void sl_control_client_connect(struct sl_control_client *control, const char *folder)
{
	char path[64];
	if (control->state != SL_CONTROL_CLIENT_IDLE)
		return;
	control->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (control->folder < 0 || uv_pipe_init(control->loop, &control->pipe, 0) != 0) {
		if (control->folder >= 0)
			close(control->folder);
		return;
	}
	/* a socket's address has room for 107 bytes, and folders may be deeper: go through the descriptor */
	snprintf(path, sizeof path, "/proc/self/fd/%d/control.sock", control->folder);
	control->pipe.data = control;
	control->connect.data = control;
	control->state = SL_CONTROL_CLIENT_CONNECTING;
	uv_pipe_connect(&control->connect, &control->pipe, path, on_connect);
}

static void on_written(uv_write_t *write, int status)
{
	struct request *r = (struct request *)write;
	(void)status; /* a broken connection shows at the reading end */
	free(r->line);
	free(r);
}

static void send_line(struct sl_control_client *c, struct request *r)
{
	uv_buf_t buf = uv_buf_init(r->line, (unsigned)strlen(r->line));
	if (uv_write(&r->write, (uv_stream_t *)&c->pipe, &buf, 1, on_written) != 0)
		on_written(&r->write, UV_EIO);
}

/* The request as one line. */
static char *format(const json_t *request)
{
	char *text = json_dumps(request, JSON_COMPACT);
	char *line = NULL;
	if (text != NULL && asprintf(&line, "%s\n", text) < 0)
		line = NULL;
	free(text);
	return line;
}

void sl_control_client_send(struct sl_control_client *control, json_t *request)
{
	struct request *r = control->state == SL_CONTROL_CLIENT_OPEN ? calloc(1, sizeof *r) : NULL;
	if (r != NULL)
		r->line = format(request);
	if (r != NULL && r->line != NULL)
		send_line(control, r);
	else
		free(r);
	json_decref(request);
}
