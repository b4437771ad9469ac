/* recent.h - the last lines of a log, in bounded memory. Begins as {.least = BYTES}; owns its buffer. */
#pragma once

#include <stddef.h>

struct sl_recent {
	size_t least; /* bytes that stay, but for the rest of a line; twice as many at most */
	char *bytes;  /* the lines, each with its newline; NULL: none yet */
	size_t used;
};

/* Add a line without its newline, and forget the first ones for it if needed. A line that does not fit into
 * `least` is left out; so is any without memory. */
void sl_recent_add(struct sl_recent *recent, const char *line, size_t size);
/* Return the line after `line`, one of these (NULL: the first one), and set its size; NULL: there is none.
 * Valid until a line is added. */
const char *sl_recent_next(const struct sl_recent *recent, const char *line, size_t *size);
void sl_recent_free(struct sl_recent *recent);
