/* disk_error.h - what is said when a disk is full, fails, or does not let this user write: the file, why, and
 * what to do.
 *
 * Nothing that a disk refused is tried again: after a failed fsync nobody knows what of the file is there.
 */
#pragma once

#include "common/base/err.h"

/* SL_ERR_IO; `why` is an errno. */
int sl_disk_error(struct sl_error *error, const char *path, int why);
