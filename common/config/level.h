/* level.h - how severe a log record is. */
#pragma once

#define SL_LEVELS(X)                                                                                         \
	X(DEBUG, "debug")                                                                                    \
	X(INFO, "info")                                                                                      \
	X(WARN, "warn")                                                                                      \
	X(ERROR, "error")

#define X(constant, name) SL_##constant,
enum sl_level { SL_LEVELS(X) };
#undef X

/* Return the name, "info". */
const char *sl_level_name(enum sl_level level);
/* Return the level of a name; -1 if there is none. */
int sl_level_find(const char *name);
