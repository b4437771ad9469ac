#include "daemon/runtime/http.h"

#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/runtime/http_connection.h"
#include "daemon/runtime/http_listen.h"
#include "daemon/runtime/http_origin.h"
#include "daemon/runtime/http_token.h"

#define TICK_MS 1000u
#define BEAT_TICKS 15u /* a comment to each stream, which shows clients that cannot be reached */
#define POLICY "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
#define HANDLES 3u
#define TARGET_BYTES_MAX 4096u /* path and query of a request */
#define KEYS_MAX 16u	       /* of a query */

struct sl_http_stream {
	struct sl_http_stream *next, **at;
	struct sl_http *http;
	struct MHD_Connection *connection;
	int fd;
	char *bytes;		 /* queued */
	size_t sent, used, room; /* in them */
	bool suspended, ending;
};

struct sl_http {
	struct MHD_Daemon *mhd;
	uv_poll_t poll;	  /* of its epoll descriptor */
	uv_timer_t due;	  /* of its own timeouts */
	uv_timer_t tick;  /* of slow connections, and of comments */
	uint32_t handles; /* open ones of these */
	uint32_t ticks;
	struct sl_http_connections connections;
	struct sl_http_stream *streams;
	struct sl_http_config config;
	char token[SL_HTTP_TOKEN_BYTES]; /* "": none */
	char host[SL_ADDRESS_BYTES];	 /* of `listen` */
	char url[SL_HTTP_URL_BYTES];
};

struct sl_http_request {
	struct sl_http *http;
	struct MHD_Connection *connection;
	const char *path;
	bool head, answered;
};

static void on_due(uv_timer_t *timer);

/* Run libmicrohttpd, and once more when it asks for it. It stops to accept at SL_HTTP_CONNECTIONS_MAX; after
 * a connection is closed, it accepts only from the next run on. */
static void run(struct sl_http *http)
{
	MHD_UNSIGNED_LONG_LONG ms;
	do {
		http->connections.closed = false;
		MHD_run(http->mhd);
	} while (http->connections.closed);
	if (MHD_get_timeout(http->mhd, &ms) == MHD_YES)
		uv_timer_start(&http->due, on_due, ms, 0);
	else
		uv_timer_stop(&http->due);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	run(poll->data);
}

static void on_due(uv_timer_t *timer)
{
	run(timer->data);
}

/* ---- answers ---- */

static void add_headers(struct MHD_Response *response, const char *content_type)
{
	const char *const headers[][2] = {{"Content-Type", content_type},
					  {"Content-Security-Policy", POLICY},
					  {"X-Content-Type-Options", "nosniff"},
					  {"X-Frame-Options", "DENY"},
					  {"Referrer-Policy", "no-referrer"},
					  {"Cross-Origin-Resource-Policy", "same-origin"},
					  {"Cross-Origin-Opener-Policy", "same-origin"},
					  {"Cache-Control", "no-store"}};
	for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
}

/* Queue `response`, which may be NULL: out of memory; the connection then ends. */
static void answer(struct sl_http_request *request, unsigned status, struct MHD_Response *response)
{
	assert(!request->answered);
	if (response == NULL)
		return;
	request->answered = MHD_queue_response(request->connection, status, response) == MHD_YES;
	MHD_destroy_response(response);
}

static struct MHD_Response *whole(const char *content_type, const void *bytes, size_t size)
{
	/* copied: the parameter is not const, but it is only read */
	struct MHD_Response *response =
		MHD_create_response_from_buffer(size, (void *)bytes, MHD_RESPMEM_MUST_COPY);
	if (response != NULL)
		add_headers(response, content_type);
	return response;
}

void sl_http_reply(struct sl_http_request *request, unsigned status, const char *content_type,
		   const void *bytes, size_t size)
{
	answer(request, status, whole(content_type, bytes, size));
}

/* Answer with an error: a line of text, and a header unless `header` is NULL. */
static void refuse(struct sl_http_request *request, unsigned status, const char *header, const char *value,
		   const char *line)
{
	struct MHD_Response *response = whole("text/plain; charset=utf-8", line, strlen(line));
	if (response != NULL && header != NULL)
		MHD_add_response_header(response, header, value);
	answer(request, status, response);
}

/* ---- streams ---- */

/* Have libmicrohttpd look at the stream again, once the loop gets to it. */
static void resume(struct sl_http_stream *stream)
{
	if (!stream->suspended)
		return;
	stream->suspended = false;
	MHD_resume_connection(stream->connection);
	uv_timer_start(&stream->http->due, on_due, 0, 0);
}

/* Make room for `size` more bytes. Return false if the client leaves too many unread, or memory is short. */
static bool make_room(struct sl_http_stream *stream, size_t size)
{
	size_t unread = stream->used - stream->sent;
	if (unread + size > SL_HTTP_QUEUE_BYTES)
		return false;
	if (stream->used + size <= stream->room)
		return true;
	if (unread > 0)
		memmove(stream->bytes, stream->bytes + stream->sent, unread);
	stream->sent = 0;
	stream->used = unread;
	if (unread + size <= stream->room)
		return true;
	size_t room = 2 * (unread + size);
	char *bytes = realloc(stream->bytes, room);
	if (bytes == NULL)
		return false;
	stream->bytes = bytes;
	stream->room = room;
	return true;
}

/* Disconnect a client at once: libmicrohttpd sees that the socket was shut down. */
static void drop(struct sl_http_stream *stream)
{
	stream->ending = true;
	stream->sent = stream->used = 0;
	shutdown(stream->fd, SHUT_RDWR);
	resume(stream);
}

static void queue(struct sl_http_stream *stream, const char *bytes, size_t size)
{
	if (stream->ending)
		return;
	if (!make_room(stream, size)) {
		drop(stream);
		return;
	}
	memcpy(stream->bytes + stream->used, bytes, size);
	stream->used += size;
	resume(stream);
}

/* Return the event as it is sent, to be freed; NULL: it is too large, or memory is short. */
static char *format(const char *data, size_t size, size_t *bytes)
{
	char *text = NULL;
	assert(memchr(data, '\n', size) == NULL);
	if (size > SL_HTTP_QUEUE_BYTES)
		return NULL; /* no stream could take it */
	int n = asprintf(&text, "data: %.*s\n\n", (int)size, data);
	*bytes = (size_t)n;
	return n < 0 ? NULL : text;
}

void sl_http_send(struct sl_http_stream *stream, const char *data, size_t size)
{
	size_t bytes;
	char *text = format(data, size, &bytes);
	if (text != NULL)
		queue(stream, text, bytes);
	else
		drop(stream);
	free(text);
}

void sl_http_publish(struct sl_http *http, const char *data, size_t size)
{
	size_t bytes;
	char *text = sl_http_listeners(http) > 0 ? format(data, size, &bytes) : NULL;
	for (struct sl_http_stream *s = http->streams; s != NULL && text != NULL; s = s->next)
		queue(s, text, bytes);
	free(text);
}

uint32_t sl_http_listeners(const struct sl_http *http)
{
	uint32_t count = 0;
	for (const struct sl_http_stream *s = http->streams; s != NULL; s = s->next)
		count += !s->ending;
	return count;
}

/* Give libmicrohttpd what is queued; suspend the connection while nothing is. */
static ssize_t read_stream(void *context, uint64_t position, char *bytes, size_t most)
{
	struct sl_http_stream *stream = context;
	size_t n = stream->used - stream->sent;
	(void)position;
	if (n == 0 && stream->ending)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (n == 0) {
		stream->suspended = true;
		MHD_suspend_connection(stream->connection);
		return 0;
	}
	if (n > most)
		n = most;
	memcpy(bytes, stream->bytes + stream->sent, n);
	stream->sent += n;
	return (ssize_t)n;
}

static void free_stream(void *context)
{
	struct sl_http_stream *stream = context;
	*stream->at = stream->next;
	if (stream->next != NULL)
		stream->next->at = stream->at;
	free(stream->bytes);
	free(stream);
}

static struct sl_http_stream *new_stream(struct sl_http_request *request)
{
	struct sl_http *http = request->http;
	struct sl_http_stream *stream = calloc(1, sizeof *stream);
	if (stream == NULL)
		return NULL;
	stream->http = http;
	stream->connection = request->connection;
	stream->fd = sl_http_connection_of(request->connection)->fd;
	stream->next = http->streams;
	stream->at = &http->streams;
	if (stream->next != NULL)
		stream->next->at = &stream->next;
	http->streams = stream;
	return stream;
}

struct sl_http_stream *sl_http_stream(struct sl_http_request *request)
{
	static const char type[] = "text/event-stream; charset=utf-8", first[] = "retry: 2000\n\n";
	if (request->head) {
		sl_http_reply(request, MHD_HTTP_OK, type, "", 0);
		return NULL;
	}
	struct sl_http_stream *stream = new_stream(request);
	if (stream == NULL)
		return NULL;
	struct MHD_Response *response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, SL_HTTP_QUEUE_BYTES, read_stream, stream, free_stream);
	if (response == NULL) {
		free_stream(stream);
		return NULL;
	}
	add_headers(response, type);
	answer(request, MHD_HTTP_OK, response);
	if (!request->answered)
		return NULL; /* destroyed, and the stream with it */
	sl_http_connection_of(request->connection)->streaming = true;
	queue(stream, first, sizeof first - 1);
	return stream;
}

/* ---- requests ---- */

const char *sl_http_path(const struct sl_http_request *request)
{
	return request->path;
}

const char *sl_http_query(const struct sl_http_request *request, const char *key)
{
	return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, key);
}

const char *sl_http_header(const struct sl_http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

static bool shows_token(const struct sl_http_request *request)
{
	const char *token = request->http->token, *shown = sl_http_header(request, "Authorization");
	if (shown != NULL && strncasecmp(shown, "Bearer ", 7) == 0)
		return sl_http_token_equal(token, shown + 7);
	shown = sl_http_query(request, "token");
	return shown != NULL && sl_http_token_equal(token, shown);
}

/* Answer a request that must not be served. */
static void check(struct sl_http_request *request, const char *method)
{
	const struct sl_http *http = request->http;
	const char *host = sl_http_header(request, "Host"), *origin = sl_http_header(request, "Origin"),
		   *length = sl_http_header(request, "Content-Length");
	bool secret = http->token[0] != '\0';
	if (strcmp(method, "GET") != 0 && !request->head)
		refuse(request, MHD_HTTP_METHOD_NOT_ALLOWED, "Allow", "GET, HEAD",
		       "only GET and HEAD are answered\n");
	else if ((length != NULL && strcmp(length, "0") != 0) ||
		 sl_http_header(request, "Transfer-Encoding") != NULL)
		refuse(request, MHD_HTTP_CONTENT_TOO_LARGE, NULL, NULL, "a request has no body here\n");
	else if (!secret && (host == NULL || !sl_http_origin_host(host, http->host)))
		refuse(request, MHD_HTTP_FORBIDDEN, NULL, NULL,
		       "the Host of the request is not this server: use localhost, or the configured "
		       "address\n");
	else if (origin != NULL && (host == NULL || !sl_http_origin_same(origin, host)))
		refuse(request, MHD_HTTP_FORBIDDEN, NULL, NULL, "pages of another origin are not answered\n");
	else if (secret && !shows_token(request))
		refuse(request, MHD_HTTP_UNAUTHORIZED, "WWW-Authenticate", "Bearer",
		       "a token is required: Authorization: Bearer TOKEN, or ?token=TOKEN\n");
}

/* Look at path and query before libmicrohttpd takes the keys out of it: with hundreds of them it runs out of
 * memory for the connection, and leaves it unanswered until it times out. */
static void *on_target(void *context, const char *target, struct MHD_Connection *mhd)
{
	static const char answer[] =
		"HTTP/1.1 414 URI Too Long\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	struct sl_http_connection *connection = sl_http_connection_of(mhd);
	size_t keys = 1;
	(void)context;
	for (const char *c = target; *c != '\0'; c++)
		keys += *c == '&';
	if (keys <= KEYS_MAX && strlen(target) <= TARGET_BYTES_MAX)
		return NULL;
	connection->refused = true;
	(void)!send(connection->fd, answer, sizeof answer - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	shutdown(connection->fd, SHUT_RDWR);
	return NULL;
}

/* Called once for the headers, then again when the request is complete. What must not be served is answered
 * at the first call, so that no body is read. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **seen)
{
	struct sl_http *http = context;
	struct sl_http_request request = {http, connection, url, strcmp(method, "HEAD") == 0, false};
	(void)version;
	(void)upload;
	assert(*upload_size == 0); /* no body gets past the check */
	if (sl_http_connection_of(connection)->refused)
		return MHD_NO;
	if (*seen == NULL) {
		*seen = http;
		check(&request, method);
		return MHD_YES;
	}
	sl_http_connection_of(connection)->serving = true;
	http->config.serve(http->config.context, &request);
	if (!request.answered)
		refuse(&request, MHD_HTTP_NOT_FOUND, NULL, NULL, "there is nothing here\n");
	return request.answered ? MHD_YES : MHD_NO;
}

static void on_answered(void *context, struct MHD_Connection *mhd, void **seen,
			enum MHD_RequestTerminationCode code)
{
	struct sl_http *http = context;
	struct sl_http_connection *connection = sl_http_connection_of(mhd);
	(void)seen;
	(void)code;
	if (connection != NULL) {
		connection->since = uv_now(http->config.loop);
		connection->serving = connection->streaming = false;
	}
}

/* ---- the timer ---- */

/* Return true if the client has closed the connection. While a stream is suspended, libmicrohttpd does not
 * look. */
static bool is_closed(int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLRDHUP};
	return poll(&polled, 1, 0) > 0;
}

/* libmicrohttpd ends a connection on which nothing happens; this ends one on which too little does. */
static void on_tick(uv_timer_t *timer)
{
	struct sl_http *http = timer->data;
	bool beat = ++http->ticks % BEAT_TICKS == 0;
	sl_http_connections_look(&http->connections);
	for (struct sl_http_stream *s = http->streams; s != NULL; s = s->next)
		if (is_closed(s->fd))
			drop(s);
		else if (beat)
			queue(s, ":\n\n", 3);
}

/* ---- opening and closing ---- */

static struct MHD_Daemon *start(struct sl_http *http, int fd)
{
	return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, http,
				MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
				SL_HTTP_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				(size_t)SL_HTTP_REQUEST_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
				http->config.seconds, MHD_OPTION_NOTIFY_CONNECTION,
				sl_http_connections_notify, &http->connections, MHD_OPTION_NOTIFY_COMPLETED,
				on_answered, http, MHD_OPTION_URI_LOG_CALLBACK, on_target, http,
				MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
}

static void on_closed(uv_handle_t *handle)
{
	struct sl_http *http = handle->data;
	if (--http->handles == 0)
		free(http);
}

static void watch(struct sl_http *http)
{
	uv_loop_t *loop = http->config.loop;
	int fd = MHD_get_daemon_info(http->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
	uv_timer_init(loop, &http->due);
	uv_timer_init(loop, &http->tick);
	int rc = uv_poll_init(loop, &http->poll, fd);
	assert(rc == 0); /* an open descriptor that epoll takes */
	(void)rc;
	http->poll.data = http->due.data = http->tick.data = http;
	http->handles = HANDLES;
	uv_timer_start(&http->tick, on_tick, TICK_MS, TICK_MS);
	uv_poll_start(&http->poll, UV_READABLE, on_readable);
}

int sl_http_open(struct sl_http **out, const struct sl_http_config *config, struct sl_error *error)
{
	struct sl_http *http = calloc(1, sizeof *http);
	int fd = -1;
	*out = NULL;
	if (http == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	http->config = *config;
	if (http->config.seconds == 0)
		http->config.seconds = SL_HTTP_SECONDS;
	http->connections =
		(struct sl_http_connections){.loop = config->loop, .seconds = http->config.seconds};
	snprintf(http->token, sizeof http->token, "%s", config->token ? config->token : "");
	int rc = sl_http_listen(config->listen, config->token != NULL ? NULL : config->need, &fd, http->host,
				http->url, error);
	if (rc == SL_OK && (http->mhd = start(http, fd)) == NULL)
		rc = sl_err_set(error, SL_ERR_IO, "cannot answer on %s: %s", config->listen, strerror(errno));
	if (rc != SL_OK) {
		if (fd >= 0)
			close(fd);
		free(http);
		return rc;
	}
	watch(http);
	*out = http;
	return SL_OK;
}

void sl_http_close(struct sl_http *http)
{
	if (http == NULL)
		return;
	for (struct sl_http_stream *s = http->streams; s != NULL; s = s->next)
		resume(s);
	uv_close((uv_handle_t *)&http->poll, on_closed);
	uv_close((uv_handle_t *)&http->due, on_closed);
	uv_close((uv_handle_t *)&http->tick, on_closed);
	MHD_stop_daemon(http->mhd);
}

const char *sl_http_url(const struct sl_http *http)
{
	return http->url;
}
