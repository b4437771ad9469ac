/* log.h - the log of one learner: one record per line, JSON in a file, text on a terminal; or an entry of the
 * journal (log_journal.h).
 *
 * Every record has time (RFC 3339, UTC, ms), mono_ms (CLOCK_MONOTONIC, comparable between processes of one
 * machine), level, learner, event and fields; the text form is made from the same record. Values of models,
 * shares, random streams and keys are never passed here. Watchers (control socket, HTTP) receive the same
 * JSON line.
 */
#pragma once

#include "common/base/err.h"
#include "common/config/level.h"
#include "common/config/settings.h"

#define SL_LOG_WATCHERS_MAX 2u
#define SL_LOG_LINE_BYTES 4096u /* size of the text form, with newline and terminating zero */
#define SL_LOG_TIME_BYTES 40u

/* A log; written by one thread, which also runs the watchers. */
struct sl_log;

/* Called with every record that passes the level, as one line of JSON without the newline. */
typedef void (*sl_log_watch)(void *context, const char *json_line, size_t bytes);

int sl_log_open(struct sl_log **log, const struct sl_settings *settings, struct sl_error *error);
/* Add a watcher, at most SL_LOG_WATCHERS_MAX; remove that of `context`, if it is there. */
void sl_log_watch_add(struct sl_log *log, sl_log_watch watch, void *context);
void sl_log_watch_remove(struct sl_log *log, const void *context);
/* Set the name of the learner, once it is known. */
void sl_log_name(struct sl_log *log, const char *name);
/* Open the file of `settings` anew, such as after it was renamed, and take format and level. On an error the
 * log stays as it is. */
int sl_log_reopen(struct sl_log *log, const struct sl_settings *settings, struct sl_error *error);
/* Return true if the log is standard error and not the journal. */
bool sl_log_is_standard(const struct sl_log *log);
void sl_log_close(struct sl_log *log);

/* Return true if records of this level are written. */
bool sl_log_takes(const struct sl_log *log, enum sl_level level);

/* When a bus error ends this process, write its cause to `log` first: a mapped file was cut short, or its
 * disk has failed. */
void sl_log_bus_error(struct sl_log *log);

struct json_t;
/* Write one record. `event` is a short constant word ("committed"), `text` a sentence, `fields` an object
 * whose reference is taken over, or NULL: none. A field named like one of a record's own keys is dropped. A
 * failed write, such as on a full disk, is reported once on standard error. */
void sl_log(struct sl_log *log, enum sl_level level, const char *event, const char *text,
	    struct json_t *fields);

/* Write the present time as records have it, "2026-11-23T10:45:59.620Z". */
void sl_log_now(char text[static SL_LOG_TIME_BYTES]);

/* Write the text form of `record` with its newline: "12:03:04.123 learner-03 info committed round 3
 * committed". Control characters become '?', an overlong text is cut. `size` is at least SL_LOG_LINE_BYTES.
 * Return the bytes written. */
size_t sl_log_render(const struct json_t *record, bool colour, char *line, size_t size);
