/* log_files.h - the logs of any number of learners, as one stream of records in the order of time.
 *
 *   FILE, FOLDER/log.jsonl, FOLDER/NAME/log.jsonl --> lines --> struct sl_record, the earliest first
 *
 * Holds a line of each file. The order within a file is kept, even where its clock went back. A log that was
 * replaced or cut is read anew. Owns the files; filters and output are the caller's.
 */
#pragma once

#include <sys/types.h>

#include "common/base/err.h"
#include "common/base/types.h"
#include "common/report/record.h"

#define SL_LOG_FILES_LINE_BYTES_MAX (1u << 20) /* a longer line is malformed */

struct sl_log_file;

/* Lines that are left out. */
struct sl_log_files_skipped {
	size_t count;
	char first[256]; /* "learner-03/log.jsonl:17" */
};

struct sl_log_files {
	const char *const *paths; /* files and folders; the caller's */
	size_t path_count;
	size_t found; /* logs of a path */
	bool follow;  /* a last line is read only once it has its newline */
	bool opened;  /* files that are missing are no error */
	struct sl_log_file **files;
	size_t count, room;
	size_t *heap; /* files that have a record, the earliest on top */
	size_t heap_size, heap_room;
	struct sl_log_file *last; /* that the caller's record is of; NULL: none */
	struct sl_log_files_skipped malformed, other_version;
};

/* One record; valid until the next call. */
struct sl_log_item {
	const struct sl_record *record;
	const char *line; /* as it stands in the file, without newline */
	size_t bytes;
};

/* Take one record, which is borrowed for the call. */
typedef void sl_log_take_fn(void *context, const struct sl_record *record);

/* SL_ERR_NOTFOUND: a path is missing, or any log in a folder. SL_ERR_IO. */
int sl_log_files_open(struct sl_log_files *files, const char *const *paths, size_t count, bool follow,
		      struct sl_error *error);
void sl_log_files_close(struct sl_log_files *files);
/* Take up what was written since, and new files. */
int sl_log_files_refresh(struct sl_log_files *files, struct sl_error *error);

/* Set `item` to the next record in time; return false when all files are read to their ends. */
bool sl_log_files_next(struct sl_log_files *files, struct sl_log_item *item);
/* Hand over all of them; return their number. */
size_t sl_log_files_read(struct sl_log_files *files, sl_log_take_fn *take, void *context);

/* Hand over the records of one log, of any version and time, from offset `from` on, of its last `bytes` at
 * most. A file that is missing is an empty one. */
void sl_log_files_end(const char *path, size_t from, size_t bytes, sl_log_take_fn *take, void *context);
