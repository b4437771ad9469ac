#include "daemon/runtime/recent.h"

#include <stdlib.h>
#include <string.h>

/* Forget lines until at most `least` bytes are left. */
static void forget(struct sl_recent *recent)
{
	const char *end = recent->bytes + recent->used;
	const char *newline = memchr(end - recent->least - 1, '\n', recent->least + 1);
	recent->used = (size_t)(end - newline) - 1;
	memmove(recent->bytes, newline + 1, recent->used);
}

void sl_recent_add(struct sl_recent *recent, const char *line, size_t size)
{
	if (size >= recent->least)
		return;
	if (recent->bytes == NULL && (recent->bytes = malloc(2 * recent->least)) == NULL)
		return;
	if (recent->used + size + 1 > 2 * recent->least)
		forget(recent);
	memcpy(recent->bytes + recent->used, line, size);
	recent->used += size;
	recent->bytes[recent->used++] = '\n';
}

const char *sl_recent_next(const struct sl_recent *recent, const char *line, size_t *size)
{
	const char *end = recent->bytes + recent->used, *next = recent->bytes;
	if (line != NULL)
		next = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
	if (recent->bytes == NULL || next == end)
		return NULL;
	*size = (size_t)((const char *)memchr(next, '\n', (size_t)(end - next)) - next);
	return next;
}

void sl_recent_free(struct sl_recent *recent)
{
	free(recent->bytes);
	recent->bytes = NULL;
	recent->used = 0;
}
