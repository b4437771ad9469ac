#include "tools/paper/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/paper/paper.h"

int sl_paper_folder_open(struct sl_paper_folder *folder, const char *path, struct sl_error *error)
{
	char inside[PATH_MAX];
	*folder = (struct sl_paper_folder){.path = path};
	folder->made = mkdir(path, 0777) == 0;
	if (!folder->made && errno != EEXIST)
		return sl_err_set(error, SL_ERR_IO, "cannot make the folder %s: %s", path, strerror(errno));
	snprintf(inside, sizeof inside, "%s/.", path);
	if (access(inside, W_OK | X_OK) != 0)
		return sl_err_set(error, SL_ERR_IO, "cannot write into %s: %s", path, strerror(errno));
	return SL_OK;
}

FILE *sl_paper_folder_file(struct sl_paper_folder *folder, const char *name)
{
	assert(folder->count < SL_REPORT_FILES_MOST);
	struct sl_paper_file *file = &folder->files[folder->count++];
	file->name = name;
	file->out = open_memstream(&file->text, &file->bytes);
	assert(file->out != NULL);
	return file->out;
}

static void part_path(const struct sl_paper_folder *folder, const struct sl_paper_file *file,
		      char path[static PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/.%s.part", folder->path, file->name);
}

static void close_file(struct sl_paper_file *file)
{
	if (file->out != NULL)
		fclose(file->out);
	file->out = NULL;
}

static bool write_part(const struct sl_paper_folder *folder, struct sl_paper_file *file)
{
	char path[PATH_MAX];
	close_file(file);
	part_path(folder, file, path);
	FILE *out = fopen(path, "w");
	bool written = out != NULL && fwrite(file->text, 1, file->bytes, out) == file->bytes;
	return out != NULL && fclose(out) == 0 && written;
}

int sl_paper_folder_commit(struct sl_paper_folder *folder, struct sl_error *error)
{
	char part[PATH_MAX], whole[PATH_MAX];
	for (uint32_t f = 0; f < folder->count; f++)
		if (!write_part(folder, &folder->files[f]))
			return sl_err_set(error, SL_ERR_IO, "cannot write %s/%s: %s", folder->path,
					  folder->files[f].name, strerror(errno));
	for (uint32_t f = 0; f < folder->count; f++) {
		part_path(folder, &folder->files[f], part);
		snprintf(whole, sizeof whole, "%s/%s", folder->path, folder->files[f].name);
		if (rename(part, whole) != 0)
			return sl_err_set(error, SL_ERR_IO, "cannot name %s: %s", whole, strerror(errno));
		folder->made = false;
	}
	sl_paper_folder_drop(folder);
	return SL_OK;
}

void sl_paper_folder_drop(struct sl_paper_folder *folder)
{
	char part[PATH_MAX];
	for (uint32_t f = 0; f < folder->count; f++) {
		close_file(&folder->files[f]);
		part_path(folder, &folder->files[f], part);
		unlink(part);
		free(folder->files[f].text);
	}
	if (folder->made)
		rmdir(folder->path);
	folder->count = 0;
	folder->made = false;
}
