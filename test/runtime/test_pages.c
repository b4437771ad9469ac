/* Released pages are out of the memory of the process, and keep their bytes. */
#include <sodium/core.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/runtime/pages.h"
#include "daemon/runtime/vector_memory.h"
#include "test/lib/folder.h"
#include "test/lib/test.h"

#define PAGES 64u

/* Return the pages of `count` bytes that the process has mapped. */
static size_t mapped(const uint8_t *bytes, size_t page)
{
	FILE *in = fopen("/proc/self/smaps", "r");
	char line[512];
	size_t kilobytes = 0;
	bool here = false;
	assert_non_null(in);
	while (fgets(line, sizeof line, in) != NULL) {
		unsigned long begin, end;
		if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
			here = (uintptr_t)bytes >= begin && (uintptr_t)bytes < end;
		else if (here && sscanf(line, "Rss: %zu kB", &kilobytes) == 1)
			break;
	}
	fclose(in);
	return kilobytes * 1024 / page;
}

TEST(released_and_not_lost)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page;
	int fd = memfd_create("test", MFD_CLOEXEC);
	assert_true(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
	uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(bytes != MAP_FAILED);
	for (size_t at = 0; at < size; at++)
		bytes[at] = (uint8_t)(at * 31 >> 3);
	assert_int_equal(mapped(bytes, page), PAGES);
	sl_pages_release(bytes + page / 2, page); /* of two pages */
	assert_int_equal(mapped(bytes, page), PAGES - 2);
	sl_pages_release(bytes + 5, 0);
	sl_pages_release(bytes, size);
	assert_int_equal(mapped(bytes, page), 0);
	for (size_t at = 0; at < size; at++)
		assert_int_equal(bytes[at], (uint8_t)(at * 31 >> 3));
	munmap(bytes, size);
	close(fd);
}

/* A large vector is on the disk, without a name, and its pages can leave memory. */
TEST_WITH(a_large_vector_is_paged, folder_setup, folder_teardown)
{
	const char *folder = *state;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = SL_VECTOR_MEMORY_PAGED;
	uint64_t *words = sl_vector_memory(folder, size), *last = words + size / sizeof *words - 1;
	assert_non_null(words);
	assert_int_equal(*words | *last, 0);
	assert_int_equal(folder_count(folder), 0); /* it has no name */
	*words = 1;
	*last = 2;
	assert_true(mapped((uint8_t *)words, page) >= 2);
	sl_pages_release((uint8_t *)words, size);
	assert_int_equal(mapped((uint8_t *)words, page), 0);
	assert_int_equal(*words, 1);
	assert_int_equal(*last, 2);
	sl_vector_memory_free(words, size);
	assert_null(sl_vector_memory(folder_path(folder, "none"), size));
}

TEST(a_small_vector_is_not)
{
	assert_true(sodium_init() >= 0);
	uint64_t *words = sl_vector_memory("/nonexistent", 12);
	assert_non_null(words);
	assert_int_equal((uintptr_t)words % sizeof *words, 0);
	assert_int_equal(words[0] | (words[1] & UINT32_MAX), 0);
	sl_vector_memory_free(words, 12);
	sl_vector_memory_free(NULL, 12);
}
