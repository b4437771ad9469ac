/* private_file.h - a small file in the folder of a group: complete or not there, and of the folder's owner.
 *
 * A command of root writes into the folder of a daemon that runs as another user: what it makes there belongs
 * to the owner of the folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"

#define SL_PRIVATE_FILE_PATH_BYTES 1200u

/* Write FOLDER/NAME, and make it durable: in place of an earlier file with its mode and owner, else with mode
 * 0600. NAME may have one folder in it, which is made with mode 0700 if it is not there. SL_ERR_IO. */
int sl_private_file_write(const char *folder, const char *name, const void *bytes, size_t size,
			  struct sl_error *error);
/* The same for the file at `path`, in a folder that is there. */
int sl_private_file_replace(const char *path, const void *bytes, size_t size, struct sl_error *error);
/* Write all bytes and make them durable. Return 0, or -1 with errno. */
int sl_private_file_put(int fd, const char *bytes, size_t size);
/* Let one program at a time change the group of the folder: return a descriptor, which is closed to unlock
 * it, or a negative code. SL_ERR_BUSY: another program has the lock, and this one does not `wait`. */
int sl_private_file_lock(const char *folder, bool wait, struct sl_error *error);
/* Remove FOLDER/NAME, which need not be there, and make that durable. SL_ERR_IO. */
int sl_private_file_remove(const char *folder, const char *name, struct sl_error *error);
