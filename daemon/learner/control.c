#include "daemon/learner/control.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "daemon/learner/daemon.h"

#define LINE_BYTES (64u << 10)
#define BACKLOG_BYTES (4u << 20) /* a watcher that does not read is let go */

struct client {
	uv_pipe_t pipe;
	struct client *next;
	struct sl_control *control;
	bool watching;
	size_t used;
	char line[LINE_BYTES];
};

struct sl_control {
	struct sl_daemon *daemon;
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

static json_t *refuse(const char *why)
{
	return json_pack("{s:b, s:s}", "ok", 0, "error", why);
}

/* The operations. */

static json_t *op_range(struct sl_daemon *daemon, json_t *request)
{
	json_t *peers = json_object_get(request, "peers"), *step = json_object_get(request, "step"), *peer;
	size_t index;
	uint64_t set[(SL_LEARNERS_MAX + 63) / 64] = {0};
	if (daemon->settings->neighbours != SL_NEIGHBOURS_CONTROL)
		return refuse("this learner takes its neighbours from the roster; set `neighbours: control` "
			      "to set them here");
	if (!json_is_array(peers) || !json_is_integer(step) || json_integer_value(step) < 0 ||
	    json_integer_value(step) > UINT32_MAX)
		return refuse("range wants \"step\": a number, \"peers\": [ids]");
	json_array_foreach(peers, index, peer)
	{
		json_int_t id = json_integer_value(peer);
		int i = json_is_integer(peer) && id > 0 && id <= UINT32_MAX
				? sl_roster_find(&daemon->roster, (sl_id)id)
				: -1;
		if (i < 0)
			return refuse("range names a learner that is not in the roster");
		sl_bit_set(set, (size_t)i);
	}
	daemon->step = (uint32_t)json_integer_value(step);
	sl_events_range(daemon, set);
	return json_pack("{s:b}", "ok", 1);
}

static uint32_t progress(struct sl_daemon *daemon, const struct sl_core_status *status)
{
	return status->phase == SL_PHASE_TRAIN ? atomic_load(&daemon->training_permille) : status->permille;
}

static json_t *op_status(struct sl_daemon *daemon)
{
	struct sl_core_status status;
	struct sl_links_figures figures;
	const struct sl_member *self = &daemon->roster.members[daemon->self];
	sl_core_status(daemon->core, &status);
	sl_links_figures(daemon->links, &figures);
	return json_pack(
		"{s:b, s:I, s:s, s:i, s:i, s:s, s:i, s:i, s:s, s:I, s:i, s:I, s:I, s:I, s:i, s:i, s:s}", "ok",
		1, "id", (json_int_t)self->id, "name", self->name, "round", (int)status.t, "attempt",
		(int)status.a, "phase", sl_phase_name(status.phase), "progress",
		(int)progress(daemon, &status), "learners", (int)status.learners, "mixing",
		sl_engine_name(status.engine), "steps", (json_int_t)status.steps, "links", (int)figures.up,
		"bytes_sent", (json_int_t)figures.bytes_sent, "bytes_received",
		(json_int_t)figures.bytes_received, "round_bytes_sent",
		(json_int_t)(figures.bytes_sent - daemon->figures.bytes_sent), "committed",
		(int)status.committed, "step", (int)daemon->step, "awaits", daemon->missing);
}

static const char *cannot_abort(const struct sl_core_status *status, json_int_t round)
{
	if (round <= status->committed)
		return "that round is committed";
	if (round != status->t)
		return "this learner is in another round";
	if (status->phase != SL_PHASE_RECOVER && status->phase != SL_PHASE_READY)
		return "no attempt of that round is open here: there is nothing to abort";
	return NULL;
}

/* Carried out in the loop's next turn; the log says what became of it. */
static json_t *op_abort(struct sl_daemon *daemon, json_t *request)
{
	struct sl_core_status status;
	json_t *round = json_object_get(request, "round");
	sl_core_status(daemon->core, &status);
	if (!json_is_integer(round))
		return refuse("abort wants \"round\": a number");
	const char *why = cannot_abort(&status, json_integer_value(round));
	if (why != NULL)
		return refuse(why);
	sl_events_new(daemon, SL_EVENT_OPERATOR_ABORT)->event.round = status.t;
	return json_pack("{s:b, s:i, s:i}", "ok", 1, "round", (int)status.t, "attempt", (int)status.a);
}

static json_t *serve(struct client *client, const char *line, size_t bytes)
{
	struct sl_daemon *daemon = client->control->daemon;
	json_error_t error;
	json_t *request = json_loadb(line, bytes, JSON_REJECT_DUPLICATES, &error);
	const char *op = json_string_value(json_object_get(request, "op"));
	json_t *answer;
	if (op == NULL)
		answer = refuse("a request is one line: {\"op\": \"range\" | \"status\" | \"watch\" | "
				"\"abort\" | \"stop\", "
				"...}");
	else if (strcmp(op, "range") == 0)
		answer = op_range(daemon, request);
	else if (strcmp(op, "status") == 0)
		answer = op_status(daemon);
	else if (strcmp(op, "abort") == 0)
		answer = op_abort(daemon, request);
	else if (strcmp(op, "watch") == 0 || strcmp(op, "stop") == 0)
		answer = json_pack("{s:b}", "ok", 1);
	else
		answer = refuse("unknown op; there are range, status, watch, abort and stop");
	if (op != NULL && strcmp(op, "watch") == 0)
		client->watching = true;
	if (op != NULL && strcmp(op, "stop") == 0)
		sl_daemon_stop(daemon, 0);
	json_decref(request);
	return answer;
}

/* Lines in. */

static void take_lines(struct client *client)
{
	char *start = client->line, *end = client->line + client->used, *newline;
	while ((newline = memchr(start, '\n', (size_t)(end - start))) != NULL) {
		reply(client, serve(client, start, (size_t)(newline - start)));
		if (uv_is_closing((uv_handle_t *)&client->pipe))
			return;
		start = newline + 1;
	}
	client->used = (size_t)(end - start);
	memmove(client->line, start, client->used);
	if (client->used == sizeof client->line)
		drop(client); /* no request is that long */
}

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

/* Life. */

static int bind_path(int fd, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof address.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(address.sun_path, path);
	return bind(fd, (struct sockaddr *)&address, sizeof address);
}

static int listen_on(struct sl_control *control, struct sl_error *error)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t mask = umask(0177); /* 0600 from the first moment */
	unlink(control->path);	   /* ours: the state folder's lock is held */
	int rc = fd < 0 ? -1 : bind_path(fd, control->path);
	umask(mask);
	if (rc < 0 || listen(fd, 16) < 0) {
		int saved = errno;
		if (fd >= 0)
			close(fd);
		return sl_err_set(error, SL_ERR_IO, "control socket %s: %s", control->path, strerror(saved));
	}
	uv_pipe_open(&control->listener, fd);
	rc = uv_listen((uv_stream_t *)&control->listener, 16, on_connection);
	return rc == 0 ? SL_OK
		       : sl_err_set(error, SL_ERR_IO, "control socket %s: %s", control->path,
				    uv_strerror(rc));
}

int sl_control_open(struct sl_control **out, struct sl_daemon *daemon, const char *path,
		    struct sl_error *error)
{
	struct sl_control *control = calloc(1, sizeof *control);
	*out = control;
	if (control == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	control->daemon = daemon;
	snprintf(control->path, sizeof control->path, "%s", path);
	uv_pipe_init(&daemon->loop, &control->listener, 0);
	control->listener.data = control;
	int rc = listen_on(control, error);
	if (rc == SL_OK)
		sl_log_watch_set(daemon->log, on_record, control);
	return rc;
}

void sl_control_close(struct sl_control *control)
{
	sl_log_watch_set(control->daemon->log, NULL, NULL);
	unlink(control->path);
	uv_close((uv_handle_t *)&control->listener, NULL);
	while (control->clients != NULL)
		drop(control->clients);
}

void sl_control_free(struct sl_control *control)
{
	free(control);
}
