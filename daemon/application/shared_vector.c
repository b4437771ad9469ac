#include "daemon/application/shared_vector.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/runtime/pages.h"

#define PART_BYTES (1u << 20) /* copied at a time */

int sl_shared_vector_open(struct sl_shared_vector *vector, size_t size, struct sl_error *error)
{
	int fd = memfd_create("starling", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *memory = MAP_FAILED;
	if (fd >= 0 && ftruncate(fd, (off_t)size) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory != MAP_FAILED) {
		*vector = (struct sl_shared_vector){memory, size, fd};
		return SL_OK;
	}
	int saved = errno;
	if (fd >= 0)
		close(fd);
	return sl_err_set(error, SL_ERR_NOMEM, "no shared memory for %zu bytes: %s", size, strerror(saved));
}

/* Return the bytes of the part that begins at `at`. */
static size_t part(const struct sl_shared_vector *vector, size_t at)
{
	return vector->size - at < PART_BYTES ? vector->size - at : PART_BYTES;
}

void sl_shared_vector_read(const struct sl_shared_vector *vector, void *to)
{
	const uint8_t *bytes = vector->bytes;
	for (size_t at = 0; at < vector->size; at += PART_BYTES) {
		memcpy((uint8_t *)to + at, bytes + at, part(vector, at));
		sl_pages_release(bytes + at, part(vector, at));
	}
}

void sl_shared_vector_write(struct sl_shared_vector *vector, const void *from)
{
	uint8_t *bytes = vector->bytes;
	for (size_t at = 0; at < vector->size; at += PART_BYTES) {
		memcpy(bytes + at, (const uint8_t *)from + at, part(vector, at));
		sl_pages_release(bytes + at, part(vector, at));
	}
}

void sl_shared_vector_close(struct sl_shared_vector *vector)
{
	if (vector->bytes == NULL)
		return;
	munmap(vector->bytes, vector->size);
	close(vector->fd);
	*vector = (struct sl_shared_vector){0};
}
