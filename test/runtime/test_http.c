/* Requests over a socket, against a server on a loop that the test turns. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/runtime/http.h"
#include "daemon/runtime/http_origin.h"
#include "daemon/runtime/http_token.h"
#include "test/lib/process.h"
#include "test/lib/test.h"

#define SECRET "0123456789abcdef0123456789abcdef"
#define ANSWER_BYTES (64u << 10)

static uv_loop_t loop;
static struct sl_http *http;
static uint32_t served;
static char got[ANSWER_BYTES];

static void serve(void *context, struct sl_http_request *request)
{
	const char *path = sl_http_path(request), *name = sl_http_query(request, "name");
	assert_ptr_equal(context, &served);
	served++;
	if (strcmp(path, "/hello") == 0)
		sl_http_reply(request, 200, "text/plain", name ? name : "world", name ? strlen(name) : 5);
	else if (strcmp(path, "/events") == 0) {
		struct sl_http_stream *stream = sl_http_stream(request);
		if (stream != NULL)
			sl_http_send(stream, "first", 5);
	}
}

static unsigned seconds; /* of the server that is opened; 0: as usual */
static uint8_t client;	 /* its address is 127.0.0.client */

static int open_with(struct sl_http **out, const char *listen, const char *token, struct sl_error *error)
{
	struct sl_http_config config = {.loop = &loop,
					.listen = listen,
					.token = token,
					.need = "set the token",
					.seconds = seconds,
					.serve = serve,
					.context = &served};
	return sl_http_open(out, &config, error);
}

static void open_server(const char *token)
{
	struct sl_error error = {0};
	assert_ok(open_with(&http, "127.0.0.1:0", token, &error), error);
}

static int setup(void **state)
{
	(void)state;
	http = NULL;
	served = seconds = 0;
	client = 1;
	return uv_loop_init(&loop);
}

static int teardown(void **state)
{
	(void)state;
	sl_http_close(http);
	uv_run(&loop, UV_RUN_DEFAULT);
	return uv_loop_close(&loop);
}

/* ---- a client ---- */

static int dial(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000000u + client)};
	assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
	at.sin_port = htons((uint16_t)atoi(strrchr(sl_http_url(http), ':') + 1));
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Turn the loop and read into `got` until it has `text`, or, for NULL, until the server closes. */
static void hear(int fd, const char *text)
{
	double until = process_now() + PATIENCE_S;
	size_t used = 0;
	ssize_t n = 1;
	got[0] = '\0';
	while (text != NULL ? strstr(got, text) == NULL : n != 0) {
		if (process_now() > until || n == 0 || used == sizeof got - 1)
			fail_msg("waiting for '%s', this came: %s", text ? text : "the end", got);
		uv_run(&loop, UV_RUN_NOWAIT);
		poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 1);
		n = recv(fd, got + used, sizeof got - 1 - used, MSG_DONTWAIT);
		used += n > 0 ? (size_t)n : 0;
		got[used] = '\0';
	}
}

/* Send a request in lines "A|B|", and read the answer. */
static const char *ask(const char *request)
{
	char text[8192] = "";
	int fd = dial();
	for (const char *c = request; *c != '\0'; c++)
		strncat(text, *c == '|' ? "\r\n" : c, *c == '|' ? 2 : 1);
	strcat(text, "Connection: close\r\n\r\n");
	say(fd, text);
	hear(fd, NULL);
	close(fd);
	return got;
}

static void expect_status(int status)
{
	char line[32];
	snprintf(line, sizeof line, "HTTP/1.1 %d ", status);
	if (strncmp(got, line, strlen(line)) != 0)
		fail_msg("status %d expected: %s", status, got);
}

static void expect_in(const char *text)
{
	if (strstr(got, text) == NULL)
		fail_msg("'%s' is missing: %s", text, got);
}

static void expect_headers(void)
{
	static const char *const headers[] = {
		("\r\nContent-Security-Policy: default-src 'none'; base-uri 'none'; form-action 'none'; "
		 "frame-ancestors 'none'\r\n"),
		"\r\nX-Content-Type-Options: nosniff\r\n",
		"\r\nX-Frame-Options: DENY\r\n",
		"\r\nReferrer-Policy: no-referrer\r\n",
		"\r\nCross-Origin-Resource-Policy: same-origin\r\n",
		"\r\nCross-Origin-Opener-Policy: same-origin\r\n",
		"\r\nCache-Control: no-store\r\n"};
	for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
		expect_in(headers[i]);
}

/* ---- answers ---- */

struct row {
	const char *token, *request; /* '|' ends a line */
	int status;
	uint32_t served;
};

static void expect_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		served = 0;
		open_server(rows[i].token);
		ask(rows[i].request);
		expect_status(rows[i].status);
		expect_headers();
		assert_int_equal(served, rows[i].served);
		sl_http_close(http);
		http = NULL;
		uv_run(&loop, UV_RUN_DEFAULT);
	}
}

TEST_WITH(requests, setup, teardown)
{
	static const struct row rows[] = {
		{NULL, "GET /hello HTTP/1.1|Host: localhost|", 200, 1},
		{NULL, "GET /hello?name=ana HTTP/1.1|Host: localhost:80|", 200, 1},
		{NULL, "HEAD /hello HTTP/1.1|Host: localhost|", 200, 1},
		{NULL, "HEAD /events HTTP/1.1|Host: localhost|", 200, 1},
		{NULL, "GET / HTTP/1.1|Host: localhost|", 404, 1},
		{NULL, "GET /../../etc/passwd HTTP/1.1|Host: localhost|", 404, 1},
		{NULL, "POST /hello HTTP/1.1|Host: localhost|Content-Length: 4|", 405, 0},
		{NULL, "OPTIONS * HTTP/1.1|Host: localhost|", 405, 0},
		{NULL, "GET /hello HTTP/1.1|Host: localhost|Content-Length: 4|", 413, 0},
		{NULL, "GET /hello HTTP/1.1|Host: localhost|Transfer-Encoding: chunked|", 413, 0},
		/* a name that its owner lets point here */
		{NULL, "GET /hello HTTP/1.1|Host: evil.example|", 403, 0},
		{NULL, "GET /hello HTTP/1.1|Host: localhost.evil.example|", 403, 0},
		{NULL, "GET /hello HTTP/1.0|", 403, 0},
		/* pages of others */
		{NULL, "GET /hello HTTP/1.1|Host: localhost|Origin: http://localhost|", 200, 1},
		{NULL, "GET /hello HTTP/1.1|Host: localhost|Origin: http://evil.example|", 403, 0},
		{NULL, "GET /hello HTTP/1.1|Host: localhost|Origin: null|", 403, 0},
		{SECRET, "GET /hello?token=" SECRET " HTTP/1.1|Host: ana|Origin: http://evil.example|", 403,
		 0},
		/* the token */
		{SECRET, "GET /hello HTTP/1.1|Host: localhost|", 401, 0},
		{SECRET, "GET /hello HTTP/1.1|Host: ana.example|Authorization: Bearer " SECRET "|", 200, 1},
		{SECRET, "GET /hello?token=" SECRET " HTTP/1.1|Host: ana.example|", 200, 1},
		{SECRET, "GET /hello HTTP/1.1|Host: localhost|Authorization: Bearer " SECRET "0|", 401, 0},
		{SECRET, "GET /hello?token= HTTP/1.1|Host: localhost|", 401, 0},
		{SECRET, "GET /hello?token=" SECRET " HTTP/1.1|Host: a|Authorization: Bearer wrong|", 401, 0},
	};
	expect_rows(rows, sizeof rows / sizeof rows[0]);
}

TEST_WITH(bodies, setup, teardown)
{
	open_server(NULL);
	ask("GET /hello?name=a%20b HTTP/1.1|Host: localhost|");
	assert_string_equal(strstr(got, "\r\n\r\n"), "\r\n\r\na b");
	ask("HEAD /hello HTTP/1.1|Host: localhost|");
	expect_in("\r\nContent-Length: 5\r\n");
	assert_string_equal(strstr(got, "\r\n\r\n"), "\r\n\r\n");
	ask("POST /hello HTTP/1.1|Host: localhost|");
	expect_in("\r\nAllow: GET, HEAD\r\n");
}

TEST_WITH(connections_are_kept, setup, teardown)
{
	static const char request[] = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n";
	open_server(NULL);
	int fd = dial();
	for (uint32_t i = 1; i <= 3; i++) {
		say(fd, request);
		hear(fd, "world");
		assert_int_equal(served, i);
	}
	close(fd);
}

TEST_WITH(long_requests_are_refused, setup, teardown)
{
	static char text[SL_HTTP_REQUEST_BYTES + 4096];
	open_server(NULL);
	int fd = dial();
	int n = snprintf(text, sizeof text, "GET /hello HTTP/1.1\r\nHost: localhost\r\nX: ");
	memset(text + n, 'x', sizeof text - (size_t)n - 1);
	say(fd, text);
	hear(fd, "\r\n\r\n");
	assert_int_equal(served, 0);
	assert_memory_equal(got, "HTTP/1.1 4", 10);
	close(fd);
}

/* A query of many keys is refused at once: the patience of the test is shorter than that of the server. */
TEST_WITH(long_queries_are_refused, setup, teardown)
{
	static const struct {
		const char *part; /* of the query: `times` in a row */
		size_t times;
		int status;
	} cases[] = {{"a&", 15, 200},	{"a&", 16, 414},  {"a=1&", 16, 414}, {"a&", 5000, 414},
		     {"a=&", 700, 414}, {"x", 4089, 200}, {"x", 4090, 414},  {"x", 20000, 414}};
	static char text[SL_HTTP_REQUEST_BYTES];
	open_server(NULL);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int fd = dial(), n = snprintf(text, sizeof text, "GET /hello?");
		for (size_t k = 0; k < cases[i].times; k++)
			n += snprintf(text + n, sizeof text - (size_t)n, "%s", cases[i].part);
		snprintf(text + n, sizeof text - (size_t)n,
			 " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
		say(fd, text);
		hear(fd, NULL);
		expect_status(cases[i].status);
		close(fd);
	}
	assert_int_equal(served, 2);
}

TEST_WITH(connections_are_limited, setup, teardown)
{
	int fds[SL_HTTP_CONNECTIONS_MAX];
	open_server(NULL);
	for (uint32_t i = 0; i < SL_HTTP_CONNECTIONS_MAX; i++) {
		fds[i] = dial();
		say(fds[i], "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
		hear(fds[i], "data: first");
	}
	int more = dial(); /* accepted when another has ended */
	say(more, "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
	for (uint32_t i = 0; i < 100; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
	assert_int_equal(recv(more, got, sizeof got, MSG_DONTWAIT), -1);
	assert_int_equal(sl_http_listeners(http), SL_HTTP_CONNECTIONS_MAX);
	for (uint32_t i = 0; i < SL_HTTP_CONNECTIONS_MAX; i++)
		close(fds[i]);
	hear(more, "world");
	close(more);
}

TEST_WITH(connections_are_accepted_after_all_have_ended, setup, teardown)
{
	int fds[SL_HTTP_CONNECTIONS_MAX];
	open_server(NULL);
	for (uint32_t i = 0; i < SL_HTTP_CONNECTIONS_MAX; i++) {
		fds[i] = dial();
		say(fds[i], "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
		hear(fds[i], "world");
	}
	for (uint32_t i = 0; i < SL_HTTP_CONNECTIONS_MAX; i++)
		close(fds[i]);
	ask("GET /hello HTTP/1.1|Host: localhost|");
	expect_status(200);
}

/* Bytes come all the time, but the request never ends. */
TEST_WITH(slow_requests_are_cut, setup, teardown)
{
	double until = process_now() + PATIENCE_S;
	seconds = 1;
	open_server(NULL);
	int fd = dial(), stream = dial();
	say(stream, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
	hear(stream, "data: first");
	while (process_now() < until && send(fd, "G", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1) {
		uv_run(&loop, UV_RUN_NOWAIT);
		process_look_again();
	}
	assert_true(process_now() < until);
	sl_http_publish(http, "a stream has no such limit", 26);
	hear(stream, "no such limit");
	close(fd);
	close(stream);
}

/* As above, of a client that sends nothing more: it need not answer for a whole minute. */
TEST_WITH(half_requests_have_less_time, setup, teardown)
{
	seconds = 36000;
	open_server(NULL);
	int fd = dial();
	say(fd, "GET /hello HTTP/1.1\r\nHost: ");
	hear(fd, NULL);
	assert_string_equal(got, "");
	close(fd);
}

static int dial_half(void)
{
	int fd = dial();
	say(fd, "GET /hello?token=" SECRET " HTTP/1.1\r\n");
	uv_run(&loop, UV_RUN_NOWAIT);
	return fd;
}

/* They stay open, and are within their time. */
TEST_WITH(half_requests_leave_room, setup, teardown)
{
	enum { CLIENTS = 5, EACH = SL_HTTP_CONNECTIONS_MAX + 8 };
	int fds[CLIENTS * EACH], all = 0;
	seconds = 36000;
	open_server(SECRET);
	int mine = dial_half();
	for (client = 2; client < 2 + CLIENTS; client++) {
		for (int i = 0; i < EACH; i++)
			fds[all++] = dial_half();
		if (client > 2)
			continue;
		say(mine, "Host: a\r\n\r\n"); /* the oldest of all, and the only one of its address */
		hear(mine, "world");
	}
	client = 1;
	ask("GET /hello?token=" SECRET " HTTP/1.1|Host: a|");
	expect_status(200);
	for (int i = 0; i < all; i++)
		close(fds[i]);
	close(mine);
}

TEST_WITH(half_requests_of_one_address, setup, teardown)
{
	int fds[SL_HTTP_ADDRESS_MAX + 1];
	seconds = 36000;
	open_server(SECRET);
	for (uint32_t more = 0; more <= 1; more++) {
		for (uint32_t i = 0; i < SL_HTTP_ADDRESS_MAX + more; i++)
			fds[i] = dial_half();
		if (more > 0)
			hear(fds[0], NULL); /* the oldest is closed */
		for (uint32_t i = more; i < SL_HTTP_ADDRESS_MAX + more; i++) {
			say(fds[i], "Host: a\r\n\r\n");
			hear(fds[i], "world");
		}
		for (uint32_t i = 0; i < SL_HTTP_ADDRESS_MAX + more; i++)
			close(fds[i]);
	}
}

TEST_WITH(closed_requests_give_room, setup, teardown)
{
	seconds = 36000; /* it does not cut them */
	open_server(NULL);
	for (uint32_t i = 0; i < SL_HTTP_CONNECTIONS_MAX; i++) {
		int fd = dial();
		say(fd, "GET /hello HTTP/1.1\r\nHost: ");
		close(fd);
	}
	ask("GET /hello HTTP/1.1|Host: localhost|");
	expect_status(200);
}

/* ---- streams ---- */

static int subscribe(void)
{
	int fd = dial();
	say(fd, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
	hear(fd, "data: first\n\n");
	expect_status(200);
	expect_headers();
	expect_in("\r\nContent-Type: text/event-stream; charset=utf-8\r\n");
	return fd;
}

TEST_WITH(streams, setup, teardown)
{
	open_server(NULL);
	assert_int_equal(sl_http_listeners(http), 0);
	int a = subscribe(), b = subscribe();
	assert_int_equal(sl_http_listeners(http), 2);
	sl_http_publish(http, "{\"n\":1}", 7);
	sl_http_publish(http, "{\"n\":2}", 7);
	hear(a, "data: {\"n\":2}\n\n");
	expect_in("data: {\"n\":1}\n\n");
	hear(b, "data: {\"n\":2}\n\n");
	sl_http_publish(http, "last", 4);
	hear(a, "data: last\n\n");
	hear(b, "data: last\n\n");
	close(a);
	close(b);
}

/* Before the comment that would show it. */
TEST_WITH(closed_streams_give_room, setup, teardown)
{
	double until = process_now() + PATIENCE_S;
	open_server(NULL);
	int here = subscribe(), gone = subscribe();
	close(gone);
	while (sl_http_listeners(http) == 2 && process_now() < until)
		uv_run(&loop, UV_RUN_ONCE);
	assert_int_equal(sl_http_listeners(http), 1);
	assert_int_equal(recv(here, got, sizeof got, MSG_DONTWAIT), -1);
	close(here);
}

TEST_WITH(clients_that_do_not_read_are_dropped, setup, teardown)
{
	static char line[1u << 20];
	memset(line, 'x', sizeof line);
	open_server(NULL);
	int slow = subscribe(), quick = subscribe();
	uint64_t heard = 0, said = 0;
	while (sl_http_listeners(http) == 2) {
		if (said > 64 * sizeof line)
			fail_msg("%llu bytes are queued for a client", (unsigned long long)said);
		sl_http_publish(http, line, sizeof line);
		said += sizeof line;
		double until = process_now() + PATIENCE_S;
		while (heard < said && process_now() < until) {
			uv_run(&loop, UV_RUN_NOWAIT);
			ssize_t n = recv(quick, got, sizeof got, MSG_DONTWAIT);
			heard += n > 0 ? (size_t)n : 0;
		}
		assert_true(heard >= said);
	}
	close(slow);
	sl_http_publish(http, "still there", 11);
	hear(quick, "still there");
	close(quick);
}

/* ---- addresses and tokens ---- */

TEST_WITH(addresses, setup, teardown)
{
	struct sl_http *none;
	struct sl_error error = {0};
	assert_int_equal(open_with(&none, "0.0.0.0:0", NULL, &error), SL_ERR_INVALID);
	assert_string_equal(error.text,
			    "other machines can reach 0.0.0.0:0, which then needs a token: set the "
			    "token, or listen on 127.0.0.1");
	assert_int_equal(open_with(&none, "9464", NULL, &error), SL_ERR_INVALID);
	assert_int_equal(open_with(&none, "127.0.0.1:http", NULL, &error), SL_ERR_INVALID);
	open_server(SECRET);
	assert_int_equal(open_with(&none, sl_http_url(http) + strlen("http://"), NULL, &error), SL_ERR_BUSY);
	assert_null(none);
}

TEST_WITH(beyond_loopback_with_a_token, setup, teardown)
{
	struct sl_error error = {0};
	assert_int_equal(open_with(&http, "0.0.0.0:0", SECRET, &error), SL_OK);
	ask("GET /hello HTTP/1.1|Host: ana|");
	expect_status(401);
	expect_in("\r\nWWW-Authenticate: Bearer\r\n");
	ask("GET /hello HTTP/1.1|Host: ana|Authorization: bearer " SECRET "|");
	expect_status(200);
}

TEST(hosts)
{
	static const struct {
		const char *header;
		bool accepted;
	} rows[] = {{"localhost", true},      {"LOCALHOST:1", true},
		    {"127.0.0.1", true},      {"127.1.2.3:99", true},
		    {"[::1]", true},	      {"[::1]:99", true},
		    {"ana.example:99", true}, {"", false},
		    {"localhost.", false},    {"128.0.0.1", false},
		    {"[::2]", false},	      {"127.0.0.1.evil", false},
		    {"evil", false},	      {"evil:127", false},
		    {"ana.example.x", false}, {"[localhost", true},
		    {"127.0.0.1@evil", false}};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (sl_http_origin_host(rows[i].header, "ana.example") != rows[i].accepted)
			fail_msg("Host: %s", rows[i].header);
	assert_true(sl_http_origin_same("http://a:1", "A:1"));
	assert_true(sl_http_origin_same("https://a", "a"));
	assert_false(sl_http_origin_same("http://a:1", "a"));
	assert_false(sl_http_origin_same("ftp://a", "a"));
	assert_false(sl_http_origin_same("http://", "a"));
}

TEST(tokens)
{
	static const struct {
		const char *content;
		mode_t mode;
		int code;
	} rows[] = {{SECRET "\n", 0600, SL_OK},
		    {SECRET, 0400, SL_OK},
		    {SECRET "\r\nmore", 0600, SL_OK},
		    {SECRET, 0640, SL_ERR_INVALID},
		    {"0123456789abcde", 0600, SL_ERR_INVALID},
		    {"", 0600, SL_ERR_INVALID},
		    {"0123456789 abcdefgh", 0600, SL_ERR_INVALID}};
	char folder[64], path[96], token[SL_HTTP_TOKEN_BYTES], text[400];
	struct sl_error error;
	process_folder(folder, sizeof folder);
	snprintf(path, sizeof path, "%s/token", folder);
	assert_int_equal(sl_http_token_read(path, token, &error), SL_ERR_IO);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		unlink(path);
		process_write(path, rows[i].content);
		chmod(path, rows[i].mode);
		assert_int_equal(sl_http_token_read(path, token, &error), rows[i].code);
		if (rows[i].code == SL_OK)
			assert_string_equal(token, SECRET);
	}
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	unlink(path);
	process_write(path, text); /* longer than a token */
	chmod(path, 0600);
	assert_int_equal(sl_http_token_read(path, token, &error), SL_ERR_INVALID);
	process_remove(folder);
	assert_true(sl_http_token_equal(SECRET, SECRET));
	assert_false(sl_http_token_equal(SECRET, ""));
}
