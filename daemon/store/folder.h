/* folder.h - the files beside the database: the lock, the mark of a folder that has records, durable renames.
 *
 * A function that fails writes file, cause and remedy into `error` and returns the code.
 */
#pragma once

#include "common/base/err.h"
#include "common/config/settings.h"

#define SL_FOLDER_PATH_BYTES (SL_PATH_BYTES + 32)

/* Write the path of file `name` of `folder` into `path`. */
void sl_folder_path(const char *folder, const char *name, char path[static SL_FOLDER_PATH_BYTES]);

/* Return the name of the file system of the folder, or if it is not there of the one above, if that may lose
 * records; NULL: no such one. *remote: another machine may, and may have the folder, too; else it forgets all
 * at a time. */
const char *sl_folder_kind(const char *folder, bool *remote);
/* Make the folder, if there is none, and its entry in its parent durable. */
int sl_folder_make(const char *folder, struct sl_error *error);
/* Make the folder and take its lock, a descriptor, into *lock; SL_ERR_BUSY: another process holds it. */
int sl_folder_lock(const char *folder, int *lock, struct sl_error *error);
/* Return true if the folder has the mark. */
bool sl_folder_marked(const char *folder);
/* Mark the folder durably: from now on a missing database is a lost one. */
int sl_folder_mark(const char *folder, struct sl_error *error);
/* Open the mark for sl_folder_own; -1: it names its own inode already, or nothing is known, as on FAT, which
 * has no lasting inodes. *copied: it names another one, as it is a copy of that of another folder. */
int sl_folder_open_mark(const char *folder, bool *copied);
/* Let the mark name its own inode, once it was said that the folder is a copy, and close it. */
void sl_folder_own(int mark);
/* Rename the complete, closed file `from` of the folder to `name`, durably. */
int sl_folder_rename(const char *folder, const char *from, const char *name, struct sl_error *error);
/* Synchronise a file of the folder and its name, if there is one. */
void sl_folder_sync(const char *folder, const char *name);
