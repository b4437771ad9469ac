#include "daemon/runtime/http_token.h"

#include <sodium.h>
#include <string.h>

#include "daemon/runtime/secret_line.h"

static int check(const char *path, const char *token, struct sl_error *error)
{
	size_t n = strlen(token);
	for (size_t i = 0; i < n; i++)
		if (token[i] <= ' ' || token[i] > '~')
			return sl_err_set(error, SL_ERR_INVALID,
					  "%s: a token has printable ASCII characters without blanks; make "
					  "one with: openssl rand -hex 32",
					  path);
	if (n < SL_HTTP_TOKEN_LEAST || n == SL_HTTP_TOKEN_BYTES - 1)
		return sl_err_set(error, SL_ERR_INVALID,
				  "%s: a token has %u to %u characters; make one with: openssl rand -hex 32",
				  path, SL_HTTP_TOKEN_LEAST, SL_HTTP_TOKEN_BYTES - 2);
	return SL_OK;
}

int sl_http_token_read(const char *path, char token[static SL_HTTP_TOKEN_BYTES], struct sl_error *error)
{
	int rc = sl_secret_line_read(path, token, SL_HTTP_TOKEN_BYTES, error);
	return rc == SL_OK ? check(path, token, error) : rc;
}

/* Hashes of equal length are compared, so that not even the length shows. */
bool sl_http_token_equal(const char *token, const char *shown)
{
	uint8_t a[crypto_generichash_BYTES], b[crypto_generichash_BYTES];
	crypto_generichash(a, sizeof a, (const uint8_t *)token, strlen(token), NULL, 0);
	crypto_generichash(b, sizeof b, (const uint8_t *)shown, strlen(shown), NULL, 0);
	return sodium_memcmp(a, b, sizeof a) == 0;
}
