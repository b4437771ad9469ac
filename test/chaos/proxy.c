#include "test/chaos/proxy.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define READ_BYTES 65536u
#define QUEUE_BYTES (1u << 20) /* of a direction: what is read ahead of a slow reader */
#define NEVER UINT64_MAX

/* The faults of a direction, from -> to. Under the lock. */
struct way {
	uint32_t delay_ms;
	bool swallow, stall;
	uint64_t left; /* bytes until the connection ends; NEVER */
};

struct listener {
	uv_tcp_t tcp;
	struct proxy *proxy;
	uint32_t from, to; /* counted from 0 */
	uint16_t port;
};

/* Bytes on their way. */
struct piece {
	struct piece *next;
	uv_write_t write;
	struct stream *stream; /* that is written to */
	uint64_t due_ms;
	size_t size;
	char bytes[];
};

/* One end of a connection, and what is to be written to the other. */
struct stream {
	uv_tcp_t tcp;
	uv_timer_t later; /* fires when the first piece is due */
	struct connection *connection;
	struct stream *other;
	uint32_t from, to; /* of what is read here */
	struct piece *first, **end;
	size_t waiting; /* bytes read and not written */
	bool reading, ended;
	char room[READ_BYTES];
};

struct connection {
	struct connection *next;
	struct proxy *proxy;
	struct stream dialler, target;
	uv_connect_t connect;
	unsigned handles; /* that are not closed yet */
	bool closing;
};

struct proxy {
	uv_loop_t loop;
	pthread_t thread;
	pthread_mutex_t lock;
	uv_async_t wake;
	uint32_t learners;
	uint16_t real[PROXY_LEARNERS_MAX];
	struct way ways[PROXY_LEARNERS_MAX][PROXY_LEARNERS_MAX];
	bool reset[PROXY_LEARNERS_MAX][PROXY_LEARNERS_MAX];
	struct listener listeners[PROXY_LEARNERS_MAX][PROXY_LEARNERS_MAX];
	struct connection *connections;
	bool ending;
};

/* ---- the end of a connection ---- */

static void on_closed(uv_handle_t *handle)
{
	struct connection *c = ((struct stream *)handle->data)->connection;
	if (--c->handles > 0)
		return;
	for (struct connection **p = &c->proxy->connections; *p != NULL; p = &(*p)->next)
		if (*p == c) {
			*p = c->next;
			break;
		}
	for (struct stream *s = &c->dialler; s != NULL; s = s == &c->dialler ? &c->target : NULL)
		while (s->first != NULL) {
			struct piece *piece = s->first;
			s->first = piece->next;
			free(piece);
		}
	free(c);
}

static void close_connection(struct connection *c, bool reset)
{
	if (c->closing)
		return;
	c->closing = true;
	for (struct stream *s = &c->dialler; s != NULL; s = s == &c->dialler ? &c->target : NULL) {
		uv_close((uv_handle_t *)&s->later, on_closed);
		if (!reset || uv_tcp_close_reset(&s->tcp, on_closed) != 0)
			uv_close((uv_handle_t *)&s->tcp, on_closed);
	}
}

/* ---- bytes ---- */

static void flush(struct stream *s);
static void read_or_not(struct stream *s);

/* Close the connection once all that was read from an end that has closed is written: TLS ends both ways. */
static void finish(struct stream *s)
{
	if (s->ended && s->waiting == 0)
		close_connection(s->connection, false);
}

static void on_written(uv_write_t *write, int status)
{
	struct piece *piece = write->data;
	struct stream *s = piece->stream;
	s->waiting -= piece->size;
	free(piece);
	if (status < 0) {
		close_connection(s->connection, false);
	} else if (!s->connection->closing) {
		read_or_not(s);
		finish(s);
	}
}

static void on_later(uv_timer_t *timer)
{
	flush(timer->data);
}

/* Writes what is due of what was read from s. */
static void flush(struct stream *s)
{
	uint64_t now = uv_now(&s->connection->proxy->loop);
	while (!s->connection->closing && s->first != NULL && s->first->due_ms <= now) {
		struct piece *piece = s->first;
		uv_buf_t buffer = uv_buf_init(piece->bytes, (unsigned)piece->size);
		s->first = piece->next;
		if (s->first == NULL)
			s->end = &s->first;
		piece->write.data = piece;
		if (uv_write(&piece->write, (uv_stream_t *)&s->other->tcp, &buffer, 1, on_written) != 0) {
			free(piece);
			close_connection(s->connection, false);
			return;
		}
	}
	if (s->connection->closing)
		return;
	if (s->first != NULL)
		uv_timer_start(&s->later, on_later, s->first->due_ms - now, 0);
	finish(s);
}

/* Return how many of the bytes that were read are passed on, and after which delay; *last: the connection
 * ends behind them. */
static size_t apply_faults(struct stream *s, size_t size, uint32_t *delay_ms, bool *last)
{
	struct proxy *proxy = s->connection->proxy;
	pthread_mutex_lock(&proxy->lock);
	struct way *way = &proxy->ways[s->from][s->to];
	size_t passes = way->swallow ? 0 : size;
	*last = !way->swallow && way->left <= passes;
	if (*last) {
		passes = way->left;
		way->left = NEVER;
	} else if (way->left != NEVER && !way->swallow) {
		way->left -= passes;
	}
	*delay_ms = way->delay_ms;
	pthread_mutex_unlock(&proxy->lock);
	return passes;
}

static void take(struct stream *s, const char *bytes, size_t size)
{
	uint32_t delay_ms;
	bool last;
	size_t passes = apply_faults(s, size, &delay_ms, &last);
	struct piece *piece = passes > 0 ? malloc(sizeof *piece + passes) : NULL;
	if (piece != NULL) {
		*piece = (struct piece){.stream = s, .size = passes};
		memcpy(piece->bytes, bytes, passes);
		piece->due_ms = uv_now(&s->connection->proxy->loop) + delay_ms;
		*s->end = piece;
		s->end = &piece->next;
		s->waiting += passes;
	}
	s->ended = s->ended || last;
	flush(s);
	if (!s->connection->closing)
		read_or_not(s);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct stream *s = handle->data;
	(void)suggested;
	*buffer = uv_buf_init(s->room, sizeof s->room);
}

static void on_read(uv_stream_t *handle, ssize_t count, const uv_buf_t *buffer)
{
	struct stream *s = handle->data;
	if (count > 0) {
		take(s, buffer->base, (size_t)count);
	} else if (count < 0) {
		s->ended = true;
		uv_read_stop(handle);
		s->reading = false;
		flush(s);
	}
}

static void read_or_not(struct stream *s)
{
	struct proxy *proxy = s->connection->proxy;
	pthread_mutex_lock(&proxy->lock);
	bool wanted = !s->ended && !proxy->ways[s->from][s->to].stall && s->waiting < QUEUE_BYTES;
	pthread_mutex_unlock(&proxy->lock);
	if (wanted && !s->reading)
		uv_read_start((uv_stream_t *)&s->tcp, on_room, on_read);
	else if (!wanted && s->reading)
		uv_read_stop((uv_stream_t *)&s->tcp);
	s->reading = wanted;
}

/* ---- connections ---- */

static void on_connected(uv_connect_t *connect, int status)
{
	struct connection *c = connect->data;
	if (c->closing)
		return;
	if (status < 0) {
		close_connection(c, true);
		return;
	}
	read_or_not(&c->dialler);
	read_or_not(&c->target);
}

static void init_stream(struct connection *c, struct stream *s, struct stream *other, uint32_t from,
			uint32_t to)
{
	s->connection = c;
	s->other = other;
	s->from = from;
	s->to = to;
	s->end = &s->first;
	uv_tcp_init(&c->proxy->loop, &s->tcp);
	uv_timer_init(&c->proxy->loop, &s->later);
	s->tcp.data = s->later.data = s;
	c->handles += 2;
}

static struct sockaddr_in loopback(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

static void on_connection(uv_stream_t *server, int status)
{
	struct listener *l = server->data;
	struct proxy *proxy = l->proxy;
	struct connection *c = status < 0 ? NULL : calloc(1, sizeof *c);
	if (c == NULL)
		return;
	c->proxy = proxy;
	c->next = proxy->connections;
	proxy->connections = c;
	init_stream(c, &c->dialler, &c->target, l->from, l->to);
	init_stream(c, &c->target, &c->dialler, l->to, l->from);
	struct sockaddr_in address = loopback(proxy->real[l->to]);
	c->connect.data = c;
	if (uv_accept(server, (uv_stream_t *)&c->dialler.tcp) < 0 ||
	    uv_tcp_connect(&c->connect, &c->target.tcp, (const struct sockaddr *)&address, on_connected) <
		    0) {
		close_connection(c, true);
		return;
	}
	uv_tcp_nodelay(&c->dialler.tcp, 1);
	uv_tcp_nodelay(&c->target.tcp, 1);
}

/* ---- the thread ---- */

static void close_any(uv_handle_t *handle, void *context)
{
	(void)context;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static void end_all(struct proxy *proxy)
{
	for (struct connection *c = proxy->connections; c != NULL; c = c->next)
		close_connection(c, true);
	for (uint32_t i = 0; i < proxy->learners; i++)
		for (uint32_t j = 0; j < proxy->learners; j++)
			if (i != j)
				close_any((uv_handle_t *)&proxy->listeners[i][j].tcp, NULL);
	close_any((uv_handle_t *)&proxy->wake, NULL);
}

/* Faults have changed. */
static void on_wake(uv_async_t *wake)
{
	struct proxy *proxy = wake->data;
	pthread_mutex_lock(&proxy->lock);
	bool ending = proxy->ending;
	for (struct connection *c = proxy->connections; c != NULL; c = c->next)
		if (proxy->reset[c->dialler.from][c->dialler.to])
			close_connection(c, true);
	memset(proxy->reset, 0, sizeof proxy->reset);
	pthread_mutex_unlock(&proxy->lock);
	if (ending) {
		end_all(proxy);
		return;
	}
	for (struct connection *c = proxy->connections; c != NULL; c = c->next) {
		if (c->closing || !uv_is_readable((uv_stream_t *)&c->target.tcp))
			continue;
		read_or_not(&c->dialler);
		read_or_not(&c->target);
	}
}

static void *run(void *context)
{
	struct proxy *proxy = context;
	sigset_t broken; /* a reader that has gone is an error of the write here, and no signal */
	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &broken, NULL);
	uv_run(&proxy->loop, UV_RUN_DEFAULT);
	uv_loop_close(&proxy->loop);
	return NULL;
}

static void open_listener(struct proxy *proxy, uint32_t from, uint32_t to)
{
	struct listener *l = &proxy->listeners[from][to];
	struct sockaddr_in address = loopback(0);
	int size = sizeof address;
	*l = (struct listener){.proxy = proxy, .from = from, .to = to};
	uv_tcp_init(&proxy->loop, &l->tcp);
	l->tcp.data = l;
	if (uv_tcp_bind(&l->tcp, (const struct sockaddr *)&address, 0) != 0 ||
	    uv_listen((uv_stream_t *)&l->tcp, 64, on_connection) != 0 ||
	    uv_tcp_getsockname(&l->tcp, (struct sockaddr *)&address, &size) != 0)
		abort();
	l->port = ntohs(address.sin_port);
}

struct proxy *proxy_open(const uint16_t *real, uint32_t learners)
{
	struct proxy *proxy = calloc(1, sizeof *proxy);
	if (proxy == NULL || learners > PROXY_LEARNERS_MAX || uv_loop_init(&proxy->loop) != 0)
		abort();
	proxy->learners = learners;
	memcpy(proxy->real, real, learners * sizeof *real);
	pthread_mutex_init(&proxy->lock, NULL);
	uv_async_init(&proxy->loop, &proxy->wake, on_wake);
	proxy->wake.data = proxy;
	for (uint32_t i = 0; i < learners; i++)
		for (uint32_t j = 0; j < learners; j++) {
			proxy->ways[i][j].left = NEVER;
			if (i != j)
				open_listener(proxy, i, j);
		}
	if (pthread_create(&proxy->thread, NULL, run, proxy) != 0)
		abort();
	return proxy;
}

uint16_t proxy_port(const struct proxy *proxy, uint32_t from, uint32_t to)
{
	return proxy->listeners[from - 1][to - 1].port;
}

void proxy_close(struct proxy *proxy)
{
	pthread_mutex_lock(&proxy->lock);
	proxy->ending = true;
	pthread_mutex_unlock(&proxy->lock);
	uv_async_send(&proxy->wake);
	pthread_join(proxy->thread, NULL);
	pthread_mutex_destroy(&proxy->lock);
	free(proxy);
}

static void write_roster(const struct proxy *proxy, const struct cluster *c, uint32_t i, const char *whole)
{
	FILE *out = fopen(cluster_path(c, i, "roster.yaml"), "we");
	assert_non_null(out);
	for (uint32_t j = 1; j <= c->run.learners; j++) { /* a line: ... address: "127.0.0.1:PORT", ... */
		const char *port = strstr(whole, "127.0.0.1:") + strlen("127.0.0.1:");
		const char *end = strchr(port, '\n') + 1;
		fprintf(out, "%.*s%u%.*s", (int)(port - whole), whole,
			j == i ? c->ports[i - 1] : proxy_port(proxy, i, j),
			(int)(end - port - (ptrdiff_t)strspn(port, "0123456789")),
			port + strspn(port, "0123456789"));
		whole = end;
	}
	fclose(out);
}

struct proxy *proxy_between(struct cluster *c)
{
	char whole[8192];
	struct proxy *proxy = proxy_open(c->ports, c->run.learners);
	process_read(cluster_path(c, 0, "run/roster.yaml"), whole, sizeof whole);
	for (uint32_t i = 1; i <= c->run.learners; i++)
		write_roster(proxy, c, i, whole);
	c->usual = "neighbours=roster roster=roster.yaml";
	return proxy;
}

/* ---- faults ---- */

static struct way *begin(struct proxy *proxy, uint32_t from, uint32_t to)
{
	pthread_mutex_lock(&proxy->lock);
	return &proxy->ways[from - 1][to - 1];
}

static void apply(struct proxy *proxy)
{
	pthread_mutex_unlock(&proxy->lock);
	uv_async_send(&proxy->wake);
}

void proxy_delay(struct proxy *proxy, uint32_t from, uint32_t to, uint32_t ms)
{
	begin(proxy, from, to)->delay_ms = ms;
	apply(proxy);
}

void proxy_delay_all(struct proxy *proxy, uint32_t ms)
{
	for (uint32_t i = 1; i <= proxy->learners; i++)
		for (uint32_t j = 1; j <= proxy->learners; j++)
			proxy_delay(proxy, i, j, ms);
}

void proxy_swallow(struct proxy *proxy, uint32_t from, uint32_t to, bool on)
{
	begin(proxy, from, to)->swallow = on;
	apply(proxy);
}

void proxy_stall(struct proxy *proxy, uint32_t from, uint32_t to, bool on)
{
	begin(proxy, from, to)->stall = on;
	apply(proxy);
}

void proxy_truncate(struct proxy *proxy, uint32_t from, uint32_t to, uint64_t bytes)
{
	begin(proxy, from, to)->left = bytes;
	apply(proxy);
}

void proxy_reset(struct proxy *proxy, uint32_t a, uint32_t b)
{
	begin(proxy, a, b);
	proxy->reset[a - 1][b - 1] = proxy->reset[b - 1][a - 1] = true;
	apply(proxy);
}
