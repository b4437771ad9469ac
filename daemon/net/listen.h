/* listen.h - the address at which a learner listens.
 *
 * It is the setting `listen`, or else the address of the learner's roster line, if that is one address of
 * this machine. With a name there, several addresses, or one that this machine does not have, behind a port
 * forwarding or before its network is up, the learner listens on all addresses, IPv6 and IPv4, at that port;
 * also if the others find it at whatever address it has (setting `discover`).
 */
#pragma once

#include <stdbool.h>
#include <uv.h>

#include "common/base/err.h"
#include "common/base/limits.h"

/* Write where to listen. `given`: the setting, or ""; `own`: the addresses of the roster line; `moves`: the
 * learner is found wherever it is. Return true if these are all addresses because `own` is not one address of
 * this machine. */
bool sl_listen_choose(const char *given, const char *own, bool moves, char address[static SL_ADDRESS_BYTES]);

/* Check that `address` can be resolved to one of this machine. SL_PENDING: not now, but it may be later: no
 * name server answers, or this machine does not have it. */
int sl_listen_check(const char *address, struct sl_error *error);

/* Bind and listen. SL_ERR_BUSY: the port is in use; SL_ERR_INVALID: the address cannot be resolved;
 * SL_ERR_IO. */
int sl_listen_open(uv_tcp_t *listener, const char *address, uv_connection_cb accept, struct sl_error *error);
