#include "daemon/runtime/http_origin.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_loopback4(const struct in_addr *address)
{
	return ntohl(address->s_addr) >> 24 == 127;
}

bool sl_http_origin_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return is_loopback4(&((const struct sockaddr_in *)(const void *)address)->sin_addr);
	return address->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

/* Copy `header` without its port and without the brackets of IPv6. Return false if it does not fit. */
static bool without_port(const char *header, char host[static SL_ADDRESS_BYTES])
{
	bool v6 = header[0] == '[';
	const char *from = header + v6;
	size_t n = strcspn(from, v6 ? "]" : ":");
	return snprintf(host, SL_ADDRESS_BYTES, "%.*s", (int)n, from) < (int)SL_ADDRESS_BYTES;
}

bool sl_http_origin_host(const char *header, const char *configured)
{
	char host[SL_ADDRESS_BYTES];
	struct in_addr v4;
	struct in6_addr v6;
	if (strlen(header) >= SL_ADDRESS_BYTES || !without_port(header, host))
		return false;
	if (strcasecmp(host, "localhost") == 0 || strcasecmp(host, configured) == 0)
		return true;
	return inet_pton(AF_INET, host, &v4) == 1
		       ? is_loopback4(&v4)
		       : inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool sl_http_origin_same(const char *origin, const char *host)
{
	static const char *const schemes[] = {"http://", "https://"};
	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(schemes[i]);
		if (strncasecmp(origin, schemes[i], n) == 0)
			return strcasecmp(origin + n, host) == 0;
	}
	return false;
}
