/* run_folder.h - the folder of a local run: everything that its daemons read and write.
 *
 *	RUN/roster.yaml  RUN/schedule.txt  RUN/summary.json  RUN/pid (while it runs)
 *	RUN/learner-01/{config.yaml, identity/{key.pem,cert.pem}, state/, log.jsonl, control.sock, stderr.txt}
 *
 * Paths inside it are relative, so that it may be moved. The caller removes a folder that it could not fill
 * (sl_run_folder_remove).
 */
#pragma once

#include <limits.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/types.h"

struct sl_run_folder {
	char path[PATH_MAX];  /* absolute */
	char shown[PATH_MAX]; /* as it was given, for messages */
	char name[SL_NAME_BYTES];
	uint32_t learners;
	bool created; /* else it was there, and empty */
};

/* Make the folder `path`, or use an empty one. SL_ERR_BUSY if it is not empty. */
int sl_run_folder_open(struct sl_run_folder *folder, const char *path, uint32_t learners,
		       struct sl_error *error);

/* Make a new folder, called `path` or, if that exists, path-2, path-3, ... */
int sl_run_folder_new(struct sl_run_folder *folder, const char *path, uint32_t learners,
		      struct sl_error *error);

/* "learner-01": as wide as the number of learners asks for, two digits at least. */
void sl_run_folder_learner_name(const struct sl_run_folder *folder, uint32_t index,
				char name[static SL_NAME_BYTES]);

/* RUN/learner-01/FILE, FILE may be "". SL_ERR_RANGE if it is too long for a path. */
int sl_run_folder_path(const struct sl_run_folder *folder, uint32_t index, const char *file,
		       char path[static PATH_MAX]);

/* RUN/FILE. SL_ERR_RANGE if it is too long for a path. */
int sl_run_folder_file(const struct sl_run_folder *folder, const char *file, char path[static PATH_MAX]);

/* Remove the contents, and the folder itself if sl_run_folder_open made it. */
void sl_run_folder_remove(const struct sl_run_folder *folder);

/* A file of the run while it is written: RUN/FILE is there completely or not at all, by a temporary file,
 * fsync and rename. Close tells of each error since open. SL_ERR_IO, SL_ERR_RANGE. */
struct sl_run_file {
	FILE *out;
	char path[PATH_MAX], temporary[PATH_MAX];
};
int sl_run_file_open(struct sl_run_file *file, const struct sl_run_folder *folder, const char *name,
		     struct sl_error *error);
int sl_run_file_close(struct sl_run_file *file, struct sl_error *error);
/* Write these bytes. */
int sl_run_folder_write(const struct sl_run_folder *folder, const char *file, const char *bytes, size_t count,
			struct sl_error *error);
