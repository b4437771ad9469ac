/* disk_error.h - the error for a disk that is full, fails or refuses to be written to: file, cause, remedy.
 *
 * A write that failed is never retried: after a failed fsync the contents of the file are unknown.
 */
#pragma once

#include "common/base/err.h"

/* Return the remedy for `why`, an errno. */
const char *sl_disk_error_advice(int why);
/* Return SL_ERR_IO; `why` is an errno. */
int sl_disk_error(struct sl_error *error, const char *path, int why);
