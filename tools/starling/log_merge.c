#include "tools/starling/log_merge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/runtime/descriptors.h"
#include "tools/lib/command.h"

#define LOG_FILE "log.jsonl"

struct sl_log_source {
	char *name; /* for messages: relative to the folder if there is only one */
	dev_t device;
	ino_t inode;
	FILE *in;
	char *line; /* the last one read */
	size_t bytes, room;
	size_t lines;
	bool at_head; /* json, record and line hold its next record */
	json_t *json;
	struct sl_record record;
	double at; /* its time, seconds since 1970 */
};

/* ---- one file ---- */

static void skip(struct sl_log_skipped *skipped, const struct sl_log_source *s)
{
	if (skipped->count++ == 0)
		snprintf(skipped->first, sizeof skipped->first, "%s:%zu", s->name, s->lines);
}

/* Read the next line. While the file is followed, a line without its newline is left for the next call. */
static bool next_line(const struct sl_log_merge *merge, struct sl_log_source *s)
{
	off_t start = merge->follow ? ftello(s->in) : 0;
	clearerr(s->in);
	ssize_t n = getline(&s->line, &s->room, s->in);
	if (n <= 0)
		return false;
	bool whole = s->line[n - 1] == '\n';
	if (!whole && merge->follow) {
		fseeko(s->in, start, SEEK_SET);
		return false;
	}
	s->bytes = (size_t)n - whole;
	s->lines++;
	return true;
}

static json_t *parse(const struct sl_log_source *s)
{
	json_t *json = s->bytes <= SL_LOG_RECORD_BYTES_MAX ? json_loadb(s->line, s->bytes, 0, NULL) : NULL;
	if (json_is_string(json_object_get(json, "time")))
		return json;
	json_decref(json);
	return NULL;
}

static bool is_other_version(const json_t *json)
{
	return json_integer_value(json_object_get(json, "v")) != SL_TIMELINE_SCHEMA;
}

/* Read up to the next record of the file; return false if there is none for now. */
static bool advance(struct sl_log_merge *merge, struct sl_log_source *s)
{
	while (next_line(merge, s)) {
		s->json = parse(s);
		sl_record_read(&s->record, s->json);
		s->at = s->json != NULL ? sl_timeline_wall(s->record.time) : NAN;
		s->at_head = !isnan(s->at) && !is_other_version(s->json);
		if (s->at_head)
			return true;
		skip(isnan(s->at) ? &merge->malformed : &merge->other_version, s);
		json_decref(s->json);
		s->json = NULL;
	}
	return false;
}

static void close_source(struct sl_log_source *s)
{
	fclose(s->in);
	json_decref(s->json);
	free(s->line);
	free(s->name);
	free(s);
}

/* ---- all records of a file, for the timeline ---- */

static void feed_source(struct sl_log_merge *merge, struct sl_log_source *s, struct sl_timeline *timeline)
{
	while (next_line(merge, s)) {
		json_t *json = parse(s);
		if (!sl_timeline_take(timeline, json))
			skip(json != NULL && is_other_version(json) ? &merge->other_version
								    : &merge->malformed,
			     s);
		json_decref(json);
	}
	rewind(s->in);
	s->lines = 0;
}

void sl_log_merge_feed(struct sl_log_merge *merge, struct sl_timeline *timeline)
{
	for (size_t i = 0; i < merge->count; i++)
		feed_source(merge, merge->sources[i], timeline);
}

/* ---- the heap ---- */

/* Compare by wall clock, as logged; within one millisecond by the finer clock of the machine. */
static bool earlier(const struct sl_log_merge *merge, size_t a, size_t b)
{
	const struct sl_log_source *x = merge->sources[a], *y = merge->sources[b];
	if (x->at != y->at)
		return x->at < y->at;
	return x->record.mono_ms != y->record.mono_ms ? x->record.mono_ms < y->record.mono_ms : a < b;
}

static void swap(size_t *a, size_t *b)
{
	size_t t = *a;
	*a = *b;
	*b = t;
}

static void push(struct sl_log_merge *merge, size_t source)
{
	merge->heap = sl_command_grow(merge->heap, merge->heap_size, &merge->heap_room, sizeof *merge->heap);
	size_t i = merge->heap_size++;
	merge->heap[i] = source;
	for (; i > 0 && earlier(merge, merge->heap[i], merge->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&merge->heap[i], &merge->heap[(i - 1) / 2]);
}

static size_t pop(struct sl_log_merge *merge)
{
	size_t *heap = merge->heap, top = heap[0], n = --merge->heap_size, i = 0;
	heap[0] = heap[n];
	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && earlier(merge, heap[child + 1], heap[child]))
			child++;
		if (!earlier(merge, heap[child], heap[i]))
			break;
		swap(&heap[child], &heap[i]);
	}
	return top;
}

/* ---- files and folders ---- */

static bool known(const struct sl_log_merge *merge, const struct stat *st)
{
	for (size_t i = 0; i < merge->count; i++)
		if (merge->sources[i]->inode == st->st_ino && merge->sources[i]->device == st->st_dev)
			return true;
	return false;
}

/* Write how messages name the file. */
static char *shown(const struct sl_log_merge *merge, const char *path, const char *name)
{
	char text[PATH_MAX];
	if (name == NULL || merge->path_count == 1)
		snprintf(text, sizeof text, "%s", name != NULL ? name : path);
	else
		snprintf(text, sizeof text, "%s/%s", path, name);
	char *made = strdup(text);
	assert(made != NULL);
	return made;
}

/* Add the file if it is a log and new: `path` itself (`name` NULL), or `name` in the open folder. */
static int add(struct sl_log_merge *merge, int folder, const char *path, const char *name,
	       struct sl_error *error)
{
	struct stat st;
	const char *file = name != NULL ? name : path;
	if (fstatat(folder, file, &st, 0) != 0 || !S_ISREG(st.st_mode))
		return SL_OK;
	merge->found++;
	if (known(merge, &st))
		return SL_OK;
	int fd = openat(folder, file, O_RDONLY | O_CLOEXEC);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	if (in == NULL)
		return sl_err_set(error, SL_ERR_IO, "%s%s%s: %s", path, name != NULL ? "/" : "",
				  name != NULL ? name : "", strerror(errno));
	struct sl_log_source *s = sl_command_memory(1, sizeof *s);
	s->name = shown(merge, path, name);
	s->device = st.st_dev;
	s->inode = st.st_ino;
	s->in = in;
	merge->sources = sl_command_grow(merge->sources, merge->count, &merge->room, sizeof s);
	merge->sources[merge->count++] = s;
	return SL_OK;
}

static int add_all(struct sl_log_merge *merge, int folder, const char *path, struct dirent **entries, int n,
		   struct sl_error *error)
{
	char name[sizeof((struct dirent *)0)->d_name + sizeof LOG_FILE + 1];
	int code = add(merge, folder, path, LOG_FILE, error);
	for (int i = 0; code == SL_OK && i < n; i++) {
		if (entries[i]->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "%s/" LOG_FILE, entries[i]->d_name);
		code = add(merge, folder, path, name, error);
	}
	return code;
}

static int scan(struct sl_log_merge *merge, const char *path, struct sl_error *error)
{
	struct dirent **entries = NULL;
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 && errno == ENOTDIR)
		return add(merge, AT_FDCWD, path, NULL, error);
	int n = folder < 0 ? -1 : scandir(path, &entries, NULL, alphasort);
	if (n < 0) {
		sl_err_set(error, SL_ERR_NOTFOUND, "%s: %s", path, strerror(errno));
		if (folder >= 0)
			close(folder);
		return SL_ERR_NOTFOUND;
	}
	int code = add_all(merge, folder, path, entries, n, error);
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	close(folder);
	return code;
}

static int scan_all(struct sl_log_merge *merge, struct sl_error *error)
{
	int code = SL_OK;
	for (size_t i = 0; code == SL_OK && i < merge->path_count; i++) {
		merge->found = 0;
		code = scan(merge, merge->paths[i], error);
		if (code == SL_OK && merge->found == 0 && !merge->opened)
			code = sl_err_set(error, SL_ERR_NOTFOUND,
					  "%s: no " LOG_FILE
					  " in it or in its folders; a learner writes one with the "
					  "setting `log: " LOG_FILE "`",
					  merge->paths[i]);
	}
	return code;
}

int sl_log_merge_refresh(struct sl_log_merge *merge, struct sl_error *error)
{
	int code = scan_all(merge, error);
	for (size_t i = 0; code == SL_OK && i < merge->count; i++)
		if (!merge->sources[i]->at_head && advance(merge, merge->sources[i]))
			push(merge, i);
	return code;
}

int sl_log_merge_open(struct sl_log_merge *merge, const char *const *paths, size_t count, bool follow,
		      struct sl_error *error)
{
	*merge = (struct sl_log_merge){.paths = paths, .path_count = count, .follow = follow};
	sl_descriptors_raise();
	int code = scan_all(merge, error);
	merge->opened = true;
	if (code != SL_OK)
		sl_log_merge_close(merge);
	return code;
}

void sl_log_merge_close(struct sl_log_merge *merge)
{
	for (size_t i = 0; i < merge->count; i++)
		close_source(merge->sources[i]);
	free(merge->sources);
	free(merge->heap);
	merge->sources = NULL;
	merge->heap = NULL;
	merge->count = merge->room = merge->heap_size = 0;
}

bool sl_log_merge_next(struct sl_log_merge *merge, struct sl_log_item *item)
{
	/* The caller no longer uses the last record: its line is read over. */
	if (merge->given_out) {
		struct sl_log_source *s = merge->sources[merge->last];
		merge->given_out = false;
		json_decref(s->json);
		s->json = NULL;
		s->at_head = false;
		if (advance(merge, s))
			push(merge, merge->last);
	}
	if (merge->heap_size == 0)
		return false;
	merge->last = pop(merge);
	merge->given_out = true;
	const struct sl_log_source *s = merge->sources[merge->last];
	*item = (struct sl_log_item){&s->record, s->json, s->line, s->bytes};
	return true;
}
