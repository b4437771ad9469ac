#include "daemon/learner/control.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/config/settings.h"
#include "daemon/runtime/unix_socket.h"

#define LINE_BYTES (64u << 10)
#define BACKLOG_BYTES (4u << 20) /* a watcher that does not read is disconnected */

struct client {
	uv_pipe_t pipe;
	struct client *next;
	struct sl_control *control;
	bool watching;
	size_t used;
	char line[LINE_BYTES];
};

struct sl_control {
	struct sl_log *log;
	sl_control_serve_fn *serve;
	void *context; /* of `serve` */
	uv_pipe_t listener;
	struct client *clients;
	char path[SL_PATH_BYTES];
};

struct write {
	uv_write_t request;
	char bytes[];
};

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void drop(struct client *client)
{
	if (uv_is_closing((uv_handle_t *)&client->pipe))
		return;
	for (struct client **p = &client->control->clients; *p != NULL; p = &(*p)->next)
		if (*p == client) {
			*p = client->next;
			break;
		}
	uv_close((uv_handle_t *)&client->pipe, on_closed);
}

static void on_written(uv_write_t *request, int status)
{
	if (status < 0 && status != UV_ECANCELED)
		drop(request->handle->data);
	free(request);
}

static void say(struct client *client, const char *line, size_t bytes)
{
	struct write *write = malloc(sizeof *write + bytes + 1);
	if (write == NULL || uv_stream_get_write_queue_size((uv_stream_t *)&client->pipe) > BACKLOG_BYTES) {
		free(write);
		drop(client);
		return;
	}
	memcpy(write->bytes, line, bytes);
	write->bytes[bytes] = '\n';
	uv_buf_t buffer = uv_buf_init(write->bytes, (unsigned)bytes + 1);
	if (uv_write(&write->request, (uv_stream_t *)&client->pipe, &buffer, 1, on_written) < 0) {
		free(write);
		drop(client);
	}
}

static void reply(struct client *client, json_t *object)
{
	char *text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	if (text != NULL)
		say(client, text, strlen(text));
	free(text);
}

/* ---- requests ---- */

static void take_lines(struct client *client)
{
	const struct sl_control *control = client->control;
	char *start = client->line, *end = client->line + client->used, *newline;
	while ((newline = memchr(start, '\n', (size_t)(end - start))) != NULL) {
		reply(client,
		      control->serve(control->context, start, (size_t)(newline - start), &client->watching));
		if (uv_is_closing((uv_handle_t *)&client->pipe))
			return;
		start = newline + 1;
	}
	client->used = (size_t)(end - start);
	memmove(client->line, start, client->used);
}

/* Of a line that is too long, there is no room for more: libuv then reports UV_ENOBUFS. */
static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	(void)suggested;
	struct client *client = handle->data;
	*buffer = uv_buf_init(client->line + client->used, (unsigned)(sizeof client->line - client->used));
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
	(void)buffer;
	struct client *client = stream->data;
	if (count < 0) {
		drop(client);
		return;
	}
	client->used += (size_t)count;
	take_lines(client);
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct sl_control *control = listener->data;
	struct client *client = status < 0 ? NULL : calloc(1, sizeof *client);
	if (client == NULL)
		return;
	client->control = control;
	client->pipe.data = client;
	uv_pipe_init(listener->loop, &client->pipe, 0);
	client->next = control->clients;
	control->clients = client;
	if (uv_accept(listener, (uv_stream_t *)&client->pipe) < 0 ||
	    uv_read_start((uv_stream_t *)&client->pipe, on_allocate, on_read) < 0)
		drop(client);
}

static void on_record(void *context, const char *line, size_t bytes)
{
	struct sl_control *control = context;
	for (struct client *c = control->clients, *next; c != NULL; c = next) {
		next = c->next;
		if (c->watching)
			say(c, line, bytes);
	}
}

/* ---- opening and closing ---- */

static int listen_on(struct sl_control *control, struct sl_error *error)
{
	int fd;
	int rc = sl_unix_socket_listen(control->path, "control", &fd, error);
	if (rc != SL_OK)
		return rc;
	uv_pipe_open(&control->listener, fd);
	rc = uv_listen((uv_stream_t *)&control->listener, 16, on_connection);
	return rc == 0 ? SL_OK
		       : sl_err_set(error, SL_ERR_IO, "control: %s: %s", control->path, uv_strerror(rc));
}

int sl_control_open(struct sl_control **out, uv_loop_t *loop, struct sl_log *log, const char *path,
		    sl_control_serve_fn *serve, void *context, struct sl_error *error)
{
	struct sl_control *control = calloc(1, sizeof *control);
	*out = control;
	if (control == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	control->log = log;
	control->serve = serve;
	control->context = context;
	snprintf(control->path, sizeof control->path, "%s", path);
	uv_pipe_init(loop, &control->listener, 0);
	control->listener.data = control;
	int rc = listen_on(control, error);
	if (rc == SL_OK)
		sl_log_watch_add(log, on_record, control);
	else
		control->path[0] = '\0'; /* what is there is another's */
	return rc;
}

void sl_control_close(struct sl_control *control)
{
	sl_log_watch_remove(control->log, control);
	unlink(control->path);
	uv_close((uv_handle_t *)&control->listener, NULL);
	while (control->clients != NULL)
		drop(control->clients);
}

void sl_control_free(struct sl_control *control)
{
	free(control);
}
