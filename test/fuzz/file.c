#include <assert.h>
#include <fcntl.h>
#include <ftw.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/fuzz/fuzz.h"

static char folder[64];

__attribute__((constructor)) static void begin(void)
{
	if (sodium_init() < 0)
		abort();
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status, (void)kind, (void)place;
	return remove(path);
}

static void remove_folder(void)
{
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_folder(void)
{
	if (folder[0] != '\0')
		return folder;
	snprintf(folder, sizeof folder, "%s/starling-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (mkdtemp(folder) == NULL)
		abort();
	atexit(remove_folder);
	return folder;
}

const char *fuzz_file(const char *name, const void *bytes, size_t count)
{
	static char path[512];
	int n = snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
	assert(n > 0 && (size_t)n < sizeof path);
	char *slash = strrchr(path, '/');
	*slash = '\0';
	mkdir(path, 0700);
	*slash = '/';
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, count) != (ssize_t)count)
		abort();
	close(fd);
	return path;
}
