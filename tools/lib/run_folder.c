#include "tools/lib/run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MOST 1000u /* tried for a new folder */

static bool is_empty(const char *path)
{
	DIR *dir = opendir(path);
	int entries = 0;
	while (dir != NULL && readdir(dir) != NULL)
		entries++;
	if (dir != NULL)
		closedir(dir);
	return entries == 2; /* . and .. */
}

/* The last part of the path, made a name: it tells runs apart in handshakes and logs. */
static void name_run(struct sl_run_folder *folder)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	const char *last = strrchr(folder->path, '/') + 1;
	snprintf(folder->name, sizeof folder->name, "%.*s", (int)sizeof folder->name - 1,
		 *last != '\0' ? last : "run");
	for (char *c = folder->name; *c != '\0'; c++)
		if (strchr(allowed, *c) == NULL)
			*c = '-';
	if (folder->name[0] == '.' || folder->name[0] == '-')
		folder->name[0] = 'r';
}

/* Name the cause of a failed mkdir: a missing parent, or `reason`. */
static int cannot_make(const char *path, int reason, struct sl_error *error)
{
	char copy[PATH_MAX];
	struct stat st;
	snprintf(copy, sizeof copy, "%s", path);
	const char *parent = dirname(copy);
	if (reason == ENOENT && stat(parent, &st) != 0)
		return sl_err_set(error, SL_ERR_IO, "%s: cannot make the run folder: %s does not exist", path,
				  parent);
	return sl_err_set(error, SL_ERR_IO, "%s: cannot make the run folder: %s", path, strerror(reason));
}

/* The folder is there: what it is called from everywhere. */
static int take(struct sl_run_folder *folder, const char *path, struct sl_error *error)
{
	char *absolute = realpath(path, NULL);
	if (absolute == NULL)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	bool fits = strlen(absolute) + 64 < sizeof folder->path && strlen(path) < sizeof folder->shown;
	if (fits) {
		strcpy(folder->path, absolute);
		strcpy(folder->shown, path);
	}
	free(absolute);
	if (!folder->created && !is_empty(path))
		return sl_err_set(error, SL_ERR_BUSY, "%s: exists and is not an empty folder", path);
	if (!fits) {
		if (folder->created)
			rmdir(path);
		return sl_err_set(error, SL_ERR_RANGE, "%s: the path is too long", path);
	}
	name_run(folder);
	return SL_OK;
}

int sl_run_folder_open(struct sl_run_folder *folder, const char *path, uint32_t learners,
		       struct sl_error *error)
{
	*folder = (struct sl_run_folder){.learners = learners};
	folder->created = mkdir(path, 0755) == 0;
	if (!folder->created && errno != EEXIST)
		return cannot_make(path, errno, error);
	return take(folder, path, error);
}

int sl_run_folder_new(struct sl_run_folder *folder, const char *path, uint32_t learners,
		      struct sl_error *error)
{
	char name[PATH_MAX];
	*folder = (struct sl_run_folder){.learners = learners, .created = true};
	for (unsigned i = 1; i <= NAMES_MOST; i++) {
		int n = snprintf(name, sizeof name, i == 1 ? "%s" : "%s-%u", path, i);
		if (n < 0 || (size_t)n >= sizeof name)
			return sl_err_set(error, SL_ERR_RANGE, "%s: the path is too long", path);
		if (mkdir(name, 0755) == 0)
			return take(folder, name, error);
		if (errno != EEXIST)
			return cannot_make(name, errno, error);
	}
	return sl_err_set(error, SL_ERR_BUSY, "%s to %s: exist", path, name);
}

void sl_run_folder_learner_name(const struct sl_run_folder *folder, uint32_t index,
				char name[static SL_NAME_BYTES])
{
	int width = 2;
	for (uint32_t n = folder->learners; n >= 100; n /= 10)
		width++;
	snprintf(name, SL_NAME_BYTES, "learner-%0*u", width, index + 1);
}

int sl_run_folder_path(const struct sl_run_folder *folder, uint32_t index, const char *file,
		       char path[static PATH_MAX])
{
	char name[SL_NAME_BYTES];
	sl_run_folder_learner_name(folder, index, name);
	int n = snprintf(path, PATH_MAX, "%s/%s%s%s", folder->path, name, *file != '\0' ? "/" : "", file);
	return n < 0 || n >= PATH_MAX ? SL_ERR_RANGE : SL_OK;
}

int sl_run_folder_file(const struct sl_run_folder *folder, const char *file, char path[static PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%s/%s", folder->path, file);
	return n < 0 || n >= PATH_MAX ? SL_ERR_RANGE : SL_OK;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	if (at->level > 0)
		remove(path);
	return 0;
}

void sl_run_folder_remove(const struct sl_run_folder *folder)
{
	nftw(folder->path, remove_entry, 32, FTW_DEPTH | FTW_PHYS);
	if (folder->created)
		rmdir(folder->path);
}

int sl_run_file_open(struct sl_run_file *f, const struct sl_run_folder *folder, const char *file,
		     struct sl_error *error)
{
	if (sl_run_folder_file(folder, file, f->path) != SL_OK ||
	    snprintf(f->temporary, sizeof f->temporary, "%s.new", f->path) >= PATH_MAX)
		return sl_err_set(error, SL_ERR_RANGE, "%s: the path is too long", file);
	f->out = fopen(f->temporary, "we");
	return f->out != NULL ? SL_OK : sl_err_set(error, SL_ERR_IO, "%s: %s", f->path, strerror(errno));
}

int sl_run_file_close(struct sl_run_file *f, struct sl_error *error)
{
	bool good = !ferror(f->out) && fflush(f->out) == 0 && fsync(fileno(f->out)) == 0;
	int reason = errno;
	if (fclose(f->out) != 0 && good) {
		good = false;
		reason = errno;
	}
	if (good && rename(f->temporary, f->path) == 0)
		return SL_OK;
	reason = good ? errno : reason;
	unlink(f->temporary);
	return sl_err_set(error, SL_ERR_IO, "%s: %s", f->path, strerror(reason));
}

int sl_run_folder_write(const struct sl_run_folder *folder, const char *file, const char *bytes, size_t count,
			struct sl_error *error)
{
	struct sl_run_file out;
	int rc = sl_run_file_open(&out, folder, file, error);
	if (rc != SL_OK)
		return rc;
	fwrite(bytes, 1, count, out.out);
	return sl_run_file_close(&out, error);
}
