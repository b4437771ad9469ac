#include "daemon/runtime/vector_memory.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/config/settings.h"

bool sl_vector_memory_paged(size_t size)
{
	return size >= SL_VECTOR_MEMORY_PAGED;
}

/* Return a file without a name; < 0: none can be made. */
static int open_file(const char *folder)
{
	char path[SL_PATH_BYTES + 16];
	snprintf(path, sizeof path, "%s/vector-XXXXXX", folder);
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static void *map(const char *folder, size_t size)
{
	int fd = open_file(folder);
	void *memory = MAP_FAILED;
	if (fd >= 0 && posix_fallocate(fd, 0, (off_t)size) == 0)
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, size, MADV_DONTDUMP);
	return memory;
}

void *sl_vector_memory(const char *folder, size_t size)
{
	if (sl_vector_memory_paged(size))
		return map(folder, size);
	size_t whole = (size + 7) / 8 * 8; /* it ends at a page: so that it also begins aligned */
	void *memory = sodium_malloc(whole);
	return memory == NULL ? NULL : memset(memory, 0, whole);
}

void sl_vector_memory_free(void *memory, size_t size)
{
	if (memory == NULL || !sl_vector_memory_paged(size)) {
		sodium_free(memory);
		return;
	}
	sodium_memzero(memory, size);
	munmap(memory, size);
}
