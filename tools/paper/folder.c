#include "tools/paper/folder.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES (SL_REPORT_PATH_BYTES + SL_REPORT_NAME_BYTES + 16)

int sl_paper_folder_open(struct sl_paper_folder *folder, const char *path, struct sl_error *error)
{
	char inside[SL_REPORT_PATH_BYTES + 2];
	*folder = (struct sl_paper_folder){.made = false};
	if (strlen(path) >= sizeof folder->path)
		return sl_err_set(error, SL_ERR_RANGE, "the path of the report's folder is too long");
	strcpy(folder->path, path);
	folder->made = mkdir(path, 0777) == 0;
	if (!folder->made && errno != EEXIST)
		return sl_err_set(error, SL_ERR_IO, "cannot make the folder %s: %s", path, strerror(errno));
	snprintf(inside, sizeof inside, "%s/.", path);
	if (access(inside, W_OK | X_OK) != 0) /* said now, and not when all is measured */
		return sl_err_set(error, SL_ERR_IO, "cannot write into %s: %s", path, strerror(errno));
	return SL_OK;
}

static void path_of(const struct sl_paper_folder *folder, uint32_t file, bool part,
		    char path[static PATH_BYTES])
{
	snprintf(path, PATH_BYTES, part ? "%s/.%s.part" : "%s/%s", folder->path, folder->files[file].name);
}

FILE *sl_paper_folder_file(struct sl_paper_folder *folder, const char *name, struct sl_error *error)
{
	char path[PATH_BYTES];
	uint32_t file = folder->count;
	assert(file < SL_REPORT_FILES_MOST && strlen(name) < SL_REPORT_NAME_BYTES);
	strcpy(folder->files[file].name, name);
	path_of(folder, file, true, path);
	folder->files[file].out = fopen(path, "w");
	if (folder->files[file].out == NULL) {
		sl_err_set(error, SL_ERR_IO, "cannot write %s: %s", path, strerror(errno));
		return NULL;
	}
	folder->count++;
	return folder->files[file].out;
}

/* Whether all of the file has reached the disk's care. */
static bool close_file(struct sl_paper_folder *folder, uint32_t file)
{
	FILE *out = folder->files[file].out;
	folder->files[file].out = NULL;
	if (out == NULL)
		return true;
	bool lost = ferror(out) != 0;
	return fclose(out) == 0 && !lost;
}

int sl_paper_folder_commit(struct sl_paper_folder *folder, struct sl_error *error)
{
	char part[PATH_BYTES], whole[PATH_BYTES];
	for (uint32_t f = 0; f < folder->count; f++)
		if (!close_file(folder, f))
			return sl_err_set(error, SL_ERR_IO, "cannot write %s/%s: %s", folder->path,
					  folder->files[f].name, strerror(errno));
	for (uint32_t f = 0; f < folder->count; f++) {
		path_of(folder, f, true, part);
		path_of(folder, f, false, whole);
		if (rename(part, whole) != 0)
			return sl_err_set(error, SL_ERR_IO, "cannot name %s: %s", whole, strerror(errno));
		folder->made = false;
	}
	folder->count = 0;
	return SL_OK;
}

void sl_paper_folder_drop(struct sl_paper_folder *folder)
{
	char part[PATH_BYTES];
	for (uint32_t f = 0; f < folder->count; f++) {
		close_file(folder, f);
		path_of(folder, f, true, part);
		unlink(part);
	}
	if (folder->made)
		rmdir(folder->path);
	folder->count = 0;
	folder->made = false;
}
