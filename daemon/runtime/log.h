/* log.h - the log of one learner: JSON lines (text on a terminal), one record a line.
 *
 * Every record has time (RFC 3339, UTC, ms), mono_ms (CLOCK_MONOTONIC, comparable between processes of one
 * machine), level, learner, event, and fields; the text form is made from the same record. Values of models,
 * shares, coins and keys are never passed here. Records also go to watchers (the control socket) as the same
 * JSON line.
 */
#pragma once

#include "common/base/err.h"
#include "common/config/settings.h"

enum sl_level { SL_DEBUG, SL_INFO, SL_WARN, SL_ERROR };

#define SL_LOG_LINE_BYTES 4096u /* of the text form, with its newline and terminating zero */

/* One thread writes to a log, the one that runs the watcher. */
struct sl_log;

/* Called with every record that passes the level, as one line of JSON without the newline. */
typedef void (*sl_log_watch)(void *context, const char *json_line, size_t bytes);

int sl_log_open(struct sl_log **log, const struct sl_settings *settings, const char *name,
		struct sl_error *error);
void sl_log_watch_set(struct sl_log *log, sl_log_watch watch, void *context);
void sl_log_close(struct sl_log *log);

/* Writes one record. `event` is a short constant word ("committed"); `text` is a sentence for humans. Then
 * fields, as json_pack's object format and its arguments, e.g. sl_log(log, SL_INFO, "committed", "round 3
 * committed",
 * "{s:i, s:f}", "round", 3, "mse", 0.021). format NULL: no fields. A field named as one of a
 * record's own keys is dropped. A full disk is reported once on standard error. */
void sl_log(struct sl_log *log, enum sl_level level, const char *event, const char *text, const char *format,
	    ...);

struct json_t;
/* The same with the fields as an object, whose reference is taken over; NULL: none. */
void sl_log_fields(struct sl_log *log, enum sl_level level, const char *event, const char *text,
		   struct json_t *fields);

/* "info" and back; -1 for what is no level. */
const char *sl_log_level_name(enum sl_level level);
int sl_log_level_find(const char *name);

/* Colour is for terminals whose user has not set NO_COLOR. */
bool sl_log_colour(int fd);

/* The text form of a record, with its newline: "12:03:04.123 learner-03 info  committed  round 3 committed".
 * Control characters become '?', an overlong text is cut. `size` is at least SL_LOG_LINE_BYTES; returns bytes
 * written. */
size_t sl_log_render(const struct json_t *record, bool colour, char *line, size_t size);
