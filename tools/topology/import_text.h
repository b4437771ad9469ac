/* import_text.h - a text file that others wrote, line by line: bounded, perhaps compressed, and blamed by
 * name and line.
 *
 * Owns its bytes. Lines and words point into them.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"

#define SL_IMPORT_BYTES_MAX (256u << 20) /* of a file, once it is unpacked */

struct sl_import_text {
	const char *name;
	char *bytes;
	size_t count, at;
	size_t line; /* of the one last given out, from 1 */
	struct sl_error *error;
};

/* Reads a file (gzip is unpacked; "-": standard input). SL_ERR_IO names it; SL_ERR_FORMAT when it is not a
 * text: a byte that is neither printable nor white, or more than `bytes_max` of them. `name` and `error` are
 * borrowed. */
int sl_import_text_read(struct sl_import_text *text, const char *name, size_t bytes_max,
			struct sl_error *error);
/* The same over bytes that the caller has; they are copied. For tests. */
int sl_import_text_copy(struct sl_import_text *text, const char *name, const void *bytes, size_t count,
			struct sl_error *error);
void sl_import_text_close(struct sl_import_text *text);

/* The next line, without its end; NULL after the last. A copy of *text that has given out lines leaves the
 * original as it was, unless words were cut from them. */
char *sl_import_text_line(struct sl_import_text *text);

/* SL_ERR_FORMAT with "name:line: what". */
int sl_import_text_fail(const struct sl_import_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A decimal number, finite and within +-`most`; nothing else in the word. */
bool sl_import_text_number(const char *word, double most, double *number);
