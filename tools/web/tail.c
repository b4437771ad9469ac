#include "tools/web/tail.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/runtime/descriptors.h"
#include "tools/lib/command.h"
#include "tools/web/excerpt.h"

#define READ_BYTES (256u << 10)
#define LINE_BYTES_MAX (1u << 20) /* a longer line is left out */
#define LOG_BYTES (4u << 20)	  /* of the end of a log, where the records of one round are looked for */

struct source {
	char path[PATH_MAX]; /* of the log */
	uint64_t learner;    /* 0: not known yet */
	int fd;
	struct stat at; /* of the file that is read */
	off_t offset;	/* of the next read */
	char *bytes;	/* the beginning of a line */
	size_t used, room;
};

struct sl_web_tail {
	char folder[PATH_MAX];
	struct source **sources;
	size_t count, room;
	size_t running; /* source that listened last */
};

/* ---- the files ---- */

static bool is_known(const struct sl_web_tail *tail, const char *path)
{
	for (size_t i = 0; i < tail->count; i++)
		if (strcmp(tail->sources[i]->path, path) == 0)
			return true;
	return false;
}

static void add(struct sl_web_tail *tail, const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	int n = snprintf(path, sizeof path, "%s/%s%slog.jsonl", tail->folder, name, *name != '\0' ? "/" : "");
	if (n < 0 || n >= PATH_MAX || stat(path, &st) != 0 || !S_ISREG(st.st_mode) || is_known(tail, path))
		return;
	struct source *s = sl_command_memory(1, sizeof *s);
	strcpy(s->path, path);
	s->fd = -1;
	tail->sources = sl_command_grow(tail->sources, tail->count, &tail->room, sizeof s);
	tail->sources[tail->count++] = s;
}

static bool scan(struct sl_web_tail *tail)
{
	DIR *dir = opendir(tail->folder);
	if (dir == NULL)
		return false;
	add(tail, "");
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
		if (entry->d_name[0] != '.')
			add(tail, entry->d_name);
	closedir(dir);
	return true;
}

int sl_web_tail_open(struct sl_web_tail **tail, const char *folder, bool empty, struct sl_error *error)
{
	struct sl_web_tail *t = sl_command_memory(1, sizeof *t);
	snprintf(t->folder, sizeof t->folder, "%s", folder);
	sl_descriptors_raise();
	int code = SL_OK;
	if (!scan(t))
		code = sl_err_set(error, SL_ERR_NOTFOUND, "%s: %s", folder, strerror(errno));
	else if (t->count == 0 && !empty)
		code = sl_err_set(error, SL_ERR_NOTFOUND,
				  "%s: no log.jsonl in it or in its folders; give the folder of a run",
				  folder);
	if (code != SL_OK) {
		sl_web_tail_close(t);
		t = NULL;
	}
	*tail = t;
	return code;
}

void sl_web_tail_close(struct sl_web_tail *tail)
{
	if (tail == NULL)
		return;
	for (size_t i = 0; i < tail->count; i++) {
		if (tail->sources[i]->fd >= 0)
			close(tail->sources[i]->fd);
		free(tail->sources[i]->bytes);
		free(tail->sources[i]);
	}
	free(tail->sources);
	free(tail);
}

/* Open the log if it is not open; begin anew if the name is another file now, or the file is shorter. */
static bool ready(struct source *s)
{
	struct stat st;
	if (s->fd >= 0 && stat(s->path, &st) == 0 &&
	    (st.st_ino != s->at.st_ino || st.st_dev != s->at.st_dev || st.st_size < s->offset)) {
		close(s->fd);
		s->fd = -1;
	}
	if (s->fd < 0) {
		s->fd = open(s->path, O_RDONLY | O_CLOEXEC);
		s->offset = 0;
		s->used = 0;
		if (s->fd >= 0)
			fstat(s->fd, &s->at);
	}
	return s->fd >= 0;
}

/* ---- lines ---- */

static size_t take_lines(struct source *s, sl_web_take_fn *take, void *context)
{
	size_t from = 0, taken = 0;
	const char *newline;
	while ((newline = memchr(s->bytes + from, '\n', s->used - from)) != NULL) {
		size_t to = (size_t)(newline - s->bytes);
		json_t *record = json_loadb(s->bytes + from, to - from, 0, NULL);
		if (json_is_object(record)) {
			if (s->learner == 0)
				s->learner = (uint64_t)json_integer_value(json_object_get(record, "learner"));
			take(context, record);
			taken++;
		}
		json_decref(record);
		from = to + 1;
	}
	memmove(s->bytes, s->bytes + from, s->used - from);
	s->used -= from;
	if (s->used > LINE_BYTES_MAX)
		s->used = 0;
	return taken;
}

static size_t read_source(struct source *s, sl_web_take_fn *take, void *context)
{
	size_t taken = 0;
	while (ready(s)) {
		if (s->room - s->used < READ_BYTES) {
			s->room = s->used + READ_BYTES;
			s->bytes = realloc(s->bytes, s->room);
			if (s->bytes == NULL)
				abort();
		}
		ssize_t n = pread(s->fd, s->bytes + s->used, s->room - s->used, s->offset);
		if (n <= 0)
			break;
		s->offset += n;
		s->used += (size_t)n;
		taken += take_lines(s, take, context);
	}
	return taken;
}

size_t sl_web_tail_read(struct sl_web_tail *tail, sl_web_take_fn *take, void *context)
{
	size_t taken = 0;
	scan(tail);
	for (size_t i = 0; i < tail->count; i++)
		taken += read_source(tail->sources[i], take, context);
	return taken;
}

/* ---- the log of one learner ---- */

json_t *sl_web_tail_log(struct sl_web_tail *tail, uint64_t learner, uint64_t round, int level, size_t most)
{
	struct sl_web_excerpt excerpt;
	sl_web_excerpt_init(&excerpt, round, level, most);
	for (size_t i = 0; i < tail->count; i++) {
		struct source once = {.fd = -1, .learner = learner};
		if (tail->sources[i]->learner != learner)
			continue;
		strcpy(once.path, tail->sources[i]->path);
		if (ready(&once))
			once.offset = once.at.st_size > LOG_BYTES ? once.at.st_size - LOG_BYTES : 0;
		read_source(&once, sl_web_excerpt_take, &excerpt);
		free(once.bytes);
		if (once.fd >= 0)
			close(once.fd);
	}
	return excerpt.records;
}

/* ---- learners that run ---- */

/* The address of a socket has room for 107 bytes: go through the descriptor of its folder. */
static bool listens(const struct source *s)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char folder[PATH_MAX];
	snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(s->path, '/') - s->path), s->path);
	int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/control.sock", at);
	bool up = at >= 0 && fd >= 0 &&
		  (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 || errno == EAGAIN);
	if (at >= 0)
		close(at);
	if (fd >= 0)
		close(fd);
	return up;
}

bool sl_web_tail_running(struct sl_web_tail *tail)
{
	for (size_t i = 0; i < tail->count; i++) {
		size_t j = (tail->running + i) % tail->count;
		if (listens(tail->sources[j])) {
			tail->running = j;
			return true;
		}
	}
	return false;
}

/* ---- as a source ---- */

static size_t read_from(void *tail, sl_web_take_fn *take, void *context)
{
	return sl_web_tail_read(tail, take, context);
}

static json_t *log_from(void *tail, uint64_t learner, uint64_t round, int level, size_t most)
{
	return sl_web_tail_log(tail, learner, round, level, most);
}

static bool running_from(void *tail)
{
	return sl_web_tail_running(tail);
}

struct sl_web_source sl_web_tail_source(struct sl_web_tail *tail)
{
	return (struct sl_web_source){tail, read_from, log_from, running_from};
}
