/* ports.h - TCP ports on the loopback address for a run on one machine: found and reserved. */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"

/* Find `count` distinct ports that are free, and reserve them. They lie outside the range that the system
 * hands out to connecting sockets, because a daemon that connects could otherwise take the port on which
 * another is about to listen. */
int sl_ports_find(uint16_t *ports, uint32_t count, struct sl_error *error);

/* Reserve `port` beside ended connections of an earlier run. Return false if another program uses it.
 * A reserved port is bound by a socket of this process that does not listen, until the process ends: another
 * search finds it in use, and a learner can listen there, with SO_REUSEADDR. */
bool sl_ports_reserve(uint16_t port);
