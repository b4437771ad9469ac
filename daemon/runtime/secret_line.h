/* secret_line.h - a secret in the first line of a file that only its owner can read. */
#pragma once

#include <stddef.h>

#include "common/base/err.h"

/* Read the first line, without its end, and at most size - 1 bytes of it. SL_ERR_IO; SL_ERR_INVALID: others
 * can read the file. */
int sl_secret_line_read(const char *path, char *line, size_t size, struct sl_error *error);
