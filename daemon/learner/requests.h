/* requests.h - the requests of the control socket.
 *
 *   {"op":"range","step":3,"peers":[2,5]}   the neighbours from the next DISCOVER on (`neighbours: control`)
 *   {"op":"status"}                         status.h; with "peers":false nothing of the peers
 *   {"op":"watch"}                          every log record from now on
 *   {"op":"abort","round":7}                abort the open attempt of that round
 *   {"op":"reload"}                         read again what may change while it runs
 *   {"op":"stop"}                           end in order
 *
 * The answer to a request is {"ok":true,...} or {"ok":false,"error":"..."}.
 */
#pragma once

#include "daemon/learner/control.h"

/* Answer the request on `line`; `context` is the struct sl_daemon. */
json_t *sl_requests_serve(void *context, const char *line, size_t bytes, bool *watch);
