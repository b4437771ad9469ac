/* ports.h - free TCP ports on the loopback address, for a run on one machine. */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"

/* Find `count` distinct ports that are free now. They lie outside the range that the system hands out to
 * connecting sockets, because a daemon that connects could otherwise take the port on which another is about
 * to listen. A second call finds other ports: the learners may not yet listen on the first ones. */
int sl_ports_find(uint16_t *ports, uint32_t count, struct sl_error *error);

/* Return true if a learner can listen on `port` now. Ended connections of an earlier run do not count. */
bool sl_ports_free(uint16_t port);
