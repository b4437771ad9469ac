#include "tools/launch/reveals.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The round of "encoding-000003.u64"; 0: another file. */
static sl_round round_of(const char *file)
{
	unsigned long round = 0;
	char *end = NULL;
	if (strncmp(file, "encoding-", 9) == 0)
		round = strtoul(file + 9, &end, 10);
	return end != NULL && strcmp(end, ".u64") == 0 ? (sl_round)round : 0;
}

static uint32_t fail(struct sl_error *error, const char *path, const char *file)
{
	if (error->code == SL_OK)
		sl_err_set(error, SL_ERR_IO, "%s%s%s: %s", path, *file != '\0' ? "/" : "", file,
			   strerror(errno));
	return 1;
}

static uint32_t delete_in(const char *path, sl_encoding_dump_keep keep, const void *context,
			  struct sl_error *error)
{
	uint32_t left = 0;
	DIR *dir = opendir(path);
	if (dir == NULL)
		return errno == ENOENT ? 0 : fail(error, path, "");
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		sl_round round = round_of(entry->d_name);
		if (round != 0 && !keep(context, round) && unlinkat(dirfd(dir), entry->d_name, 0) != 0)
			left += fail(error, path, entry->d_name);
	}
	closedir(dir);
	return left;
}

uint32_t sl_launch_encoding_dump_delete(const struct sl_run_folder *folder, sl_encoding_dump_keep keep,
					const void *context, struct sl_error *error)
{
	char path[PATH_MAX];
	uint32_t left = 0;
	for (uint32_t i = 0; i < folder->learners; i++) {
		sl_run_folder_path(folder, i, "state", path);
		left += delete_in(path, keep, context, error);
	}
	return left;
}
