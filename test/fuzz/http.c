/* Send requests to the HTTP server: with a token, or without. Whatever comes, a good request is answered
 * afterwards. */
#include <arpa/inet.h>
#include <assert.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/runtime/http.h"
#include "test/fuzz/fuzz.h"

#define GOOD "GET /healthz?token=" TOKEN " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
#define TOKEN "0123456789abcdef"

static uv_loop_t loop;
static struct sl_http *servers[2];

static void serve(void *context, struct sl_http_request *request)
{
	const char *path = sl_http_path(request), *name = sl_http_query(request, "name");
	(void)context;
	assert(path != NULL);
	if (strcmp(path, "/events") == 0)
		sl_http_stream(request);
	else
		sl_http_reply(request, 200, "text/plain", name != NULL ? name : "",
			      name != NULL ? strlen(name) : 0);
}

static void open_servers(void)
{
	struct sl_error error;
	uv_loop_init(&loop);
	for (int i = 0; i < 2; i++) {
		struct sl_http_config config = {.loop = &loop,
						.listen = "127.0.0.1:0",
						.token = i == 0 ? NULL : TOKEN,
						.need = "a token",
						.serve = serve};
		if (sl_http_open(&servers[i], &config, &error) != SL_OK)
			abort();
	}
}

static int dial(const struct sl_http *http)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct linger reset = {.l_onoff = 1}; /* or the ports run out */
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	at.sin_port = htons((uint16_t)atoi(strrchr(sl_http_url(http), ':') + 1));
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at) != 0)
		abort();
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
	return fd;
}

/* Turn the loop and read. With `all`, until the server closes; else as long as something happens. */
static size_t hear(int fd, char *text, size_t size, int all)
{
	size_t used = 0;
	for (int idle = 0; idle < (all ? 100000 : 3);) {
		uv_run(&loop, UV_RUN_NOWAIT);
		poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, all);
		ssize_t n = recv(fd, text + used, size - used, MSG_DONTWAIT);
		if (n == 0 || used == size)
			break;
		used += n > 0 ? (size_t)n : 0;
		idle += n < 0;
	}
	return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	static char text[1 << 16];
	static uint64_t inputs;
	if (count == 0 || count > 40000)
		return 0;
	if (servers[0] == NULL)
		open_servers();
	const struct sl_http *http = servers[bytes[0] & 1];
	int fd = dial(http);
	(void)!send(fd, bytes + 1, count - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	sl_http_publish(servers[bytes[0] & 1], "{}", 2); /* also shows streams that were closed */
	hear(fd, text, sizeof text, 0);
	close(fd);
	if (inputs++ % 64 != 0)
		return 0;
	fd = dial(http);
	(void)!send(fd, GOOD, sizeof GOOD - 1, MSG_NOSIGNAL);
	size_t used = hear(fd, text, sizeof text, 1);
	assert(used > 12 && memcmp(text, "HTTP/1.1 200", 12) == 0);
	close(fd);
	return 0;
}
