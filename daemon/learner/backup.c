#include "daemon/learner/backup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/learner/daemon.h"
#include "daemon/membership/roster_copy.h"
#include "daemon/observe/report_log.h"

#define NAME "backup"
#define NEW_NAME "backup.new"
#define ROSTER_FILE "roster.yaml"
#define ROSTER_NAME_BYTES (2 * SL_HASH_BYTES + sizeof ".yaml")

struct backup {
	struct sl_task base;
	struct sl_daemon *daemon;
	sl_round round;
	struct sl_error error;
};

static int fail(struct sl_error *error, const char *path, int why)
{
	return sl_err_set(error, SL_ERR_REFUSED, "%s: %s", path, strerror(why));
}

/* Remove the folder and the files in it; there may be none. */
static int clear_files(const char *path, struct sl_error *error)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	if (folder == NULL)
		return errno == ENOENT ? SL_OK : fail(error, path, errno);
	while ((entry = readdir(folder)) != NULL)
		unlinkat(dirfd(folder), entry->d_name, 0); /* what is left keeps rmdir from its work */
	closedir(folder);
	return rmdir(path) == 0 ? SL_OK : fail(error, path, errno);
}

static int clear(const char *path, struct sl_error *error)
{
	char rosters[SL_FOLDER_PATH_BYTES + sizeof SL_ROSTERS_FOLDER];
	snprintf(rosters, sizeof rosters, "%s/" SL_ROSTERS_FOLDER, path);
	int rc = clear_files(rosters, error);
	return rc == SL_OK ? clear_files(path, error) : rc;
}

/* Copy a file of the state folder durably. `needed`: it must be there. */
static int copy(const char *state, const char *name, const char *folder, bool needed, struct sl_error *error)
{
	char from[SL_FOLDER_PATH_BYTES + SL_FILE_NAME_BYTES], to[SL_FOLDER_PATH_BYTES + SL_FILE_NAME_BYTES];
	uv_fs_t request;
	snprintf(from, sizeof from, "%s/%s", state, name);
	snprintf(to, sizeof to, "%s/%s", folder, name);
	int rc = uv_fs_copyfile(NULL, &request, from, to, UV_FS_COPYFILE_EXCL | UV_FS_COPYFILE_FICLONE, NULL);
	uv_fs_req_cleanup(&request);
	if (rc == UV_ENOENT && !needed)
		return SL_OK;
	if (rc < 0)
		return sl_err_set(error, SL_ERR_REFUSED, "%s: %s", to, uv_strerror(rc));
	sl_folder_sync(folder, name);
	return SL_OK;
}

/* Copy the rosters of the rounds, if there are any. */
static int copy_rosters(const char *state, const char *folder, struct sl_error *error)
{
	char path[SL_FOLDER_PATH_BYTES], name[sizeof SL_ROSTERS_FOLDER + ROSTER_NAME_BYTES];
	const struct dirent *entry;
	sl_folder_path(state, SL_ROSTERS_FOLDER, path);
	DIR *rosters = opendir(path);
	if (rosters == NULL)
		return errno == ENOENT ? SL_OK : fail(error, path, errno);
	sl_folder_path(folder, SL_ROSTERS_FOLDER, path);
	int rc = sl_folder_make(path, error);
	while (rc == SL_OK && (entry = readdir(rosters)) != NULL) {
		if (strlen(entry->d_name) != ROSTER_NAME_BYTES - 1)
			continue; /* none of the learner's */
		snprintf(name, sizeof name, SL_ROSTERS_FOLDER "/%s", entry->d_name);
		rc = copy(state, name, folder, true, error);
	}
	closedir(rosters);
	sl_folder_sync(folder, SL_ROSTERS_FOLDER);
	return rc;
}

static int fill(struct backup *backup, const char *folder)
{
	const struct sl_daemon *daemon = backup->daemon;
	const char *state = daemon->settings->state;
	struct sl_error *error = &backup->error;
	struct sl_store_round last;
	int rc = sl_store_backup(daemon->store, folder, error);
	if (rc == SL_OK)
		rc = copy(state, ROSTER_FILE, folder, false, error);
	if (rc == SL_OK)
		rc = copy(state, "account", folder, false, error);
	if (rc == SL_OK)
		rc = copy_rosters(state, folder, error);
	if (rc != SL_OK)
		return rc;
	rc = sl_store_last_round(daemon->store, &last, error);
	if (rc != SL_OK) /* no round is committed */
		return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
	backup->round = last.t;
	return copy(state, last.result, folder, true, error);
}

/* Give the complete folder its name, durably. */
static int publish(const char *state, const char *fresh, struct sl_error *error)
{
	char path[SL_FOLDER_PATH_BYTES];
	sl_folder_path(state, NAME, path);
	if (renameat2(AT_FDCWD, fresh, AT_FDCWD, path, RENAME_EXCHANGE) != 0 &&
	    (errno != ENOENT || rename(fresh, path) != 0))
		return fail(error, path, errno);
	sl_folder_sync(state, NAME);
	return clear(fresh, error); /* the one before */
}

static void run(struct sl_task *base)
{
	struct backup *backup = (struct backup *)base;
	const char *state = backup->daemon->settings->state;
	char fresh[SL_FOLDER_PATH_BYTES];
	sl_folder_path(state, NEW_NAME, fresh);
	struct sl_error *error = &backup->error;
	int rc = clear(fresh, error);
	if (rc == SL_OK && mkdir(fresh, 0700) != 0)
		rc = fail(error, fresh, errno);
	if (rc == SL_OK)
		rc = fill(backup, fresh);
	if (rc == SL_OK)
		rc = publish(state, fresh, error);
	if (rc != SL_OK) { /* its error is the one to report */
		struct sl_error spare;
		clear(fresh, &spare);
	} else {
		*error = (struct sl_error){0};
	}
}

static void done(struct sl_task *base)
{
	struct backup *backup = (struct backup *)base;
	struct sl_daemon *daemon = backup->daemon;
	daemon->backup.runs = false;
	daemon->backup.error = backup->error;
	daemon->backup.round = backup->round;
	if (backup->error.code == SL_OK)
		sl_report_log_round(&daemon->observe, SL_RECORD_BACKUP, backup->round);
	else
		sl_report_log_reason(&daemon->observe, SL_RECORD_BACKUP_FAILED, backup->error.text);
	free(backup);
}

void sl_backup_begin(struct sl_daemon *daemon)
{
	struct backup *backup;
	if (daemon->backup.runs)
		return;
	backup = calloc(1, sizeof *backup);
	if (backup == NULL)
		abort();
	*backup = (struct backup){.base = {.run = run, .done = done}, .daemon = daemon};
	daemon->backup.number++;
	daemon->backup.runs = true;
	sl_worker_add(&daemon->compute, &backup->base);
}
