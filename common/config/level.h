/* level.h - how severe a log record is. */
#pragma once

enum sl_level { SL_DEBUG, SL_INFO, SL_WARN, SL_ERROR };

/* Return the name, "info". */
const char *sl_level_name(enum sl_level level);
/* Return the level of a name; -1 if there is none. */
int sl_level_find(const char *name);
