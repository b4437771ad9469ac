/* log_merge.h - any number of logs merged by time.
 *
 * Reads files, and of folders FOLDER/log.jsonl and FOLDER/NAME/log.jsonl, a line of each at a time, and
 * returns the earliest of their next records, by the times in them. The order within a file is kept, even
 * where its clock went back. Owns the files; filters and output are the caller's.
 */
#pragma once

#include <jansson.h>

#include "common/base/err.h"
#include "common/base/types.h"
#include "common/report/record.h"
#include "tools/timeline/timeline.h"

#define SL_LOG_RECORD_BYTES_MAX (1u << 20) /* a longer line is malformed */

struct sl_log_source;

/* Lines that are left out. */
struct sl_log_skipped {
	size_t count;
	char first[256]; /* "learner-03/log.jsonl:17" */
};

struct sl_log_merge {
	const char *const *paths; /* files and folders; the caller's */
	size_t path_count;
	size_t found; /* logs of a path */
	bool opened;  /* later, files that are missing are no error */
	struct sl_log_source **sources;
	size_t count, room;
	size_t *heap; /* sources that have a record, the earliest on top */
	size_t heap_size, heap_room;
	bool given_out; /* the caller uses the record of source `last` */
	size_t last;
	bool follow; /* a last line is read only once it has its newline */
	struct sl_log_skipped malformed, other_version;
};

/* One record; valid until the next call. */
struct sl_log_item {
	const struct sl_record *record;
	const json_t *json;
	const char *line; /* as it stands in the file, without newline */
	size_t bytes;
};

/* SL_ERR_NOTFOUND when a path or any log in a folder is missing. */
int sl_log_merge_open(struct sl_log_merge *merge, const char *const *paths, size_t count, bool follow,
		      struct sl_error *error);
void sl_log_merge_close(struct sl_log_merge *merge);

/* Put the records of all files into the timeline, and begin anew with the first ones. */
void sl_log_merge_feed(struct sl_log_merge *merge, struct sl_timeline *timeline);

/* Take up what was written since, and new files. For --follow. */
int sl_log_merge_refresh(struct sl_log_merge *merge, struct sl_error *error);

/* The next record in time; false when all files are read to their ends. */
bool sl_log_merge_next(struct sl_log_merge *merge, struct sl_log_item *item);
