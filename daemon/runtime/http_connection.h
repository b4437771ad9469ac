/* http_connection.h - the connections of an HTTP server (http.h), from accept to close: how many there may
 * be, and how long each may take. */
#pragma once

#include <microhttpd.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <uv.h>

struct sl_http_connection {
	struct sl_http_connection *next, **at;
	int fd;
	uint64_t since; /* of the loop's time: when it was accepted or last answered */
	struct in6_addr from;
	bool serving; /* it has sent a request that is answered now; else it may be ended for another */
	bool streaming, refused; /* refused: it is being ended */
};

struct sl_http_connections {
	struct sl_http_connection *first;
	uv_loop_t *loop;
	unsigned seconds; /* of struct sl_http_config */
	bool closed;	  /* one, since libmicrohttpd was run */
};

struct sl_http_connection *sl_http_connection_of(struct MHD_Connection *connection);
/* Take what libmicrohttpd says of a connection; `context`: all of them. */
void sl_http_connections_notify(void *context, struct MHD_Connection *mhd, void **socket_context,
				enum MHD_ConnectionNotificationCode code);
/* End those on which too little happens. */
void sl_http_connections_look(const struct sl_http_connections *connections);
