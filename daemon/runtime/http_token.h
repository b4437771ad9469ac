/* http_token.h - the bearer token of an HTTP server (http.h): a secret that its clients know. */
#pragma once

#include <stdbool.h>

#include "common/base/err.h"

#define SL_HTTP_TOKEN_LEAST 16u /* characters */
#define SL_HTTP_TOKEN_BYTES 257u

/* Read a token, the first line of a file that only its owner can read: SL_HTTP_TOKEN_LEAST or more printable
 * characters of ASCII without blanks. SL_ERR_IO, SL_ERR_INVALID. */
int sl_http_token_read(const char *path, char token[static SL_HTTP_TOKEN_BYTES], struct sl_error *error);
/* Return true if the texts are equal, in a time that tells nothing about `token`. */
bool sl_http_token_equal(const char *token, const char *shown);
