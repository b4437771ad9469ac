#include "tools/lib/log_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/runtime/descriptors.h"
#include "tools/lib/command.h"

#define LOG_FILE "log.jsonl"
#define READ_BYTES (8u << 10)

struct sl_log_file {
	char *path;
	const char *shown; /* the end of `path`, for messages: relative to the folder if there is only one */
	int fd;
	struct stat at; /* of the file that is read */
	off_t offset;	/* of the next read */
	char *bytes;	/* what is read, and no record yet; the line of the record before it */
	size_t from, used, room;
	bool cut; /* the present line is too long, and its beginning is dropped */
	const char *line;
	size_t line_bytes, lines;
	json_t *json; /* of the record; NULL: there is none */
	struct sl_record record;
	double time; /* of the record, seconds since 1970 */
};

/* Return the time of a record, "2026-11-23T10:45:59.620Z", in seconds since 1970; NaN if it is none. */
static double time_of(const char *text)
{
	struct tm tm = {0};
	const char *end = text != NULL ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	if (end == NULL)
		return NAN;
	double fraction = *end == '.' ? strtod(end, NULL) : 0;
	return fraction < 1 ? (double)timegm(&tm) + fraction : NAN;
}

/* ---- one file ---- */

static bool open_file(struct sl_log_file *f)
{
	f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait for its other end */
	f->offset = 0;
	f->from = f->used = f->lines = 0;
	return f->fd >= 0 && fstat(f->fd, &f->at) == 0 && S_ISREG(f->at.st_mode);
}

static void close_file(struct sl_log_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	json_decref(f->json);
	free(f->bytes);
}

/* Begin anew, and return true, if the name is another file now, or the file is shorter. */
static bool is_replaced(struct sl_log_file *f)
{
	struct stat st;
	if (stat(f->path, &st) != 0 ||
	    (st.st_ino == f->at.st_ino && st.st_dev == f->at.st_dev && st.st_size >= f->offset))
		return false;
	close(f->fd);
	return open_file(f);
}

/* Read on; return false at the end of the file. */
static bool read_more(struct sl_log_file *f)
{
	if (f->used - f->from > SL_LOG_FILES_LINE_BYTES_MAX) {
		f->cut = true;
		f->from = f->used;
	}
	f->used -= f->from;
	if (f->used > 0)
		memmove(f->bytes, f->bytes + f->from, f->used);
	f->from = 0;
	f->bytes = sl_command_grow(f->bytes, f->used + READ_BYTES, &f->room, 1);
	ssize_t n = pread(f->fd, f->bytes + f->used, READ_BYTES, f->offset);
	if (n <= 0)
		return false;
	f->offset += n;
	f->used += (size_t)n;
	return true;
}

/* Take the next line. `whole`: only one with its newline. */
static bool next_line(struct sl_log_file *f, bool whole)
{
	const char *end = NULL;
	size_t searched = 0;
	do {
		size_t n = f->used - f->from;
		searched = searched > n ? 0 : searched; /* the line was cut */
		end = n > searched ? memchr(f->bytes + f->from + searched, '\n', n - searched) : NULL;
		searched = n;
	} while (end == NULL && read_more(f));
	if (end == NULL && (whole || f->used == f->from))
		return false;
	f->line = f->bytes + f->from;
	f->line_bytes = end != NULL ? (size_t)(end - f->line) : f->used - f->from;
	f->from += f->line_bytes + (end != NULL);
	f->line_bytes = f->cut ? 0 : f->line_bytes;
	f->cut = false;
	f->lines++;
	return true;
}

/* Read the record in the line; return false if it has none of a known time. */
static bool read_record(struct sl_log_file *f)
{
	json_decref(f->json);
	f->json = json_loadb(f->line, f->line_bytes, 0, NULL);
	sl_record_read(&f->record, f->json);
	f->time = time_of(f->record.time);
	return !isnan(f->time);
}

void sl_log_files_end(const char *path, size_t from, size_t bytes, sl_log_take_fn *take, void *context)
{
	struct sl_log_file f = {.path = (char *)path};
	if (open_file(&f)) {
		off_t least = f.at.st_size > (off_t)bytes ? f.at.st_size - (off_t)bytes : 0;
		f.offset = least > (off_t)from ? least : (off_t)from;
		while (next_line(&f, false)) {
			read_record(&f);
			if (json_is_object(f.json))
				take(context, &f.record);
		}
	}
	close_file(&f);
}

/* ---- the stream ---- */

static bool is_present(const struct sl_record *record)
{
	return record->has[SL_FIELD_v] && record->v == SL_RECORDS_VERSION;
}

static void skip(struct sl_log_files_skipped *skipped, const struct sl_log_file *f)
{
	if (skipped->count++ == 0)
		snprintf(skipped->first, sizeof skipped->first, "%s:%zu", f->shown, f->lines);
}

/* Read up to the next record of the file; return false if there is none for now. */
static bool advance(struct sl_log_files *files, struct sl_log_file *f)
{
	do {
		while (next_line(f, files->follow)) {
			if (!read_record(f))
				skip(&files->malformed, f);
			else if (!is_present(&f->record))
				skip(&files->other_version, f);
			else
				return true;
		}
	} while (files->follow && is_replaced(f));
	json_decref(f->json);
	f->json = NULL;
	return false;
}

/* Compare by wall clock, as logged; within one millisecond by the finer clock of the machine. */
static bool is_earlier(const struct sl_log_files *files, size_t a, size_t b)
{
	const struct sl_log_file *x = files->files[a], *y = files->files[b];
	if (x->time != y->time)
		return x->time < y->time;
	return x->record.mono_ms != y->record.mono_ms ? x->record.mono_ms < y->record.mono_ms : a < b;
}

static void swap(size_t *a, size_t *b)
{
	size_t t = *a;
	*a = *b;
	*b = t;
}

/* Put file `i` to those that have a record, if it has one. */
static void push(struct sl_log_files *files, size_t i)
{
	if (!advance(files, files->files[i]))
		return;
	files->heap = sl_command_grow(files->heap, files->heap_size, &files->heap_room, sizeof *files->heap);
	size_t at = files->heap_size++;
	files->heap[at] = i;
	for (; at > 0 && is_earlier(files, files->heap[at], files->heap[(at - 1) / 2]); at = (at - 1) / 2)
		swap(&files->heap[at], &files->heap[(at - 1) / 2]);
}

/* Let the file on top sink to its place; it has another record now. */
static void sink(struct sl_log_files *files)
{
	size_t *heap = files->heap, n = files->heap_size, i = 0;
	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && is_earlier(files, heap[child + 1], heap[child]))
			child++;
		if (!is_earlier(files, heap[child], heap[i]))
			break;
		swap(&heap[child], &heap[i]);
	}
}

/* The caller no longer uses the last record, that of the file on top. */
static void let_go(struct sl_log_files *files)
{
	if (files->last == NULL)
		return;
	if (!advance(files, files->last))
		files->heap[0] = files->heap[--files->heap_size];
	sink(files);
	files->last = NULL;
}

bool sl_log_files_next(struct sl_log_files *files, struct sl_log_item *item)
{
	let_go(files);
	files->last = files->heap_size > 0 ? files->files[files->heap[0]] : NULL;
	if (files->last == NULL)
		return false;
	*item = (struct sl_log_item){&files->last->record, files->last->line, files->last->line_bytes};
	return true;
}

size_t sl_log_files_read(struct sl_log_files *files, sl_log_take_fn *take, void *context)
{
	struct sl_log_item item;
	size_t count = 0;
	for (; sl_log_files_next(files, &item); count++)
		take(context, item.record);
	return count;
}

/* ---- files and folders ---- */

static bool is_known(const struct sl_log_files *files, const char *path, const struct stat *st)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct sl_log_file *f = files->files[i];
		if ((f->at.st_ino == st->st_ino && f->at.st_dev == st->st_dev) || strcmp(f->path, path) == 0)
			return true;
	}
	return false;
}

/* Add PATH, or PATH/NAME/log.jsonl, if it is a log and new. `name` "": PATH/log.jsonl; NULL: PATH itself. */
static int add(struct sl_log_files *files, const char *path, const char *name, struct sl_error *error)
{
	struct stat st;
	char full[PATH_MAX];
	int n = name == NULL ? snprintf(full, sizeof full, "%s", path)
			     : snprintf(full, sizeof full, "%s/%s%s" LOG_FILE, path, name,
					*name != '\0' ? "/" : "");
	if (n < 0 || n >= PATH_MAX || stat(full, &st) != 0 || !S_ISREG(st.st_mode))
		return SL_OK;
	files->found++;
	if (is_known(files, full, &st))
		return SL_OK;
	struct sl_log_file *f = sl_command_memory(1, sizeof *f);
	f->path = strdup(full);
	assert(f->path != NULL);
	f->shown = f->path + (name != NULL && files->path_count == 1 ? strlen(path) + 1 : 0);
	files->files = sl_command_grow(files->files, files->count, &files->room, sizeof f);
	files->files[files->count++] = f;
	return open_file(f) ? SL_OK : sl_err_set(error, SL_ERR_IO, "%s: %s", full, strerror(errno));
}

static int scan(struct sl_log_files *files, const char *path, struct sl_error *error)
{
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, NULL, alphasort);
	if (n < 0 && errno == ENOTDIR)
		return add(files, path, NULL, error);
	if (n < 0)
		return sl_err_set(error, SL_ERR_NOTFOUND, "%s: %s", path, strerror(errno));
	int code = add(files, path, "", error);
	for (int i = 0; i < n; i++) {
		if (code == SL_OK && entries[i]->d_name[0] != '.')
			code = add(files, path, entries[i]->d_name, error);
		free(entries[i]);
	}
	free(entries);
	return code;
}

int sl_log_files_refresh(struct sl_log_files *files, struct sl_error *error)
{
	int code = SL_OK;
	let_go(files);
	for (size_t i = 0; code == SL_OK && i < files->path_count; i++) {
		files->found = 0;
		code = scan(files, files->paths[i], error);
		if (code == SL_OK && files->found == 0 && !files->opened)
			code = sl_err_set(error, SL_ERR_NOTFOUND,
					  "%s: no " LOG_FILE
					  " in it or in its folders; a learner writes one with the "
					  "setting `log: " LOG_FILE "`",
					  files->paths[i]);
	}
	for (size_t i = 0; code == SL_OK && i < files->count; i++)
		if (files->files[i]->json == NULL)
			push(files, i);
	return code;
}

int sl_log_files_open(struct sl_log_files *files, const char *const *paths, size_t count, bool follow,
		      struct sl_error *error)
{
	*files = (struct sl_log_files){.paths = paths, .path_count = count, .follow = follow};
	sl_descriptors_raise();
	int code = sl_log_files_refresh(files, error);
	files->opened = true;
	if (code != SL_OK)
		sl_log_files_close(files);
	return code;
}

void sl_log_files_close(struct sl_log_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		close_file(files->files[i]);
		free(files->files[i]->path);
		free(files->files[i]);
	}
	free(files->files);
	free(files->heap);
	*files = (struct sl_log_files){0};
}
