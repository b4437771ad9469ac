/* folder.h - the files beside the database: lock, count of starts, durable renames. */
#pragma once

#include "common/config/settings.h"

#define SL_STORE_FILE "learner.db"
#define SL_STORE_PATH_BYTES (SL_PATH_BYTES + 32)

struct sl_store;

/* Write the path of file `name` of the store's folder into `path`. */
void sl_store_path(const struct sl_store *store, const char *name, char path[static SL_STORE_PATH_BYTES]);
/* Report errno for `path`; return SL_ERR_IO. */
int sl_store_fail_file(struct sl_store *store, const char *path);

/* Make the folder and take its lock into store->lock; SL_ERR_BUSY: another process holds it. */
int sl_store_lock(struct sl_store *store);
/* Read state/incarnation: the count of starts kept there (0: none), or set *moved if the file says that the
 * count is in the store. */
int sl_store_read_count(struct sl_store *store, uint32_t *count, bool *moved);
/* Write durably into state/incarnation that the count is in the store. */
int sl_store_move_count(struct sl_store *store);
/* Rename the complete, closed file `from` of the folder to `name`, durably. */
int sl_store_name_file(struct sl_store *store, const char *from, const char *name);
