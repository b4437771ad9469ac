/* address.h - "HOST:PORT" in its parts, and the addresses of a host's name. */
#pragma once

#include <netdb.h>

#include "common/base/limits.h"

#define SL_ADDRESS_PORT_BYTES 8u

/* Split "host:port" or "[v6]:port", whose form has been checked; without a port, `port` is "0". */
void sl_address_split(const char *address, char host[static SL_ADDRESS_BYTES],
		      char port[static SL_ADDRESS_PORT_BYTES]);

/* Return the address to dial after `failures` failed dials, of those that a name has: each in its turn. */
const struct addrinfo *sl_address_pick(const struct addrinfo *found, uint32_t failures);
