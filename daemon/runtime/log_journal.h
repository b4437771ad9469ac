/* log_journal.h - log records as entries of systemd's journal, with their fields: STARLING_EVENT,
 * STARLING_ROUND and so on, and the whole record as STARLING_JSON. */
#pragma once

#include <stdbool.h>

#include "common/config/level.h"

struct json_t;

/* Return true if systemd has connected standard error to its journal. */
bool sl_log_journal_found(void);
/* Return true if a journal takes entries: sd_journal_sendv reports no error without one. */
bool sl_log_journal_runs(void);
/* Write `record`, whose JSON line is `json`, as an entry. Return 0 or a negative error number. */
int sl_log_journal_send(enum sl_level level, const struct json_t *record, const char *json);
