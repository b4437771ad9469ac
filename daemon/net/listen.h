/* listen.h - the address at which a learner listens.
 *
 * It is the setting `listen`; without it, the address in the learner's roster line, if that is a single
 * address of this machine. Otherwise the learner listens on all addresses, IPv6 and IPv4, at the port of the
 * roster line: the line has a name, several addresses or an address that this machine does not have (behind a
 * port forwarding, or before the network is up), or the others find the learner at any address (setting
 * `discover`).
 */
#pragma once

#include <stdbool.h>
#include <uv.h>

#include "common/base/err.h"
#include "common/base/limits.h"

/* Write where to listen. `given`: the setting, or ""; `own`: the addresses of the roster line; `moves`: the
 * others find the learner at any address. Return true if it listens on all addresses because `own` is not a
 * single address of this machine. */
bool sl_listen_choose(const char *given, const char *own, bool moves, char address[static SL_ADDRESS_BYTES]);

/* Return true if another program of this machine listens at `address`. */
bool sl_listen_in_use(const char *address);

/* Check that `address` resolves to an address of this machine. SL_PENDING: it does not yet: no name server
 * answers, or this machine does not have the address. */
int sl_listen_check(const char *address, struct sl_error *error);

/* Bind and listen. SL_ERR_BUSY: the port is in use; SL_ERR_INVALID: the address cannot be resolved;
 * SL_ERR_IO. */
int sl_listen_open(uv_tcp_t *listener, const char *address, uv_connection_cb accept, struct sl_error *error);
