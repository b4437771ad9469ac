#include "daemon/runtime/log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/clean.h"
#include "common/config/envelope.h"
#include "daemon/runtime/log_journal.h"

#define JSON_STYLE                                                                                           \
	(JSON_COMPACT | JSON_REAL_PRECISION(15)) /* 17 digits would print 0.1 as 0.10000000000000001 */

struct sl_log {
	int fd;
	bool owned, journal, text, colour, failed;
	bool cut; /* the last line, by a full disk: it has no newline */
	int level;
	sl_id id;
	char name[SL_NAME_BYTES];
	char path[SL_PATH_BYTES];
	struct {
		sl_log_watch watch; /* NULL: none */
		void *context;
	} watchers[SL_LOG_WATCHERS_MAX];
};

/* Return true if `fd` is a terminal and NO_COLOR is not set. */
static bool is_coloured(int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	if (no_color && no_color[0] != '\0')
		return false;
	return isatty(fd) && !(term && strcmp(term, "dumb") == 0);
}

/* Open the file of `settings` and take the rest; what `log` has open is not closed. */
static int open_file(struct sl_log *log, const struct sl_settings *settings, struct sl_error *error)
{
	enum sl_log_format format = settings->log_format;
	bool standard = strcmp(settings->log, "-") == 0 || format == SL_LOG_JOURNAL;
	if (format == SL_LOG_JOURNAL && !sl_log_journal_runs())
		return sl_err_set(error, SL_ERR_IO,
				  "log_format: journal: no journal runs here; use json, text or auto");
	/* not blocking: a pipe that is not read loses records, and holds up no learner */
	int fd = standard ? STDERR_FILENO
			  : open(settings->log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0640);
	if (fd < 0)
		return sl_err_set(error, SL_ERR_IO, "log: %s: %s", settings->log, strerror(errno));
	log->fd = fd;
	log->owned = !standard;
	log->journal =
		format == SL_LOG_JOURNAL || (format == SL_LOG_AUTO && standard && sl_log_journal_found());
	log->text = format == SL_LOG_TEXT || (format == SL_LOG_AUTO && isatty(fd));
	log->colour = is_coloured(fd);
	log->level = settings->log_level;
	log->failed = log->cut = false;
	snprintf(log->path, sizeof log->path, "%s",
		 log->journal ? "the journal"
		 : standard   ? "standard error"
			      : settings->log);
	return SL_OK;
}

int sl_log_open(struct sl_log **log, const struct sl_settings *settings, struct sl_error *error)
{
	struct sl_log *l = calloc(1, sizeof *l);
	*log = NULL;
	if (l == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "log: out of memory");
	int rc = open_file(l, settings, error);
	if (rc != SL_OK) {
		free(l);
		return rc;
	}
	l->id = settings->id;
	*log = l;
	return SL_OK;
}

void sl_log_name(struct sl_log *log, const char *name)
{
	snprintf(log->name, sizeof log->name, "%s", name);
}

int sl_log_reopen(struct sl_log *log, const struct sl_settings *settings, struct sl_error *error)
{
	int fd = log->owned ? log->fd : -1;
	int rc = open_file(log, settings, error);
	if (rc == SL_OK && fd >= 0)
		close(fd);
	return rc;
}

bool sl_log_is_standard(const struct sl_log *log)
{
	return !log->owned && !log->journal;
}

static struct sl_log *last_log; /* of sl_log_bus_error; NULL: none */

void sl_log_watch_add(struct sl_log *log, sl_log_watch watch, void *context)
{
	uint32_t i = 0;
	while (i < SL_LOG_WATCHERS_MAX && log->watchers[i].watch != NULL)
		i++;
	assert(i < SL_LOG_WATCHERS_MAX);
	log->watchers[i].watch = watch;
	log->watchers[i].context = context;
}

void sl_log_watch_remove(struct sl_log *log, const void *context)
{
	for (uint32_t i = 0; i < SL_LOG_WATCHERS_MAX; i++)
		if (log->watchers[i].context == context)
			log->watchers[i].watch = NULL;
}

void sl_log_close(struct sl_log *log)
{
	if (log == NULL)
		return;
	if (log == last_log)
		signal(SIGBUS, SIG_DFL);
	if (log->owned)
		close(log->fd);
	free(log);
}

/* Report the first failed write on standard error; the learner continues without a log. */
static void report_failure(struct sl_log *log)
{
	if (log->failed)
		return;
	log->failed = true;
	dprintf(STDERR_FILENO, "starlingd: cannot write the log (%s): %s; records are lost\n", log->path,
		strerror(errno));
}

/* One write per line, so that lines of several processes in one file do not mix. A line that was cut ends
 * before the next one begins: only it is lost. */
static void write_line(struct sl_log *log, const char *bytes, size_t n)
{
	struct iovec parts[] = {{(char *)"\n", log->cut}, {(char *)bytes, n}};
	ssize_t written;
	n += log->cut;
	do
		written = writev(log->fd, parts, 2);
	while (written < 0 && errno == EINTR);
	if (written > 0)
		log->cut = (size_t)written < n;
	if (written >= 0 && (size_t)written < n)
		errno = ENOSPC; /* a short write to a file has this reason */
	if (written < 0 || (size_t)written < n)
		report_failure(log);
}

static double monotonic_ms(void)
{
	return (double)(uv_hrtime() / 1000) / 1e3;
}

void sl_log_now(char text[static SL_LOG_TIME_BYTES])
{
	struct timespec t;
	struct tm tm;
	clock_gettime(CLOCK_REALTIME, &t);
	gmtime_r(&t.tv_sec, &tm);
	size_t n = strftime(text, SL_LOG_TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, SL_LOG_TIME_BYTES - n, ".%03ldZ", t.tv_nsec / 1000000);
}

/* The keys of the fields that every record has. */
static const struct {
#define X(field, ...) const char *field;
	SL_ENVELOPE_FIELDS(X)
#undef X
} keys = {
#define X(field, key, ...) key,
	SL_ENVELOPE_FIELDS(X)
#undef X
};

/* Text may quote received bytes: text that is not UTF-8 is replaced, so that the record is not lost. */
static json_t *json_text(const char *text)
{
	json_t *s = json_string(text);
	return s ? s : json_string("(not UTF-8)");
}

static json_t *make_record(const struct sl_log *log, enum sl_level level, const char *event, const char *text,
			   json_t *fields)
{
	char time[SL_LOG_TIME_BYTES];
	sl_log_now(time);
#define X(field, ...) json_t *field;
	struct {
		SL_ENVELOPE_FIELDS(X)
	} values = {.v = json_integer(SL_RECORDS_VERSION),
		    .time = json_string(time),
		    .mono_ms = json_real(monotonic_ms()),
		    .level = json_string(sl_level_name(level)),
		    .learner = json_integer((json_int_t)log->id),
		    .name = json_text(log->name),
		    .event = json_text(event),
		    .text = json_text(text)};
#undef X
	json_t *record = json_object();
#define X(field, ...) json_object_set_new(record, keys.field, values.field);
	SL_ENVELOPE_FIELDS(X)
#undef X
	if (record && fields)
		json_object_update_missing(record, fields); /* a field never hides one of these */
	return record;
}

bool sl_log_takes(const struct sl_log *log, enum sl_level level)
{
	return (int)level >= log->level;
}

static void write_record(struct sl_log *log, enum sl_level level, const json_t *record, char *json)
{
	char line[SL_LOG_LINE_BYTES];
	size_t n = strlen(json);
	if (log->journal) {
		int rc = sl_log_journal_send(level, record, json);
		errno = -rc;
		if (rc < 0)
			report_failure(log);
	} else if (log->text) {
		write_line(log, line, sl_log_render(record, log->colour, line, sizeof line));
	} else {
		json[n] = '\n'; /* in place of the terminating zero, for one write */
		write_line(log, json, n + 1);
		json[n] = '\0';
	}
}

void sl_log(struct sl_log *log, enum sl_level level, const char *event, const char *text,
	    struct json_t *fields)
{
	json_t *record = sl_log_takes(log, level) ? make_record(log, level, event, text, fields) : NULL;
	char *json = record ? json_dumps(record, JSON_STYLE) : NULL;
	if (json) {
		size_t n = strlen(json);
		write_record(log, level, record, json);
		for (uint32_t i = 0; i < SL_LOG_WATCHERS_MAX; i++)
			if (log->watchers[i].watch != NULL)
				log->watchers[i].watch(log->watchers[i].context, json, n);
	}
	free(json);
	json_decref(record);
	json_decref(fields);
}

/* ---- the last record ---- */

/* The fault is an access of this thread to a mapped file, never within the C library: it holds no lock. On
 * return the access faults again, and ends the process. */
static void on_bus_error(int number)
{
	(void)number;
	memset(last_log->watchers, 0, sizeof last_log->watchers); /* of another thread */
	sl_log(last_log, SL_ERROR, "fatal",
	       "a file of the state folder was cut short while it was in use, or its disk has failed: check "
	       "the disk, then "
	       "start the learner again",
	       NULL);
}

void sl_log_bus_error(struct sl_log *log)
{
	struct sigaction action = {.sa_handler = on_bus_error, .sa_flags = (int)SA_RESETHAND};
	last_log = log;
	sigaction(SIGBUS, &action, NULL);
}

/* ---- the text form ---- */

static const char *get(const json_t *record, const char *key)
{
	const char *s = json_string_value(json_object_get(record, key));
	return s ? s : "";
}

/* Copy a text of a record, as far as it fits. */
static void copy(const json_t *record, const char *key, char *text, size_t size)
{
	snprintf(text, size, "%s", get(record, key));
	sl_clean_text(text);
}

static const char *level_colour(int level)
{
	static const char *const colours[] = {[SL_DEBUG] = "\033[2m",
					      [SL_INFO] = "\033[32m",
					      [SL_WARN] = "\033[33m",
					      [SL_ERROR] = "\033[31m"};
	return level >= SL_DEBUG && level <= SL_ERROR ? colours[level] : "";
}

size_t sl_log_render(const struct json_t *record, bool colour, char *line, size_t size)
{
	char time[16], name[SL_NAME_BYTES], level[8], event[32], text[SL_LOG_LINE_BYTES / 2];
	const char *stamp = get(record, keys.time);
	snprintf(time, sizeof time, "%.12s", strlen(stamp) >= 23 ? stamp + 11 : "");
	sl_clean_text(time);
	copy(record, keys.name, name, sizeof name);
	copy(record, keys.level, level, sizeof level);
	copy(record, keys.event, event, sizeof event);
	copy(record, keys.text, text, sizeof text);
	int n = snprintf(line, size, "%-12s %s %s%-5s%s %-10s %s\n", time, name,
			 colour ? level_colour(sl_level_find(level)) : "", level, colour ? "\033[0m" : "",
			 event, text);
	assert(n > 0 && size >= SL_LOG_LINE_BYTES);
	return (size_t)n;
}
