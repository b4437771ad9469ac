#include "daemon/net/listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/config/roster.h"
#include "daemon/runtime/address.h"

#define BACKLOG 512

/* Try to listen. Return 0, or the reason as errno. */
static int try(const struct addrinfo *at)
{
	int on = 1, fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), why = 0;
	if (fd < 0)
		return errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on); /* as uv_tcp_bind does */
	if (bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, 1) != 0)
		why = errno;
	close(fd);
	return why;
}

/* Return true if the host of `address` is an address of this machine and no name, but for localhost. */
static bool is_here(const char *address)
{
	char host[SL_ADDRESS_BYTES], unused[SL_ADDRESS_PORT_BYTES];
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST}, *found;
	sl_address_split(address, host, unused);
	if (strcmp(host, "localhost") == 0)
		hints.ai_flags = 0;
	if (getaddrinfo(host, "0", &hints, &found) != 0)
		return false;
	bool here = try(found) == 0;
	freeaddrinfo(found);
	return here;
}

bool sl_listen_choose(const char *given, const char *own, bool moves, char address[static SL_ADDRESS_BYTES])
{
	char first[SL_ADDRESS_BYTES];
	bool is_own = sl_roster_address_at(own, 0, first) == 1 && is_here(first);
	if (given[0] != '\0' || (is_own && !moves)) {
		snprintf(address, SL_ADDRESS_BYTES, "%s", given[0] != '\0' ? given : first);
		return false;
	}
	snprintf(address, SL_ADDRESS_BYTES, "%s%s", is_here("[::]:0") ? "[::]" : "0.0.0.0",
		 strrchr(first, ':'));
	return !is_own;
}

/* Return the error `why` of an attempt to listen. */
static int fail(const char *address, int why, struct sl_error *error)
{
	if (why == EADDRINUSE)
		return sl_err_set(error, SL_ERR_BUSY,
				  "cannot listen on %s: the port is in use by another program", address);
	if (why == EAFNOSUPPORT)
		return sl_err_set(error, SL_ERR_IO,
				  "cannot listen on %s: this machine has no addresses of this family; set "
				  "'listen' to one that it has, such as %s%s",
				  address, address[0] == '[' ? "0.0.0.0" : "[::]", strrchr(address, ':'));
	return sl_err_set(error, why == EADDRNOTAVAIL ? SL_PENDING : SL_ERR_IO, "cannot listen on %s: %s",
			  address, strerror(why));
}

/* Resolve `address`; `port` NULL: with its own. The caller frees the result. */
static int resolve(const char *address, const char *port, struct addrinfo **found, struct sl_error *error)
{
	char host[SL_ADDRESS_BYTES], own[SL_ADDRESS_PORT_BYTES];
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
	sl_address_split(address, host, own);
	int rc = getaddrinfo(host, port != NULL ? port : own, &hints, found);
	return rc == 0 ? SL_OK
		       : sl_err_set(error, rc == EAI_AGAIN ? SL_PENDING : SL_ERR_INVALID,
				    "cannot listen on %s: %s", address, gai_strerror(rc));
}

bool sl_listen_in_use(const char *address)
{
	struct addrinfo *found;
	if (resolve(address, NULL, &found, NULL) != SL_OK)
		return false;
	int why = try(found);
	freeaddrinfo(found);
	return why == EADDRINUSE;
}

int sl_listen_check(const char *address, struct sl_error *error)
{
	struct addrinfo *found;
	int rc = resolve(address, "0", &found, error); /* any port: a running learner has its own in use */
	if (rc != SL_OK)
		return rc;
	int why = try(found);
	freeaddrinfo(found);
	return why == 0 ? SL_OK : fail(address, why, error);
}

int sl_listen_open(uv_tcp_t *listener, const char *address, uv_connection_cb accept, struct sl_error *error)
{
	struct addrinfo *found;
	int rc = resolve(address, NULL, &found, error);
	if (rc == SL_OK) {
		int why = -uv_tcp_bind(listener, found->ai_addr, 0);
		freeaddrinfo(found);
		if (why == 0)
			why = -uv_listen((uv_stream_t *)listener, BACKLOG, accept);
		rc = why == 0 ? SL_OK : fail(address, why, error);
	}
	return rc == SL_PENDING ? SL_ERR_IO : rc;
}
