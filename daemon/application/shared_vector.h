/* shared_vector.h - memory that this process shares with another one.
 *
 * The memory is a memfd of fixed size: the other process can change its contents, but it cannot shrink it
 * under this one. */
#pragma once

#include <stddef.h>

#include "common/base/err.h"

struct sl_shared_vector {
	void *bytes;
	size_t size;
	int fd; /* to pass on */
};

/* Make `size` zero bytes. SL_ERR_NOMEM. */
int sl_shared_vector_open(struct sl_shared_vector *vector, size_t size, struct sl_error *error);
/* Copy the vector to `to`, or `from` into it, without keeping its pages in the memory of this process. */
void sl_shared_vector_read(const struct sl_shared_vector *vector, void *to);
void sl_shared_vector_write(struct sl_shared_vector *vector, const void *from);
/* Also of a zeroed struct. */
void sl_shared_vector_close(struct sl_shared_vector *vector);
