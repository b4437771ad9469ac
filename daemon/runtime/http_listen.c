#include "daemon/runtime/http_listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/runtime/address.h"
#include "daemon/runtime/http_origin.h"

/* Resolve and check the address; the caller frees *found. */
static int resolve(const char *address, const char *need, char host[static SL_ADDRESS_BYTES],
		   struct addrinfo **found, struct sl_error *error)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	char port[SL_ADDRESS_PORT_BYTES];
	if (strchr(address, ':') == NULL)
		return sl_err_set(error, SL_ERR_INVALID,
				  "'%s' is not an address; expected HOST:PORT or [IPV6]:PORT", address);
	sl_address_split(address, host, port);
	int rc = getaddrinfo(host, port, &hints, found);
	if (rc != 0)
		return sl_err_set(error, SL_ERR_INVALID, "cannot listen on %s: %s", address,
				  gai_strerror(rc));
	if (need == NULL || sl_http_origin_loopback((*found)->ai_addr))
		return SL_OK;
	freeaddrinfo(*found);
	return sl_err_set(error, SL_ERR_INVALID,
			  "other machines can reach %s, which then needs a token: %s, or listen on 127.0.0.1",
			  address, need);
}

static int bind_socket(const char *where, const struct addrinfo *at, int *fd, struct sl_error *error)
{
	int yes = 1;
	*fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd >= 0 && setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
	    bind(*fd, at->ai_addr, at->ai_addrlen) == 0 && listen(*fd, SL_HTTP_CONNECTIONS_MAX) == 0)
		return SL_OK;
	int saved = errno;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return saved == EADDRINUSE
		       ? sl_err_set(error, SL_ERR_BUSY,
				    "cannot listen on %s: the port is in use by another program", where)
		       : sl_err_set(error, SL_ERR_IO, "cannot listen on %s: %s", where, strerror(saved));
}

static void name(int fd, const char *host, char url[static SL_HTTP_URL_BYTES])
{
	struct sockaddr_storage at = {0};
	socklen_t size = sizeof at;
	char port[SL_ADDRESS_PORT_BYTES] = "0";
	getsockname(fd, (struct sockaddr *)&at, &size);
	getnameinfo((struct sockaddr *)&at, size, NULL, 0, port, sizeof port, NI_NUMERICSERV);
	snprintf(url, SL_HTTP_URL_BYTES, strchr(host, ':') ? "http://[%s]:%s" : "http://%s:%s", host, port);
}

int sl_http_listen_check(const char *address, const char *need, struct sl_error *error)
{
	char host[SL_ADDRESS_BYTES];
	struct addrinfo *found;
	int rc = resolve(address, need, host, &found, error);
	if (rc == SL_OK)
		freeaddrinfo(found);
	return rc;
}

int sl_http_listen(const char *address, const char *need, int *fd, char host[static SL_ADDRESS_BYTES],
		   char url[static SL_HTTP_URL_BYTES], struct sl_error *error)
{
	struct addrinfo *found;
	int rc = resolve(address, need, host, &found, error);
	if (rc != SL_OK)
		return rc;
	rc = bind_socket(address, found, fd, error);
	freeaddrinfo(found);
	if (rc == SL_OK)
		name(*fd, host, url);
	return rc;
}
