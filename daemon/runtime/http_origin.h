/* http_origin.h - which Host and Origin headers an HTTP server (http.h) accepts. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>

#include "common/base/limits.h"

/* Return true if only this machine can reach the address. */
bool sl_http_origin_loopback(const struct sockaddr *address);
/* Return true if the header `host`, with or without a port, names localhost, a loopback address or
 * `configured`: no other name, which any DNS server could resolve to this machine. */
bool sl_http_origin_host(const char *host, const char *configured);
/* Return true if the header `origin` is http:// or https:// and then `host`. */
bool sl_http_origin_same(const char *origin, const char *host);
