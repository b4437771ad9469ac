/* ports.h - free TCP ports on the loopback address, for a run on one machine. */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"

/* `count` distinct ports that are free now. They lie outside the range that the system hands out to
 * connecting sockets, because a daemon that connects could otherwise take the port on which another is about
 * to listen. Whoever asks again is given others: nobody may listen on the first ones yet. */
int sl_ports_find(uint16_t *ports, uint32_t count, struct sl_error *error);
