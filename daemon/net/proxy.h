/* proxy.h - the way out of a site through its proxy: HTTP CONNECT (RFC 9110, section 9.3.6) with basic
 * authentication, or SOCKS5 (RFC 1928) with a user name and password (RFC 1929).
 *
 *   connection to the proxy --requests, answers--> tunnel to the other end: TLS with it begins
 *
 * The proxy resolves the name of the other end. There are no sockets here: the caller sends what `out` has,
 * gives what it receives, and sets a limit of time. An answer has at most SL_PROXY_ANSWER_BYTES.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/limits.h"

enum sl_proxy_kind { SL_PROXY_NONE, SL_PROXY_HTTP, SL_PROXY_SOCKS5 };

/* The settings `proxy` and `proxy_credentials_file`. */
struct sl_proxy {
	enum sl_proxy_kind kind;
	char address[SL_ADDRESS_BYTES];
	char user[256], password[256]; /* "": none */
};

/* Set the proxy at `url`, "": none. `file` has its USER:PASSWORD, "": it asks for none. SL_ERR_INVALID,
 * SL_ERR_IO. */
int sl_proxy_set(struct sl_proxy *proxy, const char *url, const char *file, struct sl_error *error);
/* Return true if a connection to `address` goes through the proxy: each one but those within this machine. */
bool sl_proxy_serves(const struct sl_proxy *proxy, const char *address);

#define SL_PROXY_UNREACHABLE "the proxy itself cannot be reached: see the setting proxy, and the network"
#define SL_PROXY_SILENT                                                                                      \
	"the proxy gives no whole answer: is it a proxy of this kind, and can it reach that learner?"
#define SL_PROXY_ANSWER_BYTES 8192u
#define SL_PROXY_REQUEST_BYTES 2048u

/* One connection to the proxy. It has the password: wipe it. */
struct sl_proxy_talk {
	const struct sl_proxy *proxy;
	char to[SL_ADDRESS_BYTES];
	enum { SL_PROXY_METHOD, SL_PROXY_LOGIN, SL_PROXY_CONNECT } step;
	uint8_t out[SL_PROXY_REQUEST_BYTES], in[SL_PROXY_ANSWER_BYTES];
	size_t out_bytes, in_bytes;
};

/* Write the first request for a tunnel to `address` into `out`. */
void sl_proxy_begin(struct sl_proxy_talk *talk, const struct sl_proxy *proxy, const char *address);
/* Take what the proxy has sent; the next request is in `out`. SL_OK: the tunnel is there; SL_PENDING: more
 * is needed; SL_ERR_REFUSED: *why, a constant text, says what is wrong and what helps. */
int sl_proxy_take(struct sl_proxy_talk *talk, const uint8_t *bytes, size_t count, const char **why);
