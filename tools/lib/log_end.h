/* log_end.h - the last records of a log. */
#pragma once

#include <stddef.h>

#include "common/report/record.h"

/* Take one record, which is borrowed for the call. */
typedef void sl_log_end_take_fn(void *context, const struct sl_record *record);

/* Hand over the records of a log, of any version and time, from offset `from` on, of its last `bytes` at
 * most. A file that is missing is an empty one. */
void sl_log_end_read(const char *path, size_t from, size_t bytes, sl_log_end_take_fn *take, void *context);
