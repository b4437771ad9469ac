/* http.h - a small HTTP server on a libuv loop: whole answers, and streams of server-sent events.
 *
 *   socket -> libmicrohttpd -> checks (method, Host, Origin, token) -> serve(request)
 *                                                                        |-- sl_http_reply: a whole answer
 *                                                                        '-- sl_http_stream: events
 *   sl_http_publish(data) -> queue of each stream -> socket
 *
 * It answers GET and HEAD; it reads no body and no file. Everything runs on the thread of the loop, without
 * blocking. A request whose path and query have more than 4,096 bytes, or 16 keys, is refused. A connection
 * is closed that takes longer than SL_HTTP_HEAD_SECONDS to send a request, or than SL_HTTP_SECONDS to read
 * its answer; so is a stream whose client leaves SL_HTTP_QUEUE_BYTES unread, or reads nothing for so long. Of
 * the connections that wait for a request, the oldest one is closed when an address has more than
 * SL_HTTP_ADDRESS_MAX, or all have SL_HTTP_CONNECTIONS_MAX.
 *
 * A page of another origin cannot read answers or send requests by a name that it controls (DNS rebinding):
 * an Origin has to be that of the Host, and without a token, the Host has to be localhost, a loopback address
 * or the configured one. With a token, each request needs it, as `Authorization: Bearer TOKEN` or as
 * `?token=TOKEN`. An address that other machines can reach needs a token.
 *
 * Every answer but that to a malformed request has Content-Security-Policy, nosniff, no-referrer, no-store,
 * same-origin and frame denial. */
#pragma once

#include <stdbool.h>
#include <uv.h>

#include "common/base/err.h"

struct sl_http;
struct sl_http_request; /* valid until `serve` returns */
struct sl_http_stream;	/* valid until `serve` returns */

/* Answer `request` by sl_http_reply or sl_http_stream before returning; without either, the answer is 404. */
typedef void sl_http_serve_fn(void *context, struct sl_http_request *request);

struct sl_http_config {
	uv_loop_t *loop;
	const char *listen; /* HOST:PORT; port 0: any that is free */
	const char *token;  /* of http_token.h; NULL: none */
	const char *need;   /* remedy if `listen` needs a token: "set http_token_file" */
	sl_http_serve_fn *serve;
	void *context;	  /* of `serve` */
	unsigned seconds; /* for each of the two, at most; 0: as above */
};

/* Listen and answer from now on. The texts of `config` are copied. SL_ERR_INVALID: the address is not one, or
 * needs a token. SL_ERR_BUSY: its port is in use. SL_ERR_IO. */
int sl_http_open(struct sl_http **http, const struct sl_http_config *config, struct sl_error *error);
/* Disconnect all clients and free `http`, which may be NULL; the loop must run once more. */
void sl_http_close(struct sl_http *http);
/* Return "http://127.0.0.1:9464", with the real port. */
const char *sl_http_url(const struct sl_http *http);

/* Return the path, "/records", without the query. */
const char *sl_http_path(const struct sl_http_request *request);
/* Return the value of `key` in the query, or NULL. */
const char *sl_http_query(const struct sl_http_request *request, const char *key);
/* Return a header of the request, or NULL. */
const char *sl_http_header(const struct sl_http_request *request, const char *name);
/* Answer with `status` and these bytes, which are copied. */
void sl_http_reply(struct sl_http_request *request, unsigned status, const char *content_type,
		   const void *bytes, size_t size);

/* Answer with events: those that are sent to the stream, then those that are published. Return NULL if the
 * request was HEAD, or memory is short; the request is answered. */
struct sl_http_stream *sl_http_stream(struct sl_http_request *request);
/* Queue an event with one line of `data` for one stream, or for all. */
void sl_http_send(struct sl_http_stream *stream, const char *data, size_t size);
void sl_http_publish(struct sl_http *http, const char *data, size_t size);
/* Return the number of streams. */
uint32_t sl_http_listeners(const struct sl_http *http);
