#include "tools/web/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/lib/control_query.h"

#define LOG_BYTES (4u << 20) /* of the end of a log, where the records of one round are looked for */

/* ---- log files ---- */

static size_t read_files(void *files, sl_log_take_fn *take, void *context)
{
	struct sl_error error = {0};
	sl_log_files_refresh(files, &error); /* a folder that is gone has no more records */
	return sl_log_files_read(files, take, context);
}

static void read_again(void *files, uint64_t learner, sl_log_take_fn *take, void *context)
{
	sl_log_files_again(files, learner, LOG_BYTES, take, context);
}

/* Return true if a learner listens on its control socket, beside its log. */
static bool is_running(void *files)
{
	const char *path;
	for (size_t i = 0; (path = sl_log_files_path(files, i)) != NULL; i++) {
		char folder[PATH_MAX];
		snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
		int fd = sl_control_query_connect(folder, "control.sock");
		if (fd >= 0)
			close(fd);
		if (fd >= 0 || errno == EAGAIN)
			return true;
	}
	return false;
}

struct sl_web_source sl_web_source_files(struct sl_log_files *files)
{
	return (struct sl_web_source){files, read_files, read_again, is_running};
}

/* ---- the log of one learner ---- */

struct excerpt {
	json_t *records;
	uint64_t round;
	int level;
	size_t most;
	bool within; /* the last record with a round was of this one */
};

static void take(void *context, const struct sl_record *record)
{
	static const char *const fields[] = {"time", "level", "event", "text", "round"};
	struct excerpt *e = context;
	if (record->has[SL_FIELD_round])
		e->within = record->round == e->round;
	if ((e->round != 0 && !e->within) ||
	    (record->level != NULL && sl_level_find(record->level) < e->level))
		return;
	json_t *kept = json_object();
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		json_object_set(kept, fields[i], json_object_get(record->json, fields[i]));
	json_array_append_new(e->records, kept);
	if (json_array_size(e->records) > e->most)
		json_array_remove(e->records, 0);
}

json_t *sl_web_source_log(const struct sl_web_source *source, uint64_t learner, uint64_t round, int level,
			  size_t most)
{
	struct excerpt excerpt = {json_array(), round, level, most, false};
	source->again(source->from, learner, take, &excerpt);
	return excerpt.records;
}
