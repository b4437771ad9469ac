/* err.h - what went wrong in the environment, as one code and one line of text.
 *
 * Programmer's errors are asserts; a peer's are actions of the core; a thing not ready yet is SL_PENDING.
 * The text grows from the inside out: who found it writes it, each caller may put its own place in front.
 * Math and core return codes only (they have no stdio).
 */
#pragma once

#include "common/base/limits.h"

#define SL_ERRORS(X)                                                                                         \
	X(SL_ERR_INVALID, -1, "not valid")                                                                   \
	X(SL_ERR_RANGE, -2, "out of range")                                                                  \
	X(SL_ERR_NOMEM, -3, "out of memory")                                                                 \
	X(SL_ERR_IO, -4, "input/output error")                                                               \
	X(SL_ERR_FORMAT, -5, "malformed")                                                                    \
	X(SL_ERR_CRYPTO, -6, "cryptographic check failed")                                                   \
	X(SL_ERR_REFUSED, -7, "refused")                                                                     \
	X(SL_ERR_NOTFOUND, -8, "not found")                                                                  \
	X(SL_ERR_BUSY, -9, "in use")                                                                         \
	X(SL_ERR_FULL, -10, "full")

enum sl_err {
	SL_OK = 0,
	SL_PENDING = 1,
#define X(name, value, text) name = value,
	SL_ERRORS(X)
#undef X
};

struct sl_error {
	int code;
	char text[SL_ERROR_BYTES];
};

/* The fixed text of a code; never NULL. */
const char *sl_err_text(int code);

/* Sets code and text; returns code, so that `return sl_err_set(e, SL_ERR_IO, ...)` is one line. e may be
 * NULL. */
int sl_err_set(struct sl_error *e, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the text; returns e->code. */
int sl_err_wrap(struct sl_error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
