#include "tools/dev/bench/bare.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/dev/bench/bench.h"

#define PIECE (256u << 10)
#define SOCKET_BUFFER (256 << 10)

void sl_bare_insist(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static double cpu_ns(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e9 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e3;
}

/* A pair of TCP sockets over loopback, as the links set theirs. */
static void connect_pair(int ends[2])
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), size = SOCKET_BUFFER, one = 1;
	struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof name;
	sl_bare_insist(bind(listener, (struct sockaddr *)&name, length) == 0 && listen(listener, 1) == 0,
		       "listen");
	getsockname(listener, (struct sockaddr *)&name, &length);
	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	sl_bare_insist(connect(ends[0], (struct sockaddr *)&name, length) == 0, "connect");
	ends[1] = accept(listener, NULL, NULL);
	sl_bare_insist(ends[1] >= 0, "accept");
	close(listener);
	for (int i = 0; i < 2; i++) {
		setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
		setsockopt(ends[i], SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
		setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	}
}

static double run_both(void (*here)(int socket, void *argument), void (*there)(int socket, void *argument),
		       void *argument)
{
	int ends[2], report[2];
	double theirs = 0;
	connect_pair(ends);
	sl_bare_insist(pipe(report) == 0, "pipe");
	fflush(stdout);
	pid_t child = fork();
	sl_bare_insist(child >= 0, "fork");
	double start = cpu_ns();
	if (child == 0)
		there(ends[1], argument);
	else
		here(ends[0], argument);
	double ours = cpu_ns() - start;
	if (child == 0) {
		sl_bare_insist(write(report[1], &ours, sizeof ours) == sizeof ours, "report");
		_exit(0);
	}
	sl_bare_insist(read(report[0], &theirs, sizeof theirs) == sizeof theirs, "report");
	waitpid(child, NULL, 0);
	for (int i = 0; i < 2; i++) {
		close(ends[i]);
		close(report[i]);
	}
	return ours + theirs;
}

struct load {
	size_t bytes;
	const struct sl_tls *dialler, *acceptor;
	uint8_t piece[PIECE];
};

static SSL *handshake(int socket, const struct sl_tls *tls, bool server)
{
	SSL *ssl = SSL_new(tls->context);
	struct sl_tls_session shown = {.member = -1};
	SSL_set_app_data(ssl, &shown);
	SSL_set_fd(ssl, socket);
	sl_bare_insist((server ? SSL_accept(ssl) : SSL_connect(ssl)) == 1, "handshake");
	return ssl;
}

static void tls_out(int socket, void *argument)
{
	struct load *load = argument;
	SSL *ssl = handshake(socket, load->dialler, false);
	for (size_t at = 0; at < load->bytes; at += sizeof load->piece)
		sl_bare_insist(SSL_write(ssl, load->piece, sizeof load->piece) == (int)sizeof load->piece,
			       "SSL_write");
	SSL_shutdown(ssl);
	SSL_free(ssl);
}

static void tls_in(int socket, void *argument)
{
	struct load *load = argument;
	SSL *ssl = handshake(socket, load->acceptor, true);
	while (SSL_read(ssl, load->piece, sizeof load->piece) > 0)
		;
	SSL_free(ssl);
}

double sl_bare_tls(const struct sl_bare_pair *pair, size_t bytes)
{
	static struct load load;
	load = (struct load){.bytes = bytes, .dialler = &pair->tls[0], .acceptor = &pair->tls[1]};
	memset(load.piece, 7, sizeof load.piece);
	return run_both(tls_out, tls_in, &load);
}

/* ---- identities ---- */

static void identify(struct sl_bare_pair *pair, uint32_t i)
{
	struct sl_error error = {0};
	struct sl_member *m = &pair->members[i];
	char folder[PATH_MAX + 16];
	snprintf(folder, sizeof folder, "%s/%u", pair->folder, i);
	m->id = i + 1;
	snprintf(m->name, sizeof m->name, "site-%u", i);
	sl_bare_insist(sl_identity_create(folder, m->name, &error) == SL_OK &&
			       sl_identity_load(folder, &pair->identities[i], &error) == SL_OK,
		       error.text);
	memcpy(m->pin, pair->identities[i].pin, sizeof m->pin);
}

void sl_bare_open(struct sl_bare_pair *pair, const char *within)
{
	struct sl_error error = {0};
	*pair = (struct sl_bare_pair){.roster.size = 0};
	snprintf(pair->folder, sizeof pair->folder, "%s/starling-bare-XXXXXX", within);
	sl_bare_insist(mkdtemp(pair->folder) != NULL, pair->folder);
	pair->roster = (struct sl_roster){.members = pair->members, .size = 2};
	for (uint32_t i = 0; i < 2; i++)
		identify(pair, i);
	for (uint32_t i = 0; i < 2; i++)
		sl_bare_insist(sl_tls_open(&pair->tls[i], &pair->identities[i], &pair->roster, &error) ==
				       SL_OK,
			       error.text);
}

void sl_bare_close(struct sl_bare_pair *pair)
{
	for (uint32_t i = 0; i < 2; i++) {
		sl_tls_close(&pair->tls[i]);
		sl_identity_close(&pair->identities[i]);
	}
	sl_bench_take_away(pair->folder);
}
