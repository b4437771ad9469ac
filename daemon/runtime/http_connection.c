#include "daemon/runtime/http_connection.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/limits.h"

struct sl_http_connection *sl_http_connection_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* Return the address of the client; of IPv6, the network, since a machine has as many addresses in it as it
 * wants. */
static struct in6_addr address_of(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} at = {.any.sa_family = AF_UNSPEC};
	struct in6_addr from = IN6ADDR_ANY_INIT;
	socklen_t size = sizeof at;
	getpeername(fd, &at.any, &size);
	if (at.any.sa_family == AF_INET)
		memcpy(&from.s6_addr[12], &at.v4.sin_addr, sizeof at.v4.sin_addr);
	else if (at.any.sa_family == AF_INET6)
		memcpy(&from, &at.v6.sin6_addr, IN6_IS_ADDR_V4MAPPED(&at.v6.sin6_addr) ? 16 : 8);
	return from;
}

/* Make room for other clients: of the connections that wait for a request, end the oldest one of this
 * address, if the address has too many, or of all, if all places are taken. An honest client sends its
 * request at once. */
static void end_oldest(const struct sl_http_connections *connections, const struct sl_http_connection *newest)
{
	struct sl_http_connection *oldest = NULL, *oldest_here = NULL;
	uint32_t all = 0, here = 0;
	for (struct sl_http_connection *c = connections->first; c != NULL; c = c->next) {
		all += !c->refused;
		if (c->serving || c->refused)
			continue;
		oldest = c;
		if (memcmp(&c->from, &newest->from, sizeof c->from) != 0)
			continue;
		oldest_here = c;
		here++;
	}
	if (here > SL_HTTP_ADDRESS_MAX)
		oldest = oldest_here;
	else if (all < SL_HTTP_CONNECTIONS_MAX || oldest == newest)
		return;
	oldest->refused = true;
	shutdown(oldest->fd, SHUT_RDWR);
}

static void add(struct sl_http_connections *connections, struct MHD_Connection *mhd, void **socket_context)
{
	struct sl_http_connection *connection = calloc(1, sizeof *connection);
	if (connection == NULL)
		abort();
	connection->fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	connection->since = uv_now(connections->loop);
	connection->from = address_of(connection->fd);
	connection->next = connections->first;
	connection->at = &connections->first;
	if (connection->next != NULL)
		connection->next->at = &connection->next;
	connections->first = connection;
	*socket_context = connection;
	end_oldest(connections, connection);
}

void sl_http_connections_notify(void *context, struct MHD_Connection *mhd, void **socket_context,
				enum MHD_ConnectionNotificationCode code)
{
	struct sl_http_connections *connections = context;
	struct sl_http_connection *connection = *socket_context;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		add(connections, mhd, socket_context);
	} else {
		connections->closed = true;
		*connection->at = connection->next;
		if (connection->next != NULL)
			connection->next->at = connection->at;
		free(connection);
	}
}

/* Return the milliseconds in which the connection must have sent a request, or have read its answer. */
static uint64_t patience_ms(const struct sl_http_connections *connections,
			    const struct sl_http_connection *connection)
{
	unsigned most = connection->serving ? connections->seconds : SL_HTTP_HEAD_SECONDS;
	return 1000u * (most < connections->seconds ? most : connections->seconds);
}

void sl_http_connections_look(const struct sl_http_connections *connections)
{
	uint64_t now = uv_now(connections->loop);
	for (const struct sl_http_connection *c = connections->first; c != NULL; c = c->next)
		if (!c->streaming && now - c->since > patience_ms(connections, c))
			shutdown(c->fd, SHUT_RDWR);
}
