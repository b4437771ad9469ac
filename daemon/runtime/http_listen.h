/* http_listen.h - the listening socket of an HTTP server (http.h). */
#pragma once

#include "common/base/err.h"

#define SL_HTTP_URL_BYTES (SL_ADDRESS_BYTES + 16u)

/* Check that HOST:PORT can be resolved. `need`: the remedy if other machines can reach it; NULL: they may.
 * SL_ERR_INVALID. */
int sl_http_listen_check(const char *address, const char *need, struct sl_error *error);
/* Listen there: *fd is the socket, `host` the host's part of the address, `url` has the real port.
 * SL_ERR_BUSY, SL_ERR_IO, or as above. */
int sl_http_listen(const char *address, const char *need, int *fd, char host[static SL_ADDRESS_BYTES],
		   char url[static SL_HTTP_URL_BYTES], struct sl_error *error);
