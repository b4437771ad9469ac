#include "tools/starling/log_merge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/runtime/descriptors.h"
#include "tools/lib/command.h"

#define LOG_FILE "log.jsonl"

struct sl_log_source {
	char *name; /* relative to the folder */
	FILE *in;
	char *line; /* the last one read */
	size_t bytes, room;
	size_t lines;
	bool at_head; /* json, record and line hold its next record */
	json_t *json;
	struct sl_record record;
};

/* ---- one file ---- */

static void note_malformed(struct sl_log_merge *merge, const struct sl_log_source *s, size_t line)
{
	if (merge->malformed++ == 0)
		snprintf(merge->first_malformed, sizeof merge->first_malformed, "%s:%zu", s->name, line);
}

/* Read the next line. While the file is followed, a line without its newline is left for the next call. */
static bool next_line(const struct sl_log_merge *merge, struct sl_log_source *s)
{
	off_t start = ftello(s->in);
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

/* Read up to the next record of the file; return false if there is none for now. */
static bool advance(struct sl_log_merge *merge, struct sl_log_source *s)
{
	while (next_line(merge, s)) {
		if (s->bytes <= SL_LOG_RECORD_BYTES_MAX)
			s->json = json_loadb(s->line, s->bytes, 0, NULL);
		sl_record_read(&s->record, s->json);
		s->at_head = s->record.time != NULL;
		if (s->at_head)
			return true;
		json_decref(s->json);
		s->json = NULL;
		note_malformed(merge, s, s->lines);
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

/* ---- the heap ---- */

/* Compare by wall clock, which holds between machines; within one millisecond by the finer clock of the
 * machine. */
static bool earlier(const struct sl_log_merge *merge, size_t a, size_t b)
{
	const struct sl_record *x = &merge->sources[a]->record, *y = &merge->sources[b]->record;
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

/* ---- the folder ---- */

static bool known(const struct sl_log_merge *merge, const char *name)
{
	for (size_t i = 0; i < merge->count; i++)
		if (strcmp(merge->sources[i]->name, name) == 0)
			return true;
	return false;
}

/* Add `name`, relative to the open folder, if it is a log and new. */
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
	struct sl_log_source *s = sl_command_memory(1, sizeof *s);
	s->name = strdup(name);
	s->in = fdopen(fd, "r");
	assert(s->name != NULL && s->in != NULL);
	merge->sources = sl_command_grow(merge->sources, merge->count, &merge->room, sizeof s);
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

int sl_log_merge_open(struct sl_log_merge *merge, const char *folder, bool follow, struct sl_error *error)
{
	*merge = (struct sl_log_merge){.folder = folder, .follow = follow};
	sl_descriptors_raise();
	int code = sl_log_merge_refresh(merge, error);
	if (code == SL_OK && merge->count == 0)
		code = sl_err_set(error, SL_ERR_NOTFOUND,
				  "%s: no " LOG_FILE
				  " in it or in its folders; a learner writes one with the "
				  "setting `log: " LOG_FILE "`",
				  folder);
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
	*item = (struct sl_log_item){&s->record, s->line, s->bytes};
	return true;
}
