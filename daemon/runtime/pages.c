#include "daemon/runtime/pages.h"

#include <sys/mman.h>
#include <unistd.h>

void sl_pages_release(const uint8_t *bytes, size_t size)
{
	size_t before = (uintptr_t)bytes % (size_t)sysconf(_SC_PAGESIZE);
	if (size > 0)
		madvise((void *)(bytes - before), before + size, MADV_DONTNEED); /* it is only a request */
}
