/* written.h - what a writer has written, as text. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct written {
	FILE *out;
	char *text;
	size_t bytes;
};

static inline void write_open(struct written *w)
{
	w->out = open_memstream(&w->text, &w->bytes);
	assert_non_null(w->out);
}

/* The text; to free(). */
static inline char *write_close(struct written *w)
{
	assert_int_equal(fclose(w->out), 0);
	return w->text;
}

static inline uint32_t count_of(const char *text, const char *part)
{
	uint32_t count = 0;
	for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
		count++;
	return count;
}

static inline void has(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("no %s in %s", part, text);
}
