/* control.h - the control socket: a Unix socket of mode 0600 that takes one JSON request per line and answers
 * with one JSON object per line (requests.h).
 *
 * Owns the socket, its file and its clients. A client that watches receives every log record.
 */
#pragma once

#include <jansson.h>
#include <uv.h>

#include "common/base/err.h"
#include "daemon/runtime/log.h"

struct sl_control;

/* Return the answer to the request on `line`, owned by the caller. Set *watch for a client that is to receive
 * log records. */
typedef json_t *sl_control_serve_fn(void *context, const char *line, size_t bytes, bool *watch);

/* Listen at `path`, in place of a socket that is there: the lock of the state folder is held. `serve` is
 * called with `context` for each request. */
int sl_control_open(struct sl_control **out, uv_loop_t *loop, struct sl_log *log, const char *path,
		    sl_control_serve_fn *serve, void *context, struct sl_error *error);
/* Remove the socket and disconnect all clients; they are gone once the loop has run. */
void sl_control_close(struct sl_control *control);
void sl_control_free(struct sl_control *control);
