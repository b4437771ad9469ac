/* import_text.h - a text file from elsewhere, read line by line: bounded in size, possibly compressed; errors
 * give name and line.
 *
 * Owns its bytes. Lines and words point into them.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"

#define SL_IMPORT_BYTES_MAX (256u << 20) /* of an unpacked file */

struct sl_import_text {
	const char *name;
	char *bytes;
	size_t count, at;
	size_t line; /* number of the last line returned, from 1 */
	struct sl_error *error;
};

/* Read a file (gzip is unpacked; "-": standard input). `name` and `error` are borrowed. SL_ERR_IO;
 * SL_ERR_FORMAT for a file of more than `bytes_max` bytes, or with a byte that is neither printable nor white
 * space. */
int sl_import_text_read(struct sl_import_text *text, const char *name, size_t bytes_max,
			struct sl_error *error);
void sl_import_text_close(struct sl_import_text *text);

/* Return the next line without its end, NULL after the last. Lines may be read from a copy of *text without
 * changing the original, unless words are cut from them. */
char *sl_import_text_line(struct sl_import_text *text);

/* Set SL_ERR_FORMAT with "name:line: ..." and return it. */
int sl_import_text_fail(const struct sl_import_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Read a word that is a decimal number, finite and within +-`most`. */
bool sl_import_text_number(const char *word, double most, double *number);
