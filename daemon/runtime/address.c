#include "daemon/runtime/address.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void sl_address_split(const char *address, char host[static SL_ADDRESS_BYTES],
		      char port[static SL_ADDRESS_PORT_BYTES])
{
	const char *colon = strrchr(address, ':');
	size_t n = colon == NULL ? strlen(address) : (size_t)(colon - address);
	const char *from = address;
	if (n >= 2 && from[0] == '[' && from[n - 1] == ']') {
		from++;
		n -= 2;
	}
	snprintf(host, SL_ADDRESS_BYTES, "%.*s", (int)n, from);
	snprintf(port, SL_ADDRESS_PORT_BYTES, "%s", colon == NULL ? "0" : colon + 1);
}

const struct addrinfo *sl_address_pick(const struct addrinfo *found, uint32_t turn, uint32_t *count)
{
	*count = 0;
	for (const struct addrinfo *at = found; at != NULL; at = at->ai_next)
		++*count;
	for (turn %= *count; turn > 0; turn--)
		found = found->ai_next;
	return found;
}

const char *sl_address_family_fault(int family, int why)
{
	if (family != AF_INET6 || (why != ENETUNREACH && why != EAFNOSUPPORT && why != EADDRNOTAVAIL))
		return NULL;
	return "this machine has no IPv6 route to it; that learner needs an IPv4 address in the roster, too";
}
