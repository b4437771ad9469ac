#include "daemon/runtime/pages.h"

#include <sys/mman.h>
#include <unistd.h>

void sl_pages_release(const uint8_t *bytes, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = (uintptr_t)bytes / page * page, end = (uintptr_t)bytes + size;
	if (size > 0)
		madvise((void *)begin, end - begin, MADV_DONTNEED); /* it is only a request */
}
