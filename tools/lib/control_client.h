/* control_client.h - one connection to a daemon's control socket: JSON objects, one a line, both ways.
 *
 *   idle --connect--> connecting --> open --> (end of file, error, close) --> idle
 *                          `-- refused --> idle
 *
 * A libuv handle exists in all states but idle. Each JSON object of the daemon is handed over, replies and
 * log records alike; a reply has "ok", a record has "event". Owns its handle and its buffer, not its context.
 */
#pragma once

#include <jansson.h>
#include <uv.h>

#include "common/base/types.h"

#define SL_CONTROL_CLIENT_LINE_BYTES_MAX (1u << 20)

enum sl_control_client_state {
	SL_CONTROL_CLIENT_IDLE,
	SL_CONTROL_CLIENT_CONNECTING,
	SL_CONTROL_CLIENT_OPEN,
	SL_CONTROL_CLIENT_CLOSING
};

struct sl_control_client;

struct sl_control_client_events {
	void (*opened)(void *context);
	void (*heard)(void *context, const json_t *object); /* borrowed for the call */
	void (*ended)(void *context,
		      const char *reason); /* of an open connection, by the other side or an error */
};

struct sl_control_client {
	enum sl_control_client_state state;
	uv_loop_t *loop;
	uv_pipe_t pipe;
	uv_connect_t connect;
	int folder;  /* descriptor, while connecting */
	char *bytes; /* what has arrived of a line */
	size_t used, room;
	const struct sl_control_client_events *events;
	void *context;
};

void sl_control_client_init(struct sl_control_client *control, uv_loop_t *loop,
			    const struct sl_control_client_events *events, void *context);

/* Connect an idle connection to `folder`/control.sock, once. `opened` follows, or the connection is
 * idle again. */
void sl_control_client_connect(struct sl_control_client *control, const char *folder);

/* Send `request`, whose reference is taken over. It is dropped unless the connection is open. */
void sl_control_client_send(struct sl_control_client *control, json_t *request);

/* Close the connection, which is idle once the loop has run. `ended` is not called. */
void sl_control_client_close(struct sl_control_client *control);
