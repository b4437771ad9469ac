#include "daemon/application/shared_vector.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int sl_shared_vector_open(struct sl_shared_vector *vector, size_t count, struct sl_error *error)
{
	size_t bytes = count * sizeof *vector->values;
	int fd = memfd_create("starling", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *memory = MAP_FAILED;
	if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory != MAP_FAILED) {
		*vector = (struct sl_shared_vector){memory, count, fd};
		return SL_OK;
	}
	int saved = errno;
	if (fd >= 0)
		close(fd);
	return sl_err_set(error, SL_ERR_NOMEM, "no shared memory for %zu floats: %s", count, strerror(saved));
}

void sl_shared_vector_close(struct sl_shared_vector *vector)
{
	if (vector->values == NULL)
		return;
	munmap(vector->values, vector->count * sizeof *vector->values);
	close(vector->fd);
	*vector = (struct sl_shared_vector){0};
}
