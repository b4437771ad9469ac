#include "tools/lib/log_merge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_FILE "log.jsonl"
#define BUFFER_BYTES 16384u

struct sl_log_source {
	char *name; /* relative to the folder */
	int fd;
	char *buffer;
	size_t from, used, room; /* unread bytes are buffer[from..used) */
	size_t lines;
	bool skipping; /* inside a line longer than any record */
	bool at_head;  /* record, line and bytes hold its next record */
	json_t *record;
	const char *time;
	double mono_ms;
	size_t line_at, line_bytes;
};

/* ---- one file ---- */

static bool make_room(struct sl_log_source *s)
{
	if (s->from > 0) {
		memmove(s->buffer, s->buffer + s->from, s->used - s->from);
		s->used -= s->from;
		s->from = 0;
	}
	if (s->used < s->room)
		return true;
	char *larger = realloc(s->buffer, s->room ? 2 * s->room : BUFFER_BYTES);
	if (larger == NULL)
		return false;
	s->buffer = larger;
	s->room = s->room ? 2 * s->room : BUFFER_BYTES;
	return true;
}

/* false: nothing more for now */
static bool read_more(struct sl_log_source *s)
{
	ssize_t n;
	if (!make_room(s))
		return false;
	do
		n = read(s->fd, s->buffer + s->used, s->room - s->used);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	s->used += (size_t)n;
	return true;
}

static void note_malformed(struct sl_log_merge *merge, const struct sl_log_source *s, size_t line)
{
	if (merge->malformed++ == 0)
		snprintf(merge->first_malformed, sizeof merge->first_malformed, "%s:%zu", s->name, line);
}

/* Drops the part of an overlong line that has been read; it is counted once, at its end. */
static void skip_overlong(struct sl_log_source *s)
{
	if (s->used - s->from > SL_LOG_RECORD_BYTES_MAX) {
		s->from = s->used;
		s->skipping = true;
	}
}

/* Finds the next line, into line_at and line_bytes. At the end of a file that is not followed the rest is a
 * line. */
static bool next_line(struct sl_log_merge *merge, struct sl_log_source *s)
{
	size_t searched = 0;
	for (;;) {
		char *start = s->buffer + s->from;
		size_t have = s->used - s->from;
		char *end = have > searched ? memchr(start + searched, '\n', have - searched) : NULL;
		if (end == NULL) {
			searched = have;
			if (read_more(s)) {
				skip_overlong(s);
				searched = s->skipping ? 0 : searched;
				continue;
			}
			if (merge->follow || (s->used == s->from && !s->skipping))
				return false;
			end = s->buffer + s->used;
		}
		s->line_at = s->from;
		s->line_bytes = (size_t)(end - (s->buffer + s->from));
		s->from += s->line_bytes;
		if (s->from < s->used)
			s->from++;
		s->lines++;
		return true;
	}
}

static bool parse_line(struct sl_log_source *s)
{
	s->record = json_loadb(s->buffer + s->line_at, s->line_bytes, 0, NULL);
	s->time = json_string_value(json_object_get(s->record, "time"));
	s->mono_ms = json_number_value(json_object_get(s->record, "mono_ms"));
	if (s->time)
		return true;
	json_decref(s->record);
	s->record = NULL;
	return false;
}

/* Reads on to the file's next record; false when there is none for now. */
static bool advance(struct sl_log_merge *merge, struct sl_log_source *s)
{
	while (next_line(merge, s)) {
		bool overlong = s->skipping;
		s->skipping = false;
		if (overlong || !parse_line(s)) {
			note_malformed(merge, s, s->lines);
			continue;
		}
		s->at_head = true;
		return true;
	}
	return false;
}

static void close_source(struct sl_log_source *s)
{
	close(s->fd);
	json_decref(s->record);
	free(s->buffer);
	free(s->name);
	free(s);
}

/* ---- the heap ---- */

/* By wall clock, which holds between machines; within one millisecond by the machine's own, finer clock. */
static bool earlier(const struct sl_log_merge *merge, size_t a, size_t b)
{
	const struct sl_log_source *x = merge->sources[a], *y = merge->sources[b];
	int order = strcmp(x->time, y->time);
	if (order != 0)
		return order < 0;
	return x->mono_ms != y->mono_ms ? x->mono_ms < y->mono_ms : a < b;
}

static void swap(size_t *a, size_t *b)
{
	size_t t = *a;
	*a = *b;
	*b = t;
}

static void push(struct sl_log_merge *merge, size_t source)
{
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

/* ---- the folder ---- */

static bool known(const struct sl_log_merge *merge, const char *name)
{
	for (size_t i = 0; i < merge->count; i++)
		if (strcmp(merge->sources[i]->name, name) == 0)
			return true;
	return false;
}

static int grow(struct sl_log_merge *merge)
{
	if (merge->count < merge->room)
		return SL_OK;
	size_t room = merge->room ? 2 * merge->room : 64;
	void *sources = realloc(merge->sources, room * sizeof *merge->sources);
	if (sources)
		merge->sources = sources;
	void *heap = realloc(merge->heap, room * sizeof *merge->heap);
	if (heap)
		merge->heap = heap;
	if (!sources || !heap)
		return SL_ERR_NOMEM;
	merge->room = room;
	return SL_OK;
}

/* Adds name (relative to the open folder) if it is a log and not there yet. */
static int add(struct sl_log_merge *merge, int folder, const char *name, struct sl_error *error)
{
	struct stat st;
	if (known(merge, name))
		return SL_OK;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return SL_OK;
	if (fd < 0)
		return sl_err_set(error, SL_ERR_IO, "%s/%s: %s", merge->folder, name, strerror(errno));
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return SL_OK;
	}
	struct sl_log_source *s = calloc(1, sizeof *s);
	char *copy = strdup(name);
	if (!s || !copy || grow(merge) != SL_OK) {
		free(s);
		free(copy);
		close(fd);
		return sl_err_set(error, SL_ERR_NOMEM, "%s: out of memory", merge->folder);
	}
	s->name = copy;
	s->fd = fd;
	merge->sources[merge->count++] = s;
	return SL_OK;
}

static int add_all(struct sl_log_merge *merge, int folder, struct dirent **entries, int n,
		   struct sl_error *error)
{
	char name[sizeof((struct dirent *)0)->d_name + sizeof LOG_FILE + 1];
	int code = add(merge, folder, LOG_FILE, error);
	for (int i = 0; code == SL_OK && i < n; i++) {
		if (entries[i]->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "%s/" LOG_FILE, entries[i]->d_name);
		code = add(merge, folder, name, error);
	}
	return code;
}

static int scan(struct sl_log_merge *merge, struct sl_error *error)
{
	struct dirent **entries = NULL;
	int folder = open(merge->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int n = folder < 0 ? -1 : scandir(merge->folder, &entries, NULL, alphasort);
	if (n < 0) {
		sl_err_set(error, SL_ERR_NOTFOUND, "%s: %s", merge->folder, strerror(errno));
		if (folder >= 0)
			close(folder);
		return SL_ERR_NOTFOUND;
	}
	int code = add_all(merge, folder, entries, n, error);
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	close(folder);
	return code;
}

int sl_log_merge_refresh(struct sl_log_merge *merge, struct sl_error *error)
{
	int code = scan(merge, error);
	for (size_t i = 0; code == SL_OK && i < merge->count; i++)
		if (!merge->sources[i]->at_head && advance(merge, merge->sources[i]))
			push(merge, i);
	return code;
}

/* One file a learner may be more than the usual 1,024. */
static void raise_file_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int sl_log_merge_open(struct sl_log_merge *merge, const char *folder, bool follow, struct sl_error *error)
{
	*merge = (struct sl_log_merge){.folder = folder, .follow = follow};
	raise_file_limit();
	int code = sl_log_merge_refresh(merge, error);
	if (code == SL_OK && merge->count == 0)
		code = sl_err_set(error, SL_ERR_NOTFOUND, "%s: holds no logs (no NAME/" LOG_FILE ")", folder);
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
	/* What was given out last stays as it is until now; only now may its buffer move. */
	if (merge->given_out) {
		struct sl_log_source *s = merge->sources[merge->last];
		merge->given_out = false;
		json_decref(s->record);
		s->record = NULL;
		s->at_head = false;
		if (advance(merge, s))
			push(merge, merge->last);
	}
	if (merge->heap_size == 0)
		return false;
	merge->last = pop(merge);
	merge->given_out = true;
	const struct sl_log_source *s = merge->sources[merge->last];
	*item = (struct sl_log_item){s->record, s->buffer + s->line_at, s->line_bytes};
	return true;
}
