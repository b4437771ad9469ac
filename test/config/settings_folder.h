/* settings_folder.h - a folder of its own for every test, entered before it and removed after it, so that the
 * paths in error messages are short and the same everywhere. Header-only; included by the tests of files and
 * of the command line. */
#pragma once

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/lib/test.h"

struct folder {
	char name[32];
	int back; /* the folder to return to */
};

static inline int folder_enter(void **state)
{
	struct folder *f = calloc(1, sizeof *f);
	assert_non_null(f);
	strcpy(f->name, "folder-XXXXXX");
	f->back = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(f->back >= 0);
	assert_non_null(mkdtemp(f->name));
	assert_int_equal(chdir(f->name), 0);
	*state = f;
	return 0;
}

static inline int folder_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static inline int folder_leave(void **state)
{
	struct folder *f = *state;
	int code = fchdir(f->back);
	close(f->back);
	code |= nftw(f->name, folder_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(f);
	return code;
}

static inline void folder_put(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static inline char *folder_get(const char *path, char *out, size_t size)
{
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	size_t n = fread(out, 1, size - 1, file);
	out[n] = '\0';
	fclose(file);
	return out;
}
