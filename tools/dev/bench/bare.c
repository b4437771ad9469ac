/* TLS with nothing around it, between two threads over loopback: the comparison for an exchange of daemons.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "daemon/net/tls.h"
#include "tools/dev/bench/bench.h"

#define BYTES ((size_t)256 << 20)
#define PIECE (256u << 10)
#define SOCKET_BUFFER (256 << 10)

struct end {
	struct sl_identity identity;
	struct sl_tls tls;
	int socket; /* -1: none */
	bool server, good;
	uint8_t piece[PIECE];
};

static double cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Connect two TCP sockets over loopback, as the links set theirs. */
static bool connect_ends(struct end ends[2])
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), size = SOCKET_BUFFER, one = 1;
	struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof name;
	ends[0].socket = socket(AF_INET, SOCK_STREAM, 0);
	bool good = bind(listener, (struct sockaddr *)&name, length) == 0 && listen(listener, 1) == 0 &&
		    getsockname(listener, (struct sockaddr *)&name, &length) == 0 &&
		    connect(ends[0].socket, (struct sockaddr *)&name, length) == 0;
	ends[1].socket = good ? accept(listener, NULL, NULL) : -1;
	close(listener);
	for (int i = 0; i < 2; i++) {
		setsockopt(ends[i].socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
		setsockopt(ends[i].socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
		setsockopt(ends[i].socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	}
	return ends[1].socket >= 0;
}

/* Send BYTES, or receive to the end, and close. */
static void *transfer(void *argument)
{
	struct end *end = argument;
	struct sl_tls_session shown = {.member = -1};
	SSL *ssl = SSL_new(end->tls.context);
	SSL_set_app_data(ssl, &shown);
	SSL_set_fd(ssl, end->socket);
	end->good = (end->server ? SSL_accept(ssl) : SSL_connect(ssl)) == 1;
	while (end->good && end->server && SSL_read(ssl, end->piece, PIECE) > 0)
		;
	for (size_t at = 0; end->good && !end->server && at < BYTES; at += PIECE)
		end->good = SSL_write(ssl, end->piece, PIECE) == (int)PIECE;
	SSL_shutdown(ssl);
	SSL_free(ssl);
	close(end->socket);
	return NULL;
}

static int measure(struct end ends[2], struct sl_error *error)
{
	pthread_t thread;
	if (!connect_ends(ends) || pthread_create(&thread, NULL, transfer, &ends[1]) != 0)
		return sl_err_set(error, SL_ERR_IO, "cannot connect two sockets over loopback");
	double begun = cpu_ns();
	transfer(&ends[0]);
	pthread_join(thread, NULL);
	sl_bench_sample((cpu_ns() - begun) / (double)BYTES, "ns a byte",
			"TLS with nothing around it, both ends");
	return ends[0].good && ends[1].good ? SL_OK : sl_err_set(error, SL_ERR_CRYPTO, "bare TLS failed");
}

static int identify(uint32_t i, struct end *end, struct sl_member *member, struct sl_error *error)
{
	char folder[16];
	snprintf(folder, sizeof folder, "bare-%u", i);
	snprintf(member->name, sizeof member->name, "site-%u", i);
	member->id = i + 1;
	int rc = sl_identity_create(folder, member->name, error);
	if (rc == SL_OK)
		rc = sl_identity_load(folder, &end->identity, error);
	if (rc == SL_OK)
		memcpy(member->pin, end->identity.pin, sizeof member->pin);
	return rc;
}

int sl_bench_tls(const struct sl_bench *bench, struct sl_error *error)
{
	static struct end ends[2];
	struct sl_member members[2] = {{.id = 0}};
	const struct sl_roster roster = {.members = members, .size = 2};
	int rc = SL_OK;
	memset(ends, 0, sizeof ends);
	ends[1].server = true;
	for (uint32_t i = 0; rc == SL_OK && i < 2; i++)
		rc = identify(i, &ends[i], &members[i], error);
	for (uint32_t i = 0; rc == SL_OK && i < 2; i++)
		rc = sl_tls_open(&ends[i].tls, &ends[i].identity, &roster, error);
	for (uint32_t i = 0; rc == SL_OK && i < bench->repeat; i++)
		rc = measure(ends, error);
	for (uint32_t i = 0; i < 2; i++) {
		sl_tls_close(&ends[i].tls);
		sl_identity_close(&ends[i].identity);
	}
	return rc;
}
