/* address.h - "HOST:PORT" in its parts. */
#pragma once

#include "common/base/limits.h"

#define SL_ADDRESS_PORT_BYTES 8u

/* Split "host:port" or "[v6]:port", whose form has been checked; without a port, `port` is "0". */
void sl_address_split(const char *address, char host[static SL_ADDRESS_BYTES],
		      char port[static SL_ADDRESS_PORT_BYTES]);
